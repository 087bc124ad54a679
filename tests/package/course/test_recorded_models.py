"""What a page prints and trains is what was recorded: its classes and functions give what the scripts' give."""

from functools import partial

import pytest
import torch
from sweeps import load, printed

from attention_course import scaled_dot_product_attention, tasks
from attention_course.course import training
from attention_course.course.environment import Environment
from attention_course.positions import RotaryAttention, SinusoidalPositions, rotate
from attention_course.tasks.coins import VOCABULARY
from attention_course.transformer import Encoder

# Each gives the page's, the script's, and what both are called with: once they are made with the same seed, they agree.


def letters(n_symbols, *size):
    return torch.randint(n_symbols, size, generator=torch.Generator().manual_seed(0))


def circuits(s):
    (model,) = printed("circuits.ipynb", "AttentionOnly")
    for n_blocks in (1, 2):
        yield partial(model, n_blocks), partial(s.AttentionOnly, n_blocks), [letters(26, 3, 32)]


def decay(s):
    names = "phi", "decay_factors", "decays", "decayed", "rotated_linear"
    _, factors, decays, decayed, rotated = printed("efficient.ipynb", *names, rotate=rotate)
    assert decays.flatten().tolist() == s.SETTINGS["decays"]

    def on_the_page(query, key, value):
        return decayed(query, key, value, factors(50, decays))

    inputs = torch.randn(3, 2, 4, 50, 16)
    yield lambda: on_the_page, partial(s.Decay, s.SETTINGS["decays"], rotated=False), inputs
    linear, causal = partial(s.Decay, [1.0] * 4, rotated=True), torch.ones(50, 50).tril()
    yield lambda: partial(rotated, mask=causal), linear, inputs


def head_counts(s):
    pages = {"multi_head.ipynb": ("Reader", "MyMultiHeadAttention", "split", "join"), "one_head.ipynb": ("Reader",)}
    for page, names in pages.items():
        reader, *_ = printed(page, *names)
        for n_relations in (1, 2):
            people = tasks.related_letters(3, 8, 16, 8, n_relations, torch.Generator().manual_seed(0))
            yield partial(reader, 4, n_relations), partial(s.Reader, 4, n_relations), [people]


def leave_out(s):
    parts = ("split", "join", "causal", "angles", "turn", "CausalSelfAttention", "FeedForward", "Block")
    make, remove_norms, *_ = printed("transformer.ipynb", "make_model", "remove_norms", *parts)

    def with_numbers_of(stack, norms):
        shown = make(stack.embedding.num_embeddings, 64, 2)
        if not norms:
            remove_norms(shown)
        shown.load_state_dict(dict(zip(shown.state_dict(), stack.state_dict().values(), strict=True)))
        return shown

    for without in (None, "norms"):
        stack = s.Stack(without)
        yield partial(with_numbers_of, stack, without is None), lambda stack=stack: stack, [letters(26, 3, 8)]


def length_remedies(s):
    (turning,) = printed("reaching_farther.ipynb", "Turning")
    frequency, tokens = s.frequencies("by parts", 16, 32, 8), torch.randn(3, 2, 4, 20, 16)
    yield lambda: turning(frequency).turn, lambda: s.Turning(frequency).turn, tokens[:1]
    without = {"need_weights": False}
    yield (lambda: partial(turning(frequency), **without)), (lambda: partial(s.Turning(frequency), **without)), tokens


def modern_block(s):
    names = ("Writer", "RMSNorm", "SwiGLU", "ModernBlock", "make_norm", "make_feed_forward")
    writer, *_ = printed("modern_block.ipynb", *names, RotaryAttention=RotaryAttention)
    for variant in s.VARIANTS:
        makes = (partial(each, 20, 24, 4, 2, **s.VARIANTS[variant]) for each in (writer, s.Writer))
        yield *makes, [letters(20, 3, 8)]


def recall(s):
    model, _ = printed("recurrence.ipynb", "Recall", "open_gate")
    symbols = s.draw(3, torch.Generator().manual_seed(0))
    for kind in s.KINDS:
        yield partial(model, kind), partial(s.Recall, kind, s.SETTINGS["width"]), [symbols]


def scale_rates(s):
    (store,) = printed("scale.ipynb", "Store")
    symbols, values, asked, _ = s.make_stores(3, torch.Generator().manual_seed(0))

    def recorded():
        own = s.Store(64, 8, 0.5)
        return lambda symbols, values, asked: own(asked[:, 0], symbols, values)

    attention = partial(scaled_dot_product_attention, scale=0.5)
    yield lambda: store(8, attention), recorded, [symbols, values, asked[:, None]]


def states(s):
    (reader,) = printed("states.ipynb", "Reader")
    people = tasks.related_letters(3, 32, 64, 8, 1, torch.Generator().manual_seed(0))
    given = [people.name, people.letter, people.asked[..., 0]]
    yield lambda: reader(64, 8, s.make_layer("softmax")), lambda: s.Reader(64, s.make_layer("softmax")), given


def transformer_depth(s):
    (sorter,) = printed("depth.ipynb", "Sorter", Encoder=Encoder, SinusoidalPositions=SinusoidalPositions)
    for norm_first in (True, False):
        sizes = 16, 8, 2, 2, norm_first
        yield partial(sorter, *sizes), partial(s.Sorter, *sizes), [letters(16, 3, 8)]


SCRIPTS = {
    "circuits": circuits,
    "decay": decay,
    "head_counts": head_counts,
    "leave_out": leave_out,
    "length_remedies": length_remedies,
    "modern_block": modern_block,
    "recall": recall,
    "scale_rates": scale_rates,
    "states": states,
    "transformer_depth": transformer_depth,
}


def called(make, inputs):
    """The first that comes out of a module or function, made with seed 0 and called with seed 1."""
    torch.manual_seed(0)
    module = make()
    torch.manual_seed(1)
    found = module(*inputs)
    return found[0] if isinstance(found, tuple) else found


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_page_has_the_model_that_was_recorded(name):
    for printed_one, recorded_one, inputs in SCRIPTS[name](load(name)):
        torch.testing.assert_close(called(printed_one, inputs), called(recorded_one, inputs), atol=1e-5, rtol=1e-5)


CPU = Environment(torch.device("cpu"), 0)


def test_the_lesson_trains_the_judges_as_those_that_were_recorded(monkeypatch):
    """Run for a few steps, its training ends where the script's does."""
    script = load("interpretability")

    class few_steps:
        def train(*arguments, steps, peak_lr):
            assert (steps, peak_lr) == (300, 0.01)
            training.train(*arguments, steps=5, peak_lr=peak_lr)

    known = {"Encoder": Encoder, "VOCABULARY": VOCABULARY, "tasks": tasks, "training": few_steps, "course": CPU}
    train, _ = printed("interpretability.ipynb", "train", "Judge", **known)
    monkeypatch.setattr(script, "training", few_steps)
    drawers = tasks.two_coins(4, CPU.generator(9))
    for name, arguments in {"one block": (1,), "two blocks": (2,), "penalised": (2, 1.0)}.items():
        here, there = train(*arguments), script.train(name, 0)
        torch.testing.assert_close(here(drawers.tokens)[0], there(drawers.tokens)[0], atol=1e-3, rtol=1e-3)
