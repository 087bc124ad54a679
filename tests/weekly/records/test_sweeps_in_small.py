"""Every script still runs, with few steps and small sizes, and makes a record of the form that was recorded."""

import json
import re
from dataclasses import replace

import pytest
import torch
from sweeps import load
from test_records import EXPECTED, HOLDS, as_asked, asked, out_of_range, rows_of

from attention_course import tasks
from attention_course.course import recorded
from attention_course.course.checkpoints import load_character_model


class InTurn:
    """In place of a pool of processes."""

    map = staticmethod(map)

    def __init__(self, *given, **options): ...

    def __enter__(self):
        return self

    def __exit__(self, *error): ...


# What is made small wherever a script has it among its constants or in one of them, and what else is of each.
FEW = {"steps": 2, "batch": 4, "further_steps": 2, "few_steps": 2, "many_steps": 3, "threads": 1, "repeats": 1}
FEW |= {"test_examples": 50, "test_sequences": 10, "test_stores": 10, "test_sentences": 4, "test_series": 40}
FEW |= {"n_train": 70, "n_test": 60, "n_swaps": 1, "test_pairs": 5, "questions": 16, "test_questions": 80}
FEW |= {"n_pieces": 2, "n_windows": 1, "SEEDS": [0], "RATES": [0.01], "PEAK_LRS": [0.001], "PEAK_RATES": [0.01]}
KINDS = ["forward", "forward + backward", "decoded token"]
REVERSING = {"n_symbols": 4, "train_lengths": [2, 3], "test_lengths": [2, 4]}
LOOKING_BACK = {"train_length": 8, "test_length": 16}
TRANSLATOR = {"d_model": 8, "n_heads": 2}
WHOLE = ("EXPERIMENTS", "TUNING", "VARIANTS")  # dictionaries of which nothing else is kept
SMALL = {
    "bottleneck_lengths": {"LENGTHS": {"reversing": REVERSING, "sorting": REVERSING}},
    "character_model": {"SETTINGS": dict.fromkeys(("causal", "unmasked"), {"d_model": 8, "window": 16})},
    "circuits": {"MODELS": [{"n_blocks": 1}, {}], "PRUNED": {"window": 8}},
    "decay": {"SETTINGS": {"window": 32}, "PEAK_LRS": [0.01], "FEWER_SEEDS": [0]},
    "efficient_recall": {"N_PEOPLE": [5], "CHANCES": [{"mechanism": "linear", "n_people": 5, "d_model": 8}]},
    "efficient_times": {"LENGTHS": [128], "ROUNDS": {128: 1}},
    "far_reviews": {
        "poolings.SETTINGS": {},
        "WAYS": {
            "untrained encoder": [{"d_model": 8, "C": cost} for cost in (1.0, 10.0)],
            **dict.fromkeys(("one-way GRU", "dilated convolutions", "attention"), [{"peak_lr": 0.01, "steps": 2}]),
            **dict.fromkeys(("mean of word vectors", "even weights"), [{"peak_lr": 0.01, "steps": n} for n in (2, 3)]),
        },
    },
    "fine_tuned": {"SETTINGS": {"window": 32, "further_steps": [1, 2]}},
    "first_symbol": {"SETTINGS": {"places": [2, 4]}, "MODELS": [("transformer", 2), ("gru", 2)]},
    "formal_languages": {"MODELS": [(*model[:4], 3) for model in load("formal_languages").MODELS]},
    "gru_reads": {"sweep.LONGER": {"d_hidden": 8, "window": 16}, "READ": {"letters": [1, 2]}},
    "head_counts": {"EXPERIMENTS": {"one head": [{"n_heads": 2}, {"d_hidden": 8, "n_relations": 3}]}},
    "interpretability": {
        "STEPS": [2, 3],
        "EXAMPLE": ("two blocks", 0),
        "SCORE_STEPS": 3,
        "UNTRAINED_STEPS": 2,
    },
    "ladder": {
        "SETTINGS": {"orders": [1]},
        "ladder.WIDTH": 8,
        "ASKED": {"every": 1},
        "RIVALS": {},
        "TUNING_SEEDS": [1],
        "LONGER_LRS": [0.01],
        "ProcessPoolExecutor": InTurn,
    },
    "language_model": {"SETTINGS": {"steps": 4, "every": 1}, "WRITTEN": {"n_letters": 3}, "READ": {"letters": [1, 2]}},
    "layer_costs": {"LENGTHS": [192], "REPEATS": dict.fromkeys(KINDS, 1)},
    "leave_out": {
        "SETTINGS": {"window": 8},
        "BRIEFLY": {"depths": [1, 2], "peak_lrs": [0.01, 0.02], "window": 8, "unread": 100, "seeds": [0, 1]},
        "PEAK_LRS": [0.001, 0.002, 0.003, 0.004],
    },
    "length_remedies": {
        "SETTINGS": LOOKING_BACK | {"queries": [9, 15]},
        "lengths.SETTINGS": LOOKING_BACK,
        "TUNING": {"as trained": [0], "interpolated": [0, 1]},
    },
    "luong_inputs": {"SETTINGS": REVERSING | {"d_hidden": 8}},
    "many_pairs": {
        "SETTINGS": {"n_pairs": 4, "seeds": [0, 1]},
        "states.SETTINGS": {},
        "ProcessPoolExecutor": InTurn,
    },
    "modern_block": {"SETTINGS": {"window": 8, "n_layers": 1}},
    "pointing": {},
    "poolings": {"SETTINGS": {"pads": [0, 3]}},
    "position_lengths": {"SETTINGS": LOOKING_BACK | {"distance": 3}, "LONGER_STEPS": {"alibi": 3}},
    "recall": {},
    "scale_adam": {"COMMON": {"width": 16}},
    "scale_rates": {"GRID": [{"width": 16, "scaled": True, "rate": 0.02, "steps": 2}], "LONGER": []}
    | {"WIDE": 16, "STARTS": [{"drawn": "as nn.Linear", "rate": 0.02}], "STEPS": 2},
    "second_copy": {
        "SETTINGS": {"copied": 4, "test_texts": 5},
        "MODELS": [("three blocks", 2), ("GRU, three blocks", 3)],
        "ProcessPoolExecutor": InTurn,
    },
    "sorting_rates": {"SETTINGS": REVERSING | {"d_hidden": 8, "test_lengths": [4]}},
    "states": {
        "SETTINGS": {"peak_lrs": [0.01], "text": {"batch": 2, "n_tokens": 32}},
        "N_PAIRS": 8,
        "POSITIONS": ["rotated"],
        "SEEDS": [0, 1],
        "ProcessPoolExecutor": InTurn,
    },
    "switched_off": {"SETTINGS": {"length": 8}},
    "tables": {
        "ROWS": [40],
        "TEST_ROWS": 50,
        "WAYS": dict.fromkeys(("attention", "no attention", "MLP"), [{"peak_lr": 0.01, "steps": 2}]),
    },
    "transformer_depth": {"SETTINGS": {"n_layers": 2, "last_steps": 2}, "XAVIER_RATES": [0.001]},
    "translation": {},
    "translator": {"SETTINGS": TRANSLATOR | {"steps": 4, "recorded_at": [2, 4]}},
    "translator_seeds": {
        "SETTINGS": {"steps": 10, "searched_at": [5, 10], "every": 5, "widths": [1, 2]}
        | TRANSLATOR
        | {"searched_whole": 2, "seeds": [0]},
    },
    "uptraining": {"SETTINGS": {"d_model": 16, "n_tokens": 32}},
    "vision": {"DIGITS": {"sizes": [8, 2, 1]}, "TUNING_SEEDS": [1]},
}

# What holds of what has learned nothing yet: where a name's numbers lie, and what else.
BOUNDS = {
    "character_model": ("bits", 5, 9),
    "decay": ("bits", 4, 9),
    "efficient_recall": ("right", 0, 0.6),
    "fine_tuned": ("bits", 4, 9),
    "interpretability": ("accuracy", 0, 0.9),
    "ladder": ("bits", 2, 9),
    "leave_out": ("bits", 4, 9),
    "modern_block": ("bits", 5, 14),
    "states": ("bits", 4, 12),
    "transformer_depth": ("loss", 1.5, 4.5),
    "translator": ("loss", 4, 9),
    "uptraining": ("after", 4, 12),
}


def over(old, new):
    """A constant with what is said in place of what it held, and little of the rest."""
    few = {name: FEW.get(name, over(one, {}) if isinstance(one, dict) else one) for name, one in old.items()}
    return few | {name: over(old[name], one) if isinstance(one, dict) else one for name, one in new.items()}


@pytest.fixture
def made(monkeypatch):
    """What a script makes in small, as it would be recorded."""
    threads, help_pages = torch.get_num_threads(), tasks.python_help()
    short = replace(help_pages, validation=help_pages.validation[: help_pages.validation.numel() // 10])
    monkeypatch.setattr(tasks, "python_help", lambda: short)

    def make(name):
        script = load(name)
        constants = {
            constant: {} for constant, held in vars(script).items() if constant.isupper() and isinstance(held, dict)
        }
        few = {constant: FEW[constant] for constant in FEW.keys() & vars(script).keys()}
        for constant, change in (constants | few | SMALL[name]).items():
            *owner, attribute = constant.split(".")
            holder = getattr(script, owner[0]) if owner else script
            whole = not isinstance(change, dict) or attribute in WHOLE and change
            monkeypatch.setattr(holder, attribute, change if whole else over(getattr(holder, attribute), change))
        return json.loads(json.dumps(script.run()))

    yield make
    torch.set_num_threads(threads)


def form(value):
    """The names in it; any number in a name is 0."""
    if isinstance(value, dict):
        return frozenset((re.sub(r"\d+", "0", name), form(each)) for name, each in value.items())
    return frozenset(map(form, value)) if isinstance(value, list) else None


def forms(table, wanted):
    """Which forms the rows of a table have, by what they are rows of: the words among what was asked for."""
    names = sorted(set().union(*wanted))
    found = set()
    for row in rows_of(table):
        words = [(name, row[name]) for name in names if name in row and isinstance(row[name], str | bool | None)]
        found.add((re.sub(r"\d+", "0", str(words)), form(row)))
    return found


@pytest.mark.parametrize("name", SMALL)
def test_a_script_still_makes_a_record_of_the_recorded_form(made, name):
    of_recorded_model = name in ("language_model", "switched_off")
    if of_recorded_model and tasks.python_help().vocabulary != load_character_model("causal")[1]:
        pytest.skip("this Python's help pages are others")
    found, record = made(name), recorded.load(name)
    settings, tables = asked(name, found)
    assert found.get("settings") == json.loads(json.dumps(settings))
    assert found.keys() == record.keys() - {"machine", "date"} and not out_of_range(found)
    for part in found.keys() - {"settings"}:
        wanted = tables.get(part)
        if isinstance(wanted, list):
            assert as_asked(found[part], wanted) == wanted
            assert forms(found[part], wanted) <= forms(record[part], wanted)
        else:
            assert form(found[part]) == form(record[part])
    if name in BOUNDS:
        what, low, high = BOUNDS[name]
        rows = [row for part in tables for row in rows_of(found[part])]
        numbers = [row[what] for row in rows if what in row]
        assert numbers and all(low <= number <= high for number in numbers)
    if name in HOLDS:
        HOLDS[name](found["results"])


def test_every_script_is_run():
    assert SMALL.keys() == EXPECTED.keys()
