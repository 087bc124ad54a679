"""The live model's arithmetic, run by Node, beside PyTorch's own modules on the same rounded parameters."""

from contextlib import ExitStack

import pytest
import torch
from choosing import weekly
from model_runs import OF_A_BLOCK, assert_same, catch, runner

from attention_course.attention import MultiHeadAttention
from attention_course.explore.model import explore_model
from attention_course.interpreting.ablations import switched_off
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import LearnedPositions, RotaryAttention, rotate
from attention_course.support import float16_weights

VOCABULARY = "abcdefghijk"
N_LAYERS, N_HEADS, LIMIT = 3, 4, 40
# What heads say on average: numbers that are the same in 16 bits.
MEANS = torch.randn(N_LAYERS, N_HEADS, 24 // N_HEADS, generator=torch.Generator().manual_seed(3)).half().double()


def make_model(kind: str) -> CausalLanguageModel:
    """A small model with weights as unequal as trained ones, of one of four kinds."""
    torch.manual_seed(0)
    options = {
        "rotary": {"attention": RotaryAttention()},
        "learned": {"positions": LearnedPositions(LIMIT, 24)},
        "grouped": {"attention": RotaryAttention(base=100.0), "n_kv_heads": 2},
        "without biases": {"attention": RotaryAttention()},
    }[kind]
    model = CausalLanguageModel(len(VOCABULARY), 24, N_HEADS, N_LAYERS, **options)
    if kind == "without biases":
        for block in model.blocks:
            block.attention = MultiHeadAttention(24, N_HEADS, bias=False, attention=RotaryAttention())
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    float16_weights.unpack(float16_weights.pack(model), model)
    return model.double()


def changes(*, off=(), out=(), positions=True, masked=True, means=False) -> dict:
    """What a reader changes: heads off as pairs (block, head), blocks left out."""
    heads = [[head for block, head in off if block == index] for index in range(N_LAYERS)]
    return {"heads": heads, "blocks": list(out), "positions": positions, "masked": masked, "means": means}


@pytest.fixture(scope="module")
def run_in_node(tmp_path_factory):
    """A function that runs cases in JavaScript: lists of (symbols, changes), each going on from the one before."""
    run = runner(tmp_path_factory.mktemp("live"), "forward.js", "makeModel")

    def run_in_node(model, cases):
        measured = [{"means": MEANS.tolist()}]
        explorer = explore_model(model, VOCABULARY, "a", alt="A model.", limit=LIMIT, measured=measured)
        return run(explorer.values["data"]["models"][0], cases)

    return run_in_node


CAUGHT = OF_A_BLOCK | {"middle": ("feed_forward_norm", "input")}


@torch.no_grad()
def run_in_python(model, symbols, changes) -> dict:
    """Every intermediate result, caught on its way through PyTorch's modules."""
    n, learned = len(symbols), model.positions
    mechanism = model.blocks[0].attention.attention
    off = [(block, head) for block, heads in enumerate(changes["heads"]) for head in heads]
    parts = {"heads": off, "blocks": changes["blocks"], "means": MEANS if changes["means"] else None}
    with switched_off(model, **parts, positions=not changes["positions"]), ExitStack() as hooks:
        caught = catch(hooks, model.blocks, CAUGHT)
        logits, weights = model(torch.tensor([symbols]), causal=changes["masked"], need_weights=True)
    embedding = model.embedding(torch.tensor(symbols))
    if learned is not None and changes["positions"]:
        embedding = embedding + learned.embedding.weight[:n]
    d_head = model.blocks[0].attention.d_head
    for block, of_heads in zip(caught, weights, strict=True):
        block["weights"] = of_heads[0]
        for name in ("query", "key"):
            parts = block[name].unflatten(-1, (-1, d_head)).transpose(0, 1)
            if isinstance(mechanism, RotaryAttention) and changes["positions"]:
                parts = rotate(parts, torch.arange(n), base=mechanism.base)
            block["turned" + name.title()] = parts.transpose(0, 1).flatten(-2)
        query, key = (block[name].unflatten(-1, (-1, d_head)).transpose(0, 1) for name in ("turnedQuery", "turnedKey"))
        key = key.repeat_interleave(N_HEADS // len(key), 0)
        block["scores"] = query @ key.transpose(-2, -1) / d_head**0.5
    lenses = [model.lm_head(model.norm(stream)) for stream in (embedding, *(block["stream"] for block in caught))]
    torch.testing.assert_close(lenses[-1], logits[0])
    return {"embedding": embedding, "blocks": caught, "lenses": lenses}


CHANGES = [
    changes(),
    changes(off=[(0, 1), (2, 0), (2, 3)]),
    changes(out=[1]),
    changes(out=[0, 2], off=[(1, 2)]),
    changes(positions=False),
    changes(masked=False),
    changes(masked=False, positions=False, off=[(1, 0)]),
    changes(off=[(0, 1), (2, 0), (2, 3)], means=True),
    changes(masked=False, out=[1], off=[(0, 0), (1, 2)], means=True),
]


@pytest.mark.parametrize("kind", ["rotary", "learned", "grouped", "without biases"])
def test_every_intermediate_is_pytorchs(run_in_node, kind):
    """On random texts of 1 to the limit's characters, changed in every way."""
    model = make_model(kind)
    draw = torch.Generator().manual_seed(1)
    texts = [torch.randint(len(VOCABULARY), (n,), generator=draw).tolist() for n in (1, 2, 3, 7, 19, LIMIT - 1, LIMIT)]
    cases = [[[symbols, change]] for symbols in texts for change in CHANGES]
    for run, [[symbols, change]] in zip(run_in_node(model, cases), cases, strict=True):
        assert_same(run, run_in_python(model, symbols, change), lambda _, of=change: of["masked"])


@pytest.mark.parametrize("kind", ["rotary", *map(weekly, ["learned", "grouped"])])
def test_going_on_from_an_earlier_run_changes_nothing(run_in_node, kind):
    """Typed at the end, taken back, changed in the middle, typed twice, and after another change of the model."""
    model = make_model(kind)
    text = torch.randint(len(VOCABULARY), (LIMIT,), generator=torch.Generator().manual_seed(2)).tolist()
    other = [(symbol + 1) % len(VOCABULARY) for symbol in text]
    ways = [[text[:6]], [text[:1], text[:2], text[:11]], [text[:30]], [text[:12]]]
    ways += [[text[:5] + other[5:20]], [other[:12]]]
    cases = [[*([before, change] for before in way), [text[:12], change]] for change in CHANGES for way in ways]
    cases += [[[text[:12], before], [text[:12], after]] for before in CHANGES for after in CHANGES]
    expected = [run_in_python(model, text[:12], change) for change in CHANGES]
    for run, case in zip(run_in_node(model, cases), cases, strict=True):
        symbols, change = case[-1]
        assert run["symbols"] == symbols == text[:12]
        assert_same(run, expected[CHANGES.index(change)], lambda _, of=change: of["masked"])
