"""Exact match and alignment error of four translators, and what withheld word pairs cost, for cross_attention."""

import time
from functools import partial

import torch

from attention_course.course import training
from attention_course.decoding import cut_after
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.seq2seq_rnn import GRUEncoderDecoder
from attention_course.tasks import translation
from attention_course.tasks.sequences import SequencePairs

# Widths that give every model about the same number of parameters.
SETTINGS = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "d_hidden": 112,
    "batch": 64,
    "steps": 300,
    "test_sentences": 500,
    "test_seed": 1000,
}
MODELS = ["Transformer", "no attention", "additive", "general"]
PEAK_LRS = [0.003, 0.01]
# Trained without one colour and one size for each noun; at the rate that served the model best.
WITHHELD = {"Transformer": 0.003, "additive": 0.01}
SEEDS = [0, 1, 2]


def run() -> dict:
    """Train every model with every rate and seed, then two of them on less; `{"settings": ..., "results": ...}`."""
    results = []
    plans = [(model, rate, False) for model in MODELS for rate in PEAK_LRS]
    plans += [(model, rate, True) for model, rate in WITHHELD.items()]
    for model, rate, withheld in plans:
        for seed in SEEDS:
            plan = {"model": model, "peak_lr": rate, "withheld": withheld, "seed": seed}
            result = plan | _train_and_test(model, rate, withheld, seed)
            print(result, flush=True)
            results.append(result)
    return {"settings": SETTINGS, "results": results}


def has_withheld_pair(source: torch.Tensor) -> torch.Tensor:
    """Whether a noun stands with its withheld size or colour: `(batch,)`."""
    forbidden = torch.zeros(2 * [len(translation.VOCABULARY)], dtype=torch.bool)
    for index, noun in enumerate(translation.NOUNS):
        for adjectives in (tuple(translation.SIZES), tuple(translation.COLOURS)):
            for form in noun[:2]:
                forbidden[translation.IDS[adjectives[index % len(adjectives)]], translation.IDS[form]] = True
    # At most one adjective stands between another and its noun.
    pairs = (forbidden[source[:, :-lag], source[:, lag:]].any(1) for lag in (1, 2))
    return torch.stack(list(pairs)).any(0)


def sentences(n: int, generator: torch.Generator, *, withheld: bool | None = None) -> SequencePairs:
    """Sentences with (`True`) or without (`False`) a withheld pair, or any."""
    pairs = translation.translation_pairs(n if withheld is None else 4 * n, generator)
    if withheld is None:
        return pairs
    return pairs[has_withheld_pair(pairs.source) == withheld][:n]


def _train_and_test(name: str, rate: float, withheld: bool, seed: int) -> dict:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = _make(name)
    start = time.perf_counter()
    training.train(
        model,
        lambda: sentences(SETTINGS["batch"], generator, withheld=False if withheld else None),
        partial(training.sequence_loss, pad=translation.PAD),
        steps=SETTINGS["steps"],
        peak_lr=rate,
        every=SETTINGS["steps"],
    )
    seconds = round(time.perf_counter() - start, 1)
    test = torch.Generator().manual_seed(SETTINGS["test_seed"])
    held_out = sentences(SETTINGS["test_sentences"], test)
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "threads": torch.get_num_threads(),
        "seconds": seconds,
        "exact": _exact(model, held_out),
        "exact_withheld": _exact(model, sentences(SETTINGS["test_sentences"], test, withheld=True)),
        "alignment_error": _alignment_errors(model, held_out),
    }


def _make(name: str) -> torch.nn.Module:
    n_symbols = len(translation.VOCABULARY)
    if name != "Transformer":
        return GRUEncoderDecoder(n_symbols, SETTINGS["d_hidden"], None if name == "no attention" else name)
    sizes = (SETTINGS[size] for size in ("d_model", "n_heads", "n_layers"))
    return EncoderDecoder(n_symbols, *sizes, pad=translation.PAD)


def _exact(model, pairs: SequencePairs) -> float:
    """Share of sentences translated without a mistake."""
    written = model.generate(pairs.source, translation.N_TARGET)
    symbols = written[0] if isinstance(written, tuple) else written
    symbols = cut_after(symbols, translation.END, translation.PAD)
    return round(training.accuracy(symbols, pairs.target)["sequences"], 4)


@torch.no_grad()
def _alignment_errors(model, pairs: SequencePairs) -> list[float]:
    """Of the heads' mean, a number a layer; none for a model without attention."""
    weights = (
        [layer.mean(1) for layer in model(pairs.source, pairs.target, need_weights=True)[1]]
        if isinstance(model, EncoderDecoder)
        else [model(pairs.source, pairs.target)[1]]
    )
    words = pairs.gold.any(-1)  # rows of padding have no gold
    return [
        round(training.alignment_error(layer[words], pairs.gold[words]), 4) for layer in weights if layer is not None
    ]
