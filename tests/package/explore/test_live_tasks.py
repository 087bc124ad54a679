"""What the lesson on language models says of the live model, where it asks about it, is true of the recorded models."""

import math
import re

import pytest
import torch

from attention_course import tasks
from attention_course.course import recorded
from attention_course.course.checkpoints import load_character_model
from attention_course.interpreting.ablations import switched_off

KEY = "If the key is not found, a KeyErr"
STATEMENT = "The for statement is used to "
EXAMPLES = [KEY, STATEMENT, "class Point:\n    def __init__(self, ", "It was a dark and stormy"]
A = STATEMENT.index("ta") + 1  # its place; the next letter is the second t of statement
LOOKING = [(1, 1), (2, 1), (2, 2)]  # heads that look from there at the letter before


@pytest.fixture(scope="module")
def causal():
    model, vocabulary = load_character_model("causal")
    return model.double(), vocabulary


@pytest.fixture(scope="module")
def cheat():
    model, vocabulary = load_character_model("unmasked")
    return model.double(), vocabulary


@torch.no_grad()
def read(causal, text):
    """The cost of each character in bits, that of the first 0; the shares of the next after each; and the weights."""
    model, vocabulary = causal
    symbols = torch.tensor([[vocabulary.index(character) for character in text]])
    logits, weights = model(symbols, need_weights=True)
    shares = logits[0].softmax(-1)
    costs = -shares[:-1].gather(1, symbols[0, 1:, None])[:, 0].log2()
    return [0, *costs.tolist()], shares, torch.cat(weights)


def test_the_letter_that_surprises_most(causal):
    _, vocabulary = causal
    costs, shares, _ = read(causal, KEY)
    capital = KEY.index("E")
    assert max(costs) == costs[capital] == pytest.approx(15, abs=0.3)
    assert sorted(costs)[-2] < costs[capital] - 0.2
    after_key, after_capital = shares[capital - 1], shares[capital]
    assert vocabulary[after_key.argmax()] == "w" and after_key.max() == pytest.approx(0.77, abs=0.01)
    assert after_key[vocabulary.index("E")] < 1e-4
    assert vocabulary[after_capital.argmax()] == "r" and after_capital.max() == pytest.approx(0.67, abs=0.01)
    assert sum(costs[capital + 1 :]) < 1
    assert math.log2(len(vocabulary)) < 7 and len(vocabulary) == 103
    text = tasks.python_help()
    read_before = text.decode(text.train)
    assert read_before.count("E") > 300 and len(re.findall("[Kk]eyword", read_before)) > 80
    assert read_before.count("KeyE") == 1


def test_the_head_that_one_letter_misses_most(causal):
    """With its mean in its place as with zeros; other heads look at the same letter, and are hardly missed."""
    model, _ = causal
    record = recorded.load("switched_off")["models"]["causal"]
    costs, _, weights = read(causal, STATEMENT)
    assert STATEMENT[A - 1 : A + 2] == "tat" and costs[A + 1] == pytest.approx(0.9, abs=0.05)
    looking = [(block, head) for block in range(3) for head in range(4) if weights[block, head, A, A - 1] > 0.985]
    assert looking == LOOKING
    for means in (None, torch.tensor(record["means"], dtype=torch.float64)):
        without = []
        for head in LOOKING:
            with switched_off(model, heads=[head], means=means):
                without.append(read(causal, STATEMENT)[0][A + 1])
        assert without[0] == pytest.approx(5.3, abs=0.1)
        assert costs[A + 1] + 0.2 < without[1] < 1.65
        assert without[2] == pytest.approx(costs[A + 1], abs=0.15)
    for name in ("zeros", "with_means"):
        assert record[name][2][2] > record[name][1][1] + 0.03


@torch.no_grad()
def read_all(model, symbols):
    """The average surprise, as the page has it: of every symbol but the first, all of them in sight."""
    logits, _ = model(symbols, causal=False)
    return torch.nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), symbols[:, 1:]).item() / math.log(2)


@torch.no_grad()
def let_it_write(cheat, text, temperature, generator=None, n_written=50):
    """As the page does: nothing is hidden, and the last place says what comes next."""
    model, vocabulary = cheat
    symbols = torch.tensor([[vocabulary.index(character) for character in text]])
    for _ in range(n_written):
        logits = model(symbols, causal=False)[0][0, -1]
        likely = (logits / temperature).softmax(-1) if temperature else logits
        newest = torch.multinomial(likely, 1, generator=generator) if temperature else likely.argmax(keepdim=True)
        symbols = torch.cat([symbols, newest[None]], dim=1)
    return symbols, "".join(vocabulary[symbol] for symbol in symbols[0, len(text) :])


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_cheater_reads_and_cannot_write(cheat, text):
    """Words of four letters and more that the help pages have: hardly any, and at temperature 0 nearly all is space."""
    model, _ = cheat
    known = set(re.findall("[a-z]{4,}", tasks.python_help().decode(tasks.python_help().train)))
    found = []
    for seed in range(3):
        symbols, written = let_it_write(cheat, text, 1, torch.Generator().manual_seed(seed))
        found += [word for word in re.findall("[a-z]{4,}", written) if word in known]
        assert read_all(model, symbols) < 0.3
    assert len(found) <= 3
    assert let_it_write(cheat, text, 0)[1].count(" ") > 30


def test_the_cheater_reads_nonsense_as_well(cheat):
    model, vocabulary = cheat
    letters = torch.tensor([vocabulary.index(letter) for letter in "abcdefghijklmnopqrstuvwxyz "])
    nonsense = letters[torch.randint(27, (20, 60), generator=torch.Generator().manual_seed(0))]
    assert read_all(model, nonsense) < 0.5
