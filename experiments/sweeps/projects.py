"""What readers of dates and spellers of digits get right, seed by seed, as goals for the page of projects."""

from functools import partial

import torch

from attention_course.course import training
from attention_course.decoding import cut_after
from attention_course.embeddings import ImagePatches
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.tasks import dates, spelling

SETTINGS = {
    "dates": {"n_train": 20_000, "n_test": 2000, "test_seed": 0, "steps": 600, "peak_lr": 0.003},
    "digits": {"patch": 2, "steps": 400, "peak_lr": 0.003, "n_swaps": 5},
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 1,
    "batch": 64,
}
DATE_SEEDS = [0, 1, 2, 3, 4]
DIGIT_SEEDS = list(range(10))
PARTS = {"year": slice(0, 4), "month": slice(5, 7), "day": slice(8, 10)}  # of 2026-11-21


def run() -> dict:
    """Train with every seed; `{"settings": ..., "results": ...}`."""
    results = []
    for project, seeds, one_seed in (("dates", DATE_SEEDS, read_dates), ("digits", DIGIT_SEEDS, spell_digits)):
        for seed in seeds:
            result = {"project": project, "seed": seed} | one_seed(seed)
            print(result, flush=True)
            results.append(result)
    return {"settings": SETTINGS, "results": results}


def _train(model, train, loss_pad: int, seed: int, *, steps: int, peak_lr: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    training.train(
        model,
        lambda: train[torch.randint(len(train), (SETTINGS["batch"],), generator=generator)],
        partial(training.sequence_loss, pad=loss_pad),
        steps=steps,
        peak_lr=peak_lr,
        every=steps,
    )


def _sizes() -> tuple[int, int, int]:
    return SETTINGS["d_model"], SETTINGS["n_heads"], SETTINGS["n_layers"]


def read_dates(seed: int) -> dict:
    """Train a reader of dates, and count what it makes of those with one reading and of those with two."""
    settings = SETTINGS["dates"]
    test = dates.written_dates(settings["n_test"], torch.Generator().manual_seed(settings["test_seed"]))
    train = not_among(test, dates.written_dates(settings["n_train"], torch.Generator().manual_seed(1)))
    torch.manual_seed(seed)
    model = EncoderDecoder(len(dates.VOCABULARY), *_sizes(), pad=dates.PAD)
    _train(model, train, dates.PAD, seed, steps=settings["steps"], peak_lr=settings["peak_lr"])
    written = model.generate(test.source, dates.N_TARGET)
    with torch.no_grad():
        weights = model(test.source, test.target, need_weights=True)[1][0].mean(1)
    two = two_readings(test.source)
    errors = {
        f"{part}_missed": training.alignment_error(weights[:, places], test.gold[:, places])
        for part, places in PARTS.items()
    }
    return _rounded(
        {
            "ambiguous": two.float().mean().item(),
            "one_reading": training.accuracy(written[~two], test.target[~two])["sequences"],
            "two_readings": training.accuracy(written[two], test.target[two])["sequences"],
            "day_first": training.accuracy(written[two], day_first(test[two]))["sequences"],
            "day_first_reachable": training.accuracy(day_first(test[two]), test.target[two])["sequences"],
        }
        | errors
    )


def not_among(test, train):
    """The pairs whose text is none of the test's."""
    met = {dates.to_text(source) for source in test.source}
    return train[torch.tensor([dates.to_text(source) not in met for source in train.source])]


def two_readings(source: torch.Tensor) -> torch.Tensor:
    """Which written dates can mean two days: `(batch,)`."""
    return torch.tensor([len(dates.readings(dates.to_text(text))) > 1 for text in source])


def day_first(pairs) -> torch.Tensor:
    """Dates with slashes, each read with the day first: `(batch, N_TARGET)`."""
    rows = []
    for source in pairs.source:
        day, month, year = map(int, dates.to_text(source).split("/"))
        rows.append([dates.IDS[character] for character in f"{year}-{month:02}-{day:02}"])
    return torch.tensor(rows)


def spell_digits(seed: int) -> dict:
    """Train a speller, and count what it writes right, and which letters survive another image."""
    settings = SETTINGS["digits"]
    train, test = spelling.spelled_digits()
    torch.manual_seed(seed)
    patches = ImagePatches(settings["patch"], SETTINGS["d_model"])
    model = EncoderDecoder(len(spelling.VOCABULARY), *_sizes(), embed_source=patches)
    _train(model, train, spelling.PAD, seed, steps=settings["steps"], peak_lr=settings["peak_lr"])
    names = cut_after(model.generate(test.source, spelling.N_TARGET), spelling.END, spelling.PAD)
    is_name = {tuple(row) for row in spelling.spell(torch.arange(10)).tolist()}
    generator = torch.Generator().manual_seed(0)
    swaps = [kept_letters(model, test, generator) for _ in range(settings["n_swaps"])]
    by_name = torch.stack(swaps).mean(0)  # (10, N_TARGET)
    return _rounded(
        {
            "exact": training.accuracy(names, test.target)["sequences"],
            "no_name": sum(tuple(row) not in is_name for row in names.tolist()) / len(names),
        }
    ) | {
        "kept": {
            name: [round(number, 4) for number in by_name[digit, : len(name)].tolist()]
            for digit, name in enumerate(spelling.NAMES)
        }
    }


@torch.no_grad()
def kept_letters(model, test, generator) -> torch.Tensor:
    """The share of a name's letters written right though the image shows another digit: `(10, N_TARGET)`."""
    others = [(test.labels != label).nonzero()[:, 0] for label in test.labels]
    rows = torch.stack([other[torch.randint(len(other), (), generator=generator)] for other in others])
    logits, _ = model(test.source[rows], test.target)
    right = (logits.argmax(-1) == test.target).float()
    return torch.stack([right[test.labels == digit].mean(0) for digit in range(10)])


def _rounded(numbers: dict) -> dict:
    return {name: round(number, 4) for name, number in numbers.items()}
