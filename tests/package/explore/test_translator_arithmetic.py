"""The live translator's arithmetic, run by Node, beside PyTorch's own modules on the same rounded parameters."""

from contextlib import ExitStack

import numpy as np
import pytest
import torch
from model_runs import OF_A_BLOCK, assert_same, catch, runner

from attention_course.encoder_decoder import EncoderDecoder
from attention_course.explore.model import explore_model
from attention_course.support import float16_weights

WORDS = ["<pad>", ".", *"abcdefghi"]
PAD, N_HEADS, N_LAYERS, LIMIT = 0, 4, 3, 20
BLOCK = OF_A_BLOCK | {  # positions are added, and nothing is turned
    "turnedQuery": ("attention.query_proj", "output"),
    "turnedKey": ("attention.key_proj", "output"),
}
DECODER_BLOCK = BLOCK | {
    "crossNorm": ("cross_attention_norm", "output"),
    "crossQuery": ("cross_attention.query_proj", "output"),
    "crossBlended": ("cross_attention.out_proj", "input"),
    "crossed": ("cross_attention.out_proj", "output"),
    "middle": ("cross_attention_norm", "input"),
    "afterCross": ("feed_forward_norm", "input"),
}
ENCODER_BLOCK = BLOCK | {"middle": ("feed_forward_norm", "input")}
MEMORY = {"key": ("cross_attention.key_proj", "output"), "value": ("cross_attention.value_proj", "output")}


@pytest.fixture(scope="module")
def model() -> EncoderDecoder:
    """A small translator with weights as unequal as trained ones, and as the browser gets them."""
    torch.manual_seed(0)
    model = EncoderDecoder(len(WORDS), 24, N_HEADS, N_LAYERS, pad=PAD)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    float16_weights.unpack(float16_weights.pack(model), model)
    return model.double().eval()


@pytest.fixture(scope="module")
def run_in_node(tmp_path_factory):
    """A function that runs cases in JavaScript: lists of arguments, each going on from the run before."""
    run = runner(tmp_path_factory.mktemp("live"), "encoder_decoder.js", "makeTranslator")

    def run_in_node(model, cases):
        return run(explore_model(model, WORDS, "a .", alt="A translator.", limit=LIMIT).values["data"], cases)

    return run_in_node


def changes(*, off=(), encoder=(), decoder=()) -> dict:
    """What a reader changes: heads of the cross-attention off as pairs (block, head), blocks left out."""
    heads = [[head for block, head in off if block == index] for index in range(N_LAYERS)]
    return {"heads": heads, "encoder": list(encoder), "decoder": list(decoder)}


CHANGES = [
    changes(),
    changes(off=[(0, 1), (2, 0), (2, 3)]),
    changes(encoder=[1]),
    changes(decoder=[0, 2]),
    changes(off=[(1, 0), (1, 1), (1, 2), (1, 3)], encoder=[0, 2], decoder=[0]),
]


def draw(n: int, seed: int) -> list[int]:
    """Symbols that are no padding."""
    return torch.randint(1, len(WORDS), (n,), generator=torch.Generator().manual_seed(seed)).tolist()


def changed(model, what: dict) -> ExitStack:
    """The model with what a reader changed, until the stack is closed."""
    stack = ExitStack()

    def hook(module, register, function):
        stack.callback(getattr(module, register)(function).remove)

    for index, block in enumerate(model.decoder.blocks):

        def silence(_, inputs, off=what["heads"][index]):
            parts = inputs[0].unflatten(-1, (N_HEADS, -1)).clone()
            parts[:, :, off] = 0
            return parts.flatten(-2)

        hook(block.cross_attention.out_proj, "register_forward_pre_hook", silence)
    out = [model.encoder.blocks[index] for index in what["encoder"]]
    out += [model.decoder.blocks[index] for index in what["decoder"]]
    for block in out:
        layers = [block.attention.out_proj, block.feed_forward[2]]
        layers += [block.cross_attention.out_proj] if hasattr(block, "cross_attention") else []
        for layer in layers:
            hook(layer, "register_forward_hook", lambda _, inputs, output: torch.zeros_like(output))
    return stack


@torch.no_grad()
def run_in_python(model, source: list[int], previous: list[int], what: dict, padding: int = 0) -> dict:
    """Every intermediate result, caught on its way through PyTorch's modules; the source with padding at its end."""
    n = len(source)
    with changed(model, what) as stack:
        reading = catch(stack, model.encoder.blocks, ENCODER_BLOCK)
        blocks = catch(stack, model.decoder.blocks, DECODER_BLOCK)
        asked = catch(stack, model.decoder.blocks, MEMORY)
        padded = torch.tensor([source + [PAD] * padding])
        memory, mask = model.encode(padded)
        tokens = model.positions(model.embedding(torch.tensor([previous])))
        causal = torch.ones(len(previous), len(previous), dtype=torch.bool).tril()
        _, weights = model.decoder(tokens, memory, causal, mask, need_weights=True)
        logits, _ = model.decode(torch.tensor([previous]), memory, mask)
        _, encoder_weights = model.encoder(model.positions(model.embedding(padded)), mask, need_weights=True)
    for block, (own, cross), kept in zip(blocks, weights, asked, strict=True):
        block |= {"weights": own[0], "crossWeights": cross[0, :, :, :n]}
        block["scores"] = compare_heads(block["query"], block["key"])
        block["crossScores"] = compare_heads(block["crossQuery"], kept["key"][:n])
    reading = [{name: value[:n] for name, value in block.items()} for block in reading]
    for block, own in zip(reading, encoder_weights, strict=True):
        block |= {"weights": own[0, :, :n, :n], "scores": compare_heads(block["query"], block["key"])}
    return {
        "reading": {
            "embedding": model.positions(model.embedding(torch.tensor([source])))[0],
            "blocks": reading,
            "memory": memory[0, :n],
            "asked": [{name: value[:n] for name, value in at.items()} for at in asked],
        },
        "embedding": tokens[0],
        "blocks": blocks,
        "logits": logits[0],
    }


def compare_heads(query, key):
    """Scores `(heads, queries, keys)`."""
    query, key = (tokens.unflatten(-1, (N_HEADS, -1)).transpose(0, 1) for tokens in (query, key))
    return query @ key.transpose(-2, -1) / query.size(-1) ** 0.5


def is_causal(name: str) -> bool:
    return name.startswith("run.blocks") and "cross" not in name


def test_every_intermediate_is_pytorchs(model, run_in_node):
    """On random sentences of 1 to the limit's words, changed in every way, whether or not PyTorch's have padding."""
    lengths = [(1, 1), (2, 5), (7, 3), (13, 14), (LIMIT - 1, LIMIT), (LIMIT, LIMIT + 1)]
    sentences = [(draw(n, n), [model.start_symbol, *draw(m - 1, 100 + m)]) for n, m in lengths]
    cases = [[[source, previous, what]] for source, previous in sentences for what in CHANGES]
    for index, (run, [[source, previous, what]]) in enumerate(zip(run_in_node(model, cases), cases, strict=True)):
        assert_same(run, run_in_python(model, source, previous, what, padding=3 * (index % 2)), is_causal)


def test_a_model_without_padding(run_in_node):
    """It has no symbol that hides."""
    torch.manual_seed(1)
    model = EncoderDecoder(len(WORDS), 24, N_HEADS, N_LAYERS)
    float16_weights.unpack(float16_weights.pack(model), model)
    source, previous = [0, 3, 0, 1], [model.start_symbol, 0, 2]
    run = run_in_node(model, [[[source, previous, changes()]]])[0]
    assert_same(run, run_in_python(model.double().eval(), source, previous, changes()), is_causal)


def test_writing_on_from_an_earlier_run_changes_nothing(model, run_in_node):
    """One word more, one taken back, one changed in the middle, another source, another change of the model."""
    source, other = draw(9, 1), draw(9, 2)
    text = [model.start_symbol, *draw(11, 3)]
    forced = text[:4] + [text[4] % 9 + 1] + text[5:8]
    asked = (source, text[:7])
    ways = [
        [(source, text[:1]), (source, text[:2]), (source, text[:6])],
        [(source, text[:12])],
        [(source, forced)],
        [(other, text[:7])],
        [asked],
    ]
    cases = [[[*step, what] for step in (*way, asked)] for what in CHANGES for way in ways]
    cases += [[[*asked, before], [*asked, after]] for before in CHANGES for after in CHANGES]
    expected = [run_in_python(model, *asked, what) for what in CHANGES]
    for run, case in zip(run_in_node(model, cases), cases, strict=True):
        assert (run["source"], run["previous"]) == asked
        assert_same(run, expected[CHANGES.index(case[-1][2])], is_causal)


@torch.no_grad()
def test_greedy_writing_is_generate(model, run_in_node):
    """Word by word, each the likeliest after those before, as PyTorch's `generate` in float64 does."""
    sources = [draw(n, 50 + n) for n in (1, 4, 9, LIMIT)]
    written = [[model.start_symbol] for _ in sources]
    for _ in range(8):
        cases = [
            [[source, before[:count], changes()] for count in range(1, len(before) + 1)]
            for source, before in zip(sources, written, strict=True)
        ]
        for run, before in zip(run_in_node(model, cases), written, strict=True):
            before.append(int(np.argmax(run["logits"][-len(WORDS) :])))
    for source, before in zip(sources, written, strict=True):
        assert before[1:] == model.generate(torch.tensor([source]), 8)[0].tolist()
