"""The measurements of `make real`, on random models of the same shapes: each part against another way to compute it."""

import importlib.util
import json
import math
import re
import sys
from copy import deepcopy
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from own_models import random_bert, random_llama

from attention_course.course import recorded

FOLDER = Path(__file__).parents[2] / "experiments" / "real"
PARTS = ("looking", "repeating", "pruning", "mapping", "senses", "ordering", "distances", "sharing", "bert_heads")
VOCAB_SIZE = 40_200  # what is drawn at random lies below


@pytest.fixture(scope="module", autouse=True)
def scripts():
    """They import each other as files of one folder."""
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


class Words:
    """A tokenizer that has a symbol for every word it has met, and writes what is before a word into its symbol."""

    cls_token_id, sep_token_id = 1, 2

    def __init__(self, size: int):
        self.size, self.known = size, {}

    def __call__(self, text, **options):
        words = re.findall(r" ?\w+|[^\w\s]|\s", text)
        found = [self.known.setdefault(word.strip().lower() or word, 3 + len(self.known)) for word in words]
        return type("Encoding", (), {"input_ids": [3 + symbol % (self.size - 3) for symbol in found]})


@pytest.fixture(scope="module")
def models(scripts):
    pytest.importorskip("transformers")
    from _models import Models

    from attention_course.pretrained import encoder_from_bert, language_model_from_llama

    model = language_model_from_llama(random_llama(vocab_size=VOCAB_SIZE, hidden_size=24, intermediate_size=32))
    bert = random_bert(vocab_size=2_000, max_position_embeddings=80)
    made = Models(Words(VOCAB_SIZE), model, Words(2_000), bert.embeddings, encoder_from_bert(bert))
    for module in (made.model, made.embeddings, made.encoder):
        module.requires_grad_(False)
    return made


@pytest.fixture
def symbols():
    return torch.randint(1_000, 40_000, (3, 12), generator=torch.Generator().manual_seed(0))


@pytest.fixture
def few(monkeypatch):
    """Fewer texts, for speed."""
    import _texts
    import mapping
    import repeating

    monkeypatch.setattr(_texts, "N_CHOSEN_ON", 2)
    monkeypatch.setattr(_texts, "N_MEASURED", 3)
    monkeypatch.setattr(repeating, "N_CHOSEN_ON", 2)
    monkeypatch.setattr(repeating, "N_MEASURED", 3)
    monkeypatch.setattr(mapping, "N_DRAWN", 12)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_gives_every_number_that_its_findings_name(models, few, part, monkeypatch):
    import pruning
    from findings import FAILS, FINDINGS, HOLDS, WEAKER

    monkeypatch.setattr(pruning, "TAKEN", {"tenth": 2, "fifth": 4, "two_fifths": 7})
    found = importlib.import_module(part).run(models)
    for name, numbers in found.items():
        finding = FINDINGS[name]
        named = re.findall(r"\b[A-Z]{2,}(?:_[A-Z]+)*\b", re.sub(r"\[\w+\]", "", finding.measure + finding.control))
        named = {name.lower() for name in named} - {"minilm"}
        assert named <= set(numbers)
        assert finding.judge(numbers) in (HOLDS, WEAKER, FAILS)
        json.dumps(numbers)


def test_the_parts_measure_each_of_the_ten_findings():
    from findings import FINDINGS

    spec = importlib.util.spec_from_file_location("real_main", FOLDER / "__main__.py")
    main = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(main)
    assert tuple(main.PARTS) == PARTS
    assert sorted(name for names in main.PARTS.values() for name in names) == sorted(FINDINGS)
    assert main.BESIDE == ("two_names", "name_controls", "name_knockouts", "name_reads", "tools")


@torch.no_grad()
def test_the_bits_of_tokens_are_those_of_their_probabilities(models, symbols):
    from _models import token_bits

    logits, _ = models.model(symbols)
    costs = [
        [-math.log2(row[at].softmax(-1)[of[at + 1]]) for at in range(11)]
        for row, of in zip(logits, symbols, strict=True)
    ]
    torch.testing.assert_close(token_bits(models.model, symbols), torch.tensor(costs), atol=1e-4, rtol=1e-5)


@torch.no_grad()
def test_importance_is_the_slope_of_the_cost(models, symbols):
    """Beside the difference that a head makes when what it says is made larger and smaller by a thousandth."""
    from _models import token_bits
    from pruning import importance

    model = models.model
    found = importance(model, symbols)
    assert found.shape == (3, 6)

    def cost_at(block, head, factor):
        def scale(_, inputs):
            parts = inputs[0].unflatten(-1, (6, -1)).clone()
            parts[:, :, head] *= factor
            return parts.flatten(-2)

        hook = model.blocks[block].attention.out_proj.register_forward_pre_hook(scale)
        costs = token_bits(model, symbols).mean(1) * math.log(2)
        hook.remove()
        return costs

    model.double()
    for block, head in product(range(3), (0, 5)):
        slope = (cost_at(block, head, 1.001) - cost_at(block, head, 0.999)) / 0.002
        torch.testing.assert_close(found[block, head].double(), slope.abs().mean(), rtol=1e-3, atol=1e-5)
    model.float()


@torch.no_grad()
def test_a_gap_of_none_changes_nothing_and_a_gap_is_a_distance(models):
    from distances import HALF, RotaryWithGap

    from attention_course.positions import RotaryAttention

    query, key, value = torch.randn(3, 1, 2, HALF + 4, 8)
    expected, _ = RotaryAttention(base=100.0)(query, key, value)
    torch.testing.assert_close(RotaryWithGap(100.0, 0, False)(query, key, value)[0], expected)
    # With so much between both halves that nothing but zeros stands there, hidden from all:
    gap = 5
    between = torch.zeros(1, 2, gap, 8)
    query, key, value = (torch.cat([of[:, :, :HALF], between, of[:, :, HALF:]], 2) for of in (query, key, value))
    seen = torch.ones(HALF + 4 + gap, dtype=torch.bool)
    seen[HALF : HALF + gap] = False
    expected, _ = RotaryAttention(base=100.0)(query, key, value, seen)
    query, key, value = (of[:, :, seen] for of in (query, key, value))
    torch.testing.assert_close(RotaryWithGap(100.0, gap, False)(query, key, value)[0], expected[:, :, seen])
    # With a sink of its own, the first token of the second half returns its own value, and no other changes.
    causal = torch.ones(HALF + 4, HALF + 4, dtype=torch.bool).tril()
    plain, own = (RotaryWithGap(100.0, gap, sink)(query, key, value, causal)[0] for sink in (False, True))
    torch.testing.assert_close(own[:, :, HALF], value[:, :, HALF])
    assert torch.equal((own != plain).any(-1).any(1).nonzero()[:, 1], torch.tensor([HALF]))


@torch.no_grad()
def test_one_pair_for_all_is_a_model_with_one_pair(models, symbols):
    from sharing import with_pairs

    from attention_course.pretrained import language_model_from_llama

    llama = random_llama()
    grouped = language_model_from_llama(llama)
    grouped.requires_grad_(False)
    pooled = language_model_from_llama(random_llama(num_key_value_heads=1))
    shared = grouped.state_dict()
    for name, old in shared.items():
        if "key_proj" in name or "value_proj" in name:
            shared[name] = (old[:8] + old[8:]) / 2
    pooled.load_state_dict(shared)
    symbols = symbols % 23
    before = grouped(symbols)[0]
    with with_pairs(grouped, lambda pairs: pairs.mean(0)):
        torch.testing.assert_close(grouped(symbols)[0], pooled(symbols)[0], atol=1e-4, rtol=1e-5)
    assert torch.equal(grouped(symbols)[0], before)


@torch.no_grad()
def test_overlaps_are_sums_of_the_smaller_weights(models, symbols):
    from sharing import overlaps

    _, maps = models.model(symbols, need_weights=True)
    sums = {True: [], False: []}
    for weights, one, other in product(maps, range(6), range(6)):
        if one != other:
            for text, row in product(range(3), range(2, 12)):
                rest = weights[text, [one, other], row, 1 : row + 1]
                rest = rest / rest.sum(-1, keepdim=True)
                sums[one // 3 == other // 3].append(rest.min(0).values.sum().item())
    within, between = overlaps(models.model, symbols)
    assert within == pytest.approx(sum(sums[True]) / len(sums[True]), abs=1e-4)
    assert between == pytest.approx(sum(sums[False]) / len(sums[False]), abs=1e-4)


@torch.no_grad()
def test_weights_of_an_encoder_are_counted_by_offset(models):
    from bert_heads import mean_weights

    symbols = torch.randint(3, 2_000, (3, 7), generator=torch.Generator().manual_seed(0))
    found = mean_weights(models, models.encoder, symbols)
    _, maps = models.encoder(models.embeddings(input_ids=symbols), need_weights=True)
    for block, head in product(range(3), range(2)):
        rows = [(at, row) for text in maps[block][:, head].tolist() for at, row in enumerate(text)]
        expected = {
            "last": [row[-1] for _, row in rows],
            "before": [row[at - 1] for at, row in rows if at > 0],
            "behind": [row[at + 1] for at, row in rows if at < 6],
            "entropy": [-sum(weight * math.log(weight) for weight in row) for _, row in rows],
        }
        for name, numbers in expected.items():
            assert found[name][block, head].item() == pytest.approx(sum(numbers) / len(numbers), abs=1e-5)


def test_position_vectors_are_put_back(models, few):
    from ordering import run

    before = models.embeddings.position_embeddings.weight.clone()
    numbers = run(models)["order"]
    assert torch.equal(models.embeddings.position_embeddings.weight, before)
    assert numbers["same"] > 1 - 1e-5 > numbers["with"]  # what the page on order proves


def test_a_sense_is_given_by_the_means_of_other_words():
    from senses import apart, right

    which, money = torch.tensor([0, 0, 1, 1, 2, 2]), torch.tensor([0, 1] * 3)
    told_apart = torch.eye(2)[money] + 0.1
    assert right(told_apart, which, money) == 1
    assert right(torch.ones(6, 2), which, money) == 0.5
    by_word_alone = torch.eye(6)  # nothing is alike beyond the word itself
    assert right(by_word_alone, which, money) == 0.5
    assert apart(told_apart, money) == pytest.approx(1 - F.cosine_similarity(*told_apart[:2], dim=0).item())


def test_sentences_of_two_names_have_their_words_in_their_gaps(models):
    from mapping import KINDS, sentences

    symbols, gaps, answers = sentences(models.encode)
    assert symbols.shape == (200, 14) and len(gaps) == 6
    kinds = [{models.encode(" " + word)[0] for word in kind} for kind in KINDS]
    for number, (row, (right, other)) in enumerate(zip(symbols[:, gaps].tolist(), answers.tolist(), strict=True)):
        assert all(word in kind for word, kind in zip(row, kinds, strict=True))
        assert {right, other} == set(row[:2]) and row[3] == other == row[number % 2]


@torch.no_grad()
def test_what_a_word_does_is_what_its_exchange_does(models):
    from mapping import answer, exchange_effects, sentences

    symbols, gaps, answers = (part[:4] if len(part) > 6 else part for part in sentences(models.encode))
    logits = models.model(symbols)[0][:, -1]
    expected = torch.stack(
        [row[right] - row[other] for row, (right, other) in zip(logits, answers.tolist(), strict=True)]
    )
    torch.testing.assert_close(answer(models.model, symbols, answers), expected)
    without = torch.cat([symbols[:, :5], symbols[:, 6:]], 1)
    assert not torch.allclose(answer(models.model, symbols, answers, 5), expected)
    assert without.shape == (4, 13)
    effects = exchange_effects(models.model, models.encode, symbols, gaps, answers, 1)
    assert effects.shape == (4, 6) and (effects > 0).all()


def test_two_names_are_corrupted_at_the_second_mention(models):
    from two_names import FIRST, OTHER, SECOND, sentences

    texts = sentences(models.encode, 8, seed=0)
    assert texts["clean"].shape == (8, 14)
    for number, (right, other) in enumerate(texts["names"].tolist()):
        clean, corrupted, third = (texts[kind][number].clone() for kind in ("clean", "corrupted", "third"))
        mentioned = [clean[at].item() for at in (FIRST, OTHER, SECOND)]
        assert mentioned == ([right, other, other] if number % 2 == 0 else [other, right, other])
        assert corrupted[SECOND] == right and third[SECOND] not in mentioned
        corrupted[SECOND] = third[SECOND] = other
        assert torch.equal(corrupted, clean) and torch.equal(third, clean)


@torch.no_grad()
def test_what_comes_back_behind_a_prefix_is_what_comes_back_in_the_whole_model(models):
    """From any block on, with the words before in caches, beside `Patching` of whole sentences."""
    from two_names import SECOND, Tails, sentences

    from attention_course.interpreting.circuits import attention_layers
    from attention_course.interpreting.patching import Patching

    texts = sentences(models.encode, 4, seed=0)

    def answer(symbols):
        right, other = models.model(symbols)[0][:, -1].gather(-1, texts["names"]).unbind(-1)
        return right - other

    for kind in ("corrupted", "third"):
        whole = Patching(answer, attention_layers(models.model), texts["clean"], texts[kind])
        tails = Tails(models.model, texts, kind)
        for head in ((0, 1), (2, 5)):
            for place, at in ((0, SECOND), (-1, -1)):
                expected = whole.share(whole.head(head, at)).item()
                assert tails.back(head, place) == pytest.approx(expected, abs=1e-3)
            assert tails.path(head) == pytest.approx(whole.share(whole.path(head)).item(), abs=1e-3)
        said = whole.clean_heads[1].mean(0).expand_as(whole.clean_heads[1])
        expected = whole.share(whole.head((1, 0), -1, said)).item()
        assert tails.back((1, 0), -1, mean=True) == pytest.approx(expected, abs=1e-3)
        for reads in ("query", "key", "value"):
            expected = whole.share(whole.path((0, 3), (2, 1), reads)).item()
            assert tails.path((0, 3), (2, 1), reads) == pytest.approx(expected, abs=1e-3)


def test_two_names_are_measured_whole(models, monkeypatch):
    import two_names

    monkeypatch.setattr(two_names, "N_CHOSEN_ON", 2)
    monkeypatch.setattr(two_names, "N_MEASURED", 4)
    numbers = two_names.run(models)["two_names"]
    json.dumps(numbers)
    assert list(numbers["expected"]) == list(two_names.EXPECTED) and numbers["n_sentences"] == 4
    back = torch.tensor(numbers["every_head"]["second"])
    assert back.shape == (3, 6)
    best = [row["head"] for row in numbers["heads"]["second"]]
    shares = [back[head].item() for head in best]
    assert shares == sorted(back.flatten().tolist(), reverse=True)[:5]
    for row in numbers["heads"]["last"]:
        assert 0 < sum(row["looks"]) <= 1.001
    for of in (*numbers["paths"].values(), *numbers.get("after", {}).values()):
        senders = [path["head"] for path in of["senders"]]
        others = [path["head"] for path in of["drawn"]]
        assert bool(senders) == (of["head"][0] > 0)  # a random model's looker may be in the first block
        assert all(block < of["head"][0] for block, _ in senders + others)
        assert not set(senders) & set(others)
    mover = numbers["paths"]["mover"]["head"]
    assert numbers["paths"]["teller"]["head"][0] < mover[0] and mover[0] == 2


def test_the_error_of_a_share_is_that_of_a_ratio_of_means():
    from types import SimpleNamespace

    from name_controls import share

    corrupted, gap, noise = torch.zeros(4), torch.tensor([1.0, 2.0, 3.0, 6.0]), torch.tensor([1.0, -1.0, 1.0, -1.0])
    runs = SimpleNamespace(clean=corrupted + gap, corrupted=corrupted)
    assert share(runs, gap / 4) == pytest.approx([0.25, 0])  # the same part of each sentence's gap
    assert share(runs, gap / 4 + noise) == pytest.approx([0.25, (4 / 3) ** 0.5 / 2 / 3])


@torch.no_grad()
def test_controls_of_two_names_are_measured_whole(models, monkeypatch):
    """Beside `Patching` of whole sentences; in float64, since a random model's gap may be near zero."""
    import name_controls
    from _texts import pieces
    from two_names import SECOND, sentences

    from attention_course.interpreting.circuits import attention_layers
    from attention_course.interpreting.patching import Patching

    models = replace(models, model=deepcopy(models.model).double())
    for name, number in {"N_CHOSEN_ON": 2, "N_MEASURED": 4, "N_PATHS": 3}.items():
        monkeypatch.setattr(name_controls, name, number)
    numbers = name_controls.run(models)["name_controls"]
    json.dumps(numbers)
    assert list(numbers["expected"]) == list(name_controls.EXPECTED) and numbers["n_sentences"] == 4
    assert len(numbers["heads"]) > 2 and len(numbers["negative"]) == 5
    chosen_on, texts = sentences(models.encode, 2, seed=7), sentences(models.encode, 4, seed=8)

    def whole(texts, clean, corrupted):
        def answer(symbols):
            right, other = models.model(symbols)[0][:, -1].gather(-1, texts["names"]).unbind(-1)
            return right - other

        return Patching(answer, attention_layers(models.model), clean, corrupted)

    receiver = numbers["feeds"]["head"]
    for kind, corrupted in (("exchange", "corrupted"), ("third", "third")):
        runs = whole(texts, texts["clean"], texts[corrupted])
        foreign = whole(texts, pieces(models.encode, 14)[1][:4], texts[corrupted])
        for row in numbers["heads"][::2]:
            head, at = row["head"], SECOND if row["at"] == "second" else -1
            said = runs.clean_heads[head[0]]
            expected = {
                "back": runs.head(head, at),
                "mean": runs.head(head, at, said.mean(0).expand_as(said)),
                "foreign": foreign.head(head),
            }
            for name, answer in expected.items():
                assert row[kind][name] == pytest.approx(name_controls.share(runs, answer), abs=1e-6)
        for row in numbers["negative"]:
            assert row[kind] == pytest.approx(name_controls.share(runs, runs.head(row["head"], -1)), abs=1e-6)
        of = numbers["feeds"][kind]
        for reads, found in of["words"].items():
            assert found == pytest.approx(name_controls.share(runs, runs.path(None, receiver, reads)), abs=1e-6)
        for path in of["paths"]:
            answer = runs.path(path["head"], receiver, path["reads"])
            assert path["back"] == pytest.approx(name_controls.share(runs, answer), abs=1e-6)
    few = whole(chosen_on, chosen_on["clean"], chosen_on["third"])
    every = {
        (head, reads): few.share(few.path(head, receiver, reads)).item()
        for head in product(range(receiver[0]), range(6))
        for reads in name_controls.READS
    }
    assert of["all"]["key"] == pytest.approx(sum(every[one] for one in every if one[1] == "key"), abs=1e-6)
    strongest = sorted(every, key=lambda one: -abs(every[one]))[:3]
    assert [(path["head"], path["reads"]) for path in of["paths"]] == strongest


def test_shuffled_weights_have_the_same_entries(models):
    from name_knockouts import shuffled

    other = shuffled(models.model)
    for mine, its in zip(models.model.parameters(), other.parameters(), strict=True):
        assert torch.equal(mine.flatten().sort().values, its.flatten().sort().values)
        assert torch.equal(mine, its) == (mine.dim() == 1)


@torch.no_grad()
def test_knocked_out_heads_say_their_mean_at_the_last_token(models):
    """Beside whole sentences, where every layer's head outputs are changed or held by hooks."""
    from contextlib import ExitStack

    from _tails import Tails
    from name_knockouts import Knocking, knocked, mean
    from two_names import sentences

    from attention_course.interpreting.patching import reading_instead

    model = deepcopy(models.model).double()
    texts = sentences(models.encode, 4, seed=0)

    def whole(change):
        said = []
        with ExitStack() as hooks:
            for number, block in enumerate(model.blocks):
                hooks.enter_context(reading_instead(block.attention.out_proj, lambda x, n=number: change(n, x.clone())))
                hooks.enter_context(reading_instead(block.attention.out_proj, lambda x: said.append(x) or x))
            right, other = model(texts["clean"])[0][:, -1].gather(-1, texts["names"]).unbind(-1)
        return right - other, said

    def put(joined, others, *heads):
        for head in heads:
            joined[:, -1, 4 * head : 4 * head + 4] = others[:, -1, 4 * head : 4 * head + 4]
        return joined

    gone = {0: (), 1: (2, 5), 2: (3,)}
    clean, said = whole(lambda _, joined: joined)
    means = [of.mean(0, keepdim=True) for of in said]
    without, reacted = whole(lambda number, joined: put(joined, means[number], *gone[number]))
    held, _ = whole(lambda number, _: put(said[number].clone(), means[number], *gone[number]))
    found = knocked(*[Knocking(Tails(model, texts), 1)] * 2, [(1, 2), (1, 5), (2, 3)], [[(2, 0)]], lambda *_: None)
    expected = {"loss": clean - without, "held": clean - held, "taken_over": without - held}
    for name, numbers in expected.items():
        assert found[name] == pytest.approx(mean(numbers), abs=1e-9)
    (drawn,) = found["drawn"]
    one, _ = whole(lambda number, joined: put(joined, means[2], 0) if number == 2 else joined)
    assert drawn == pytest.approx((clean - one).mean().item(), abs=1e-9)
    assert sorted(row["head"] for row in found["reactions"]) == [(2, head) for head in (0, 1, 2, 4, 5)]
    for row in found["reactions"]:
        *_, head = row["head"]

        def last(of, others, head=head):
            return whole(lambda number, _: put(of[number].clone(), others[number], *[head] * (number == 2)))[0]

        expected = {"reaction": without - last(reacted, said), "before": clean - last(said, means)}
        for name, numbers in (expected | {"after": without - last(reacted, means)}).items():
            assert row[name] == pytest.approx(mean(numbers), abs=1e-9)
    sizes = [abs(row["reaction"][0]) for row in found["reactions"]]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > 0


def test_knockouts_of_two_names_are_measured_whole(models, monkeypatch):
    import name_knockouts
    from two_names import every_head, sentences

    for name, number in {"N_CHOSEN_ON": 2, "N_MEASURED": 4, "N_DRAWS": 2}.items():
        monkeypatch.setattr(name_knockouts, name, number)
    models = replace(models, model=deepcopy(models.model).double())
    numbers = name_knockouts.run(models)["name_knockouts"]
    json.dumps(numbers)
    assert list(numbers["expected"]) == list(name_knockouts.EXPECTED) and numbers["n_sentences"] == 4
    untrained, (gap, _) = numbers["untrained"], numbers["untrained"]["trained_gap"]
    texts = sentences(models.encode, 4, seed=8)
    brought = every_head(models.model, texts)
    for row in untrained["heads"]:
        expected = brought[row["at"]][row["head"]].item() * gap
        assert row["trained"]["moved"][0] == pytest.approx(expected, rel=1e-3, abs=1e-9)
    assert all(len(group["drawn"]) == 2 for group in numbers["knocked"].values())
    assert set(numbers["knocked"]["lookers"]["heads"]) <= set(numbers["knocked"]["movers"]["heads"])


@torch.no_grad()
def test_a_head_that_reads_both_runs_is_measured_whole(models, monkeypatch):
    """Beside one run of whole sentences from the receiver's block on, written out."""
    import name_reads
    from _tails import Tails
    from name_controls import share
    from two_names import SECOND, sentences

    from attention_course.interpreting.circuits import attention_layers
    from attention_course.interpreting.patching import Patching

    for name, number in {"N_CHOSEN_ON": 2, "N_MEASURED": 4}.items():
        monkeypatch.setattr(name_reads, name, number)
    models = replace(models, model=deepcopy(models.model).double())
    model = models.model
    numbers = name_reads.run(models)["name_reads"]
    json.dumps(numbers)
    assert list(numbers["expected"]) == list(name_reads.EXPECTED) and len(numbers["map"]) == 14
    texts = sentences(models.encode, 4, seed=0)

    def answer(symbols):
        right, other = model(symbols)[0][:, -1].gather(-1, texts["names"]).unbind(-1)
        return right - other

    runs = Patching(answer, attention_layers(model), texts["clean"], texts["corrupted"])
    # Not in the last block, where no other place reaches the answer.
    tails, receiver, layer = Tails(model, texts), (1, 1), model.blocks[1].attention
    found = name_reads.into(tails, (0, 3), receiver)
    seen = {kind: [] for kind in ("clean", "corrupted")}
    for kind in seen:
        hook = layer.register_forward_pre_hook(lambda _, inputs, kind=kind: seen[kind].append(inputs[0]))
        model(texts[kind])
        hook.remove()

    def back(at=-1, **read):
        said = []
        hooks = [
            getattr(layer, f"{name}_proj").register_forward_pre_hook(lambda _, inputs, x=x: (x,))
            for name, x in read.items()
        ] + [layer.out_proj.register_forward_pre_hook(lambda _, inputs: said.append(inputs[0]))]
        model(texts["corrupted"])
        for hook in hooks:
            hook.remove()
        return pytest.approx(share(runs, runs.head(receiver, at, *said)), abs=1e-6)

    (clean,), (corrupted,) = seen["clean"], seen["corrupted"]
    whole = {"query": clean, "key": clean, "value": clean}
    assert found["received"] == back(**whole) and found["every_place"] == back(at=None, **whole)
    for name in ("query", "key", "value"):
        assert found[name] == back(**{name: clean})
    assert name_reads.looking(tails, receiver) == back(query=clean, key=clean)
    mixed = corrupted.clone()
    mixed[:, SECOND] = clean[:, SECOND]
    query = corrupted.clone()
    query[:, SECOND:] = name_reads.query_from(tails, (0, 3), receiver)
    assert found["last"] == back(query=query)
    for name in ("key", "value"):
        assert found["mended"][name] == back(query=query, **{name: mixed})
    path = share(runs, runs.path((0, 3), receiver, "query"))
    assert found["path"] == pytest.approx(path, abs=1e-6) and path == back(at=None, query=query)


@torch.no_grad()
def test_what_a_head_adds_to_each_name_is_told_with_the_others_held(models):
    import name_reads
    from _tails import Tails
    from two_names import sentences

    texts = sentences(models.encode, 4, seed=0)
    model = models.model
    layers, said = [block.attention for block in model.blocks[-2:]], []

    def run(see):
        hooks = [
            layer.out_proj.register_forward_pre_hook(lambda _, inputs, number=number: see(number, inputs[0]))
            for number, layer in enumerate(layers)
        ]
        logits = model(texts["clean"])[0][:, -1].gather(-1, texts["names"])
        for hook in hooks:
            hook.remove()
        return logits

    whole = run(lambda _, joined: said.append(joined.clone()))
    part = slice(layers[0].d_head, 2 * layers[0].d_head)
    said[0][:, -1, part] = said[0][:, -1, part].mean(0)
    expected = (whole - run(lambda number, _: (said[number],))).mean(0)
    found = name_reads.moves(Tails(model, texts), (len(model.blocks) - 2, 1))
    assert [found["right"][0], found["other"][0]] == pytest.approx(expected.tolist(), abs=1e-5)


@torch.no_grad()
def test_where_a_head_looks_is_told_by_the_roles_of_the_names(models):
    from two_names import looks, sentences

    texts = sentences(models.encode, 4, seed=0)
    _, maps = models.model(texts["clean"], need_weights=True)
    rows = [
        [maps[1][row, 2, -1, at].item() for at in ((1, 3, 9, 0) if row % 2 == 0 else (3, 1, 9, 0))] for row in range(4)
    ]
    expected = torch.tensor(rows).mean(0).tolist()
    assert looks(models.model, texts)((1, 2), -1) == pytest.approx(expected, abs=1e-3)


def test_the_other_heads_of_the_same_blocks_are_drawn():
    from repeating import others

    drawn = others([(2, 0), (2, 5), (7, 3)], 9, seed=1)
    assert sorted(block for block, _ in drawn) == [2, 2, 7] and len(set(drawn)) == 3
    assert not set(drawn) & {(2, 0), (2, 5), (7, 3)}


def test_pieces_do_not_overlap_and_are_split():
    from _texts import pieces, shuffled

    chosen_on, texts = pieces(lambda text: list(range(len(text))), 48)
    assert chosen_on.shape == (20, 48) and texts.shape == (100, 48)
    together = torch.cat([chosen_on, texts])
    assert len(together.unique()) == together.numel()
    assert torch.equal(shuffled(texts).sort(-1).values, texts) and not torch.equal(shuffled(texts), texts)


def test_an_untrained_model_has_its_norms_at_one_and_its_matrices_small(models):
    from _models import untrained

    other = untrained(models.model)
    assert torch.equal(other.norm.weight, torch.ones(24))
    assert other.blocks[1].feed_forward.down.weight.std() == pytest.approx(32**-0.5, rel=0.1)
    assert not torch.equal(other.embedding.weight, models.model.embedding.weight)
    encoder = untrained(models.encoder)
    assert not encoder.blocks[0].attention.query_proj.bias.any()


def test_a_record_is_judged_by_the_rule_that_was_written_first():
    from findings import FAILS, FINDINGS, HOLDS, WEAKER

    judge = FINDINGS["order"].judge
    numbers = {"same": 1.0, "bits": 4.0, "without": 5.0, "ordered": 3.0, "shuffled": 3.5, "foreign": 4.0}
    assert judge(numbers) == HOLDS
    assert judge(numbers | {"shuffled": 3.1}) == WEAKER
    assert judge(numbers | {"shuffled": 3.1, "without": 4.1}) == FAILS
    record = json.loads((FOLDER / "recorded" / "findings.json").read_text(encoding="utf-8"))
    for name, of in record.items():
        if name in FINDINGS:
            assert of["verdict"] == FINDINGS[name].judge(of["numbers"])


def test_the_page_draws_the_record_that_was_made():
    from readers import BESIDE, for_readers

    record = json.loads((FOLDER / "recorded" / "findings.json").read_text(encoding="utf-8"))
    shown = recorded.load("for_real")
    assert shown == for_readers(record)
    names = (row["name"] for row in shown["results"])
    assert ["own_parts", *names, *BESIDE, "tools"] == list(record)
    assert shown["two_names"]["every_head"] == record["two_names"]["numbers"]["every_head"]


def test_tools_see_the_maps_and_what_was_planted_in_each_layer(scripts, monkeypatch):
    pytest.importorskip("transformers")
    import tools

    def pieces(text, return_tensors):
        return {"input_ids": torch.arange(len(text.split()))[None]}

    llama, bert = random_llama(), random_bert(vocab_size=20)
    for model in (llama, bert):
        model.set_attn_implementation("eager")
    monkeypatch.setattr(tools.real_models, "load_smollm2", lambda: (pieces, llama))
    monkeypatch.setattr(tools.real_models, "load_minilm", lambda: (pieces, bert))
    found = tools.run(None)["tools"]
    assert found["SmolLM2"]["maps"] == [3, 6, 13, 13] and found["MiniLM"]["maps"] == [3, 2, 13, 13]
    assert all(found["expected"].values())
    llama.model.layers[1].self_attn.scaling = 48**-0.5
    assert list(tools.run(None)["tools"]["expected"].values()) == [True, False, True]
    recorded = json.loads((FOLDER / "recorded" / "findings.json").read_text(encoding="utf-8"))["tools"]["numbers"]
    assert list(recorded["expected"]) == list(tools.EXPECTED)


def test_the_lessons_own_block_carries_a_block(models):
    from own_parts import carry, from_the_lesson, off

    from attention_course.pretrained import language_model_from_llama

    model = language_model_from_llama(random_llama(rope_parameters={"rope_type": "default", "rope_theta": 50.0}))
    model.requires_grad_(False)
    lessons = from_the_lesson(48, 6)
    lessons.requires_grad_(False)
    carry(model.blocks[1], lessons)
    tokens = torch.randn(2, 9, 48)
    assert off(lessons(tokens), model.blocks[1](tokens, causal=True)[0]) < 1e-5
