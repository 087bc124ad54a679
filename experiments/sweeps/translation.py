"""Ten translators, and ten that never saw some pairs of words: what is written rightly, for two pages."""

import time
from functools import partial

import torch

from attention_course.course import training
from attention_course.course.checkpoints import make_translator
from attention_course.decoding import cut_after
from attention_course.tasks import translation
from attention_course.tasks.sequences import SequencePairs

SETTINGS = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "batch": 64,
    "steps": 300,
    "peak_lr": 0.003,
    "test_sentences": 500,
    "test_seed": 1000,
}
SEEDS = list(range(10))


def run() -> dict:
    """Train with every seed on all sentences, then on those without a withheld pair."""
    results = []
    for withheld in (False, True):
        for seed in SEEDS:
            results.append({"withheld": withheld, "seed": seed} | _train_and_test(withheld, seed))
            print(results[-1], flush=True)
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


def _train_and_test(withheld: bool, seed: int) -> dict:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = make_translator(SETTINGS)
    start = time.process_time()
    training.train(
        model,
        lambda: sentences(SETTINGS["batch"], generator, withheld=False if withheld else None),
        partial(training.sequence_loss, pad=translation.PAD),
        steps=SETTINGS["steps"],
        peak_lr=SETTINGS["peak_lr"],
        every=SETTINGS["steps"],
    )
    seconds = round(time.process_time() - start, 1)
    test = torch.Generator().manual_seed(SETTINGS["test_seed"])
    return {
        "threads": torch.get_num_threads(),
        "seconds": seconds,  # of the processor
        "exact": _exact(model, sentences(SETTINGS["test_sentences"], test)),
        "exact_withheld": _exact(model, sentences(SETTINGS["test_sentences"], test, withheld=True)),
    }


def _exact(model, pairs: SequencePairs) -> float:
    """Share of sentences translated without a mistake."""
    written = cut_after(model.generate(pairs.source, translation.N_TARGET), translation.END, translation.PAD)
    return round(training.accuracy(written, pairs.target)["sequences"], 4)
