"""Each record in attention_course/course/recorded is of the settings that its script has, whole, and in its range."""

import math
from functools import partial
from itertools import product, zip_longest
from operator import itemgetter
from unittest.mock import ANY

import pytest
from sweeps import FOLDER, load

from attention_course.course import recorded

# What each record should say: settings, and of each table the rows, in order, as far as they were asked for. ----------


def every(**choices):
    """A row for every combination, the last choice varied first."""
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def named(names, models, seeds):
    """Rows of models, given by values alone, each with every seed."""
    return [dict(zip((*names, "seed"), (*model, seed), strict=True)) for model in models for seed in seeds]


def changed(common, changes):
    return [common | change for change in changes]


def varied(names, common, changes, seeds):
    """The same of models that differ from what is common to all, as far as it is varied."""
    return named(names, [[model[name] for name in names] for model in changed(common, changes)], seeds)


def lists(of, *names):
    """Lists, as long as another, of whatever came of it."""
    return dict.fromkeys(names, [ANY] * len(of))


def then_the_best(record, choose, tried, others):
    """Rows that were tried first, and others that are made like the best of them."""
    best = choose([row for row in record["results"] if any(one.items() <= row.items() for one in tried)])
    return tried + [{name: best[name] for name in tried[0]} | other for other in others]


fewest_bits = partial(min, key=lambda row: math.inf if row["bits"] is None else row["bits"])
least_loss = partial(min, key=lambda row: math.inf if row["loss"] is None else row["loss"])
most_right = partial(max, key=itemgetter("right"))


def rows_of_fine_tuned(s, record):
    scratch = every(start=["scratch"], mechanism=s.FROM_SCRATCH, steps=[s.SETTINGS["steps"]])
    further = every(start=["exact"], mechanism=s.MECHANISMS, steps=[0, *s.SETTINGS["further_steps"]])
    rates = {"scratch": s.SETTINGS["peak_lrs"], "exact": s.SETTINGS["further_lrs"]}
    rows = []
    for same in scratch + further:
        rate = rates[same["start"]] if same["steps"] else [0.0]
        tried = [same | way for way in every(peak_lr=rate, seed=s.SEEDS[:1])]
        rows += then_the_best(record, fewest_bits, tried, every(seed=s.SEEDS[1:]))
    return s.SETTINGS, rows


def rows_of_formal_languages(s, record):
    windows = range(s.SETTINGS["test_length"] // s.SETTINGS["window"])
    tried, results = [], []
    for which in named(("task", "model", "blocks", "rotary", "steps"), s.MODELS, [s.TUNING_SEED]):
        tried += [which | {"peak_lr": rate, "bits": ANY} for rate in s.PEAK_LRS]
        best = {"peak_lr": s.best_rate(record["tried"], which)}
        results += [which | best | {"seed": seed} | lists(windows, "accuracy", "bits") for seed in s.SEEDS]
    return s.SETTINGS | {"seeds": s.SEEDS, "peak_lrs": s.PEAK_LRS}, {"tried": tried, "results": results}


def many_pairs(s, record):
    of, first, more = s.SETTINGS, [], []
    for name in of["mechanisms"]:
        tried = every(mechanism=[name], peak_lr=of["peak_lrs"], seed=of["seeds"][:1])
        first += tried
        more += then_the_best(record, most_right, tried, every(seed=of["seeds"][1:]))[len(tried) :]
    return of, first + more


def position_lengths(s, record):
    def at_best(method, start_symbol):
        same = {"method": [method], "start_symbol": [start_symbol], "distance": [s.SETTINGS["distance"]]}
        same["steps"] = [s.SETTINGS["steps"]]
        tried = every(**same, peak_lr=s.PEAK_LRS, seed=s.SEEDS[:1])
        return then_the_best(record, least_loss, tried, every(seed=s.SEEDS[1:]))

    rows = [row for method in s.METHODS for row in at_best(method, True)]
    for method in s.WITHOUT_START:
        rows += at_best(method, False)
        best = rows[-1]
        rows += [best | row for row in every(distance=s.OTHER_DISTANCES.get(method, []), seed=s.SEEDS)]
        rows += [best | row for row in every(peak_lr=s.HIGHER_LRS.get(method, []), seed=s.SEEDS)]
        if method in s.LONGER_STEPS:
            rows += [best | row for row in every(steps=[s.LONGER_STEPS[method]], seed=s.SEEDS)]
    return s.SETTINGS | {"longer_steps": s.LONGER_STEPS, "peak_lrs": s.PEAK_LRS, "seeds": s.SEEDS}, rows


def rows_of_ladder(s, record):
    settings = s.SETTINGS | {"rivals": s.RIVALS, "asked": s.ASKED, "peak_lrs": s.PEAK_LRS, "seeds": s.SEEDS}
    settings["longer"] = s.LONGER
    rates = {name: s.best_rate(record["tried"], name) for name in s.MODELS}
    return settings, {
        "counts": every(order=s.SETTINGS["orders"]),
        "tried": every(model=s.MODELS, peak_lr=s.PEAK_LRS, seed=s.TUNING_SEEDS),
        "results": [row | {"peak_lr": rates[row["model"]]} for row in every(model=s.MODELS, seed=s.SEEDS)],
        "longer": every(peak_lr=s.LONGER_LRS),
        "times": every(model=s.TIMED),
        "best_rates": [{"name": name} for name in s.MODELS],
    }


def rows_of_leave_out(s, record):
    settings = s.SETTINGS | {"changes": s.CHANGES, "briefly": s.BRIEFLY, "seeds": s.SEEDS}
    settings |= {"peak_lrs": s.PEAK_LRS, "tuning_seeds": s.TUNING_SEEDS}
    names = ("model", "peak_lr", "seed")
    known = {tuple(row[name] for name in names): row for row in record["tried"]}
    tried = [row for name in s.CHANGES for row in s.choose_rate(name, lambda *job: known[job])]
    rates = {name: s.best_rate(record["tried"], name) for name in s.CHANGES}
    brief = {"n_blocks": s.BRIEFLY["depths"], "norms": [True, False], "peak_lr": s.BRIEFLY["peak_lrs"]}
    return settings, {
        "briefly": every(**brief, seed=s.BRIEFLY["seeds"]),
        "tried": [{name: row[name] for name in names} for row in tried],
        "best_rates": [{"name": name, "value": rate} for name, rate in rates.items()],
        "results": [row | {"peak_lr": rates[row["model"]]} for row in every(model=s.CHANGES, seed=s.SEEDS)],
    }


def rows_of_far_reviews(s, record):
    jobs = [(name, False) for name in s.NEAR] + [(name, True) for name in s.WAYS]
    best = {(name, far): s.best_way(record["tried"], name, far) for name, far in jobs}
    several = [(name, far) for name, far in jobs if len(s.WAYS[name]) > 1]
    tried = [{"model": name, "far": far, "seed": s.TUNING_SEED} | way for name, far in several for way in s.WAYS[name]]
    results = [{"model": name, "far": far, "seed": seed} | best[name, far] for name, far in jobs for seed in s.SEEDS]
    settings = s.SETTINGS | {"ways": s.WAYS, "near": s.NEAR, "seeds": s.SEEDS, "tuning_seed": s.TUNING_SEED}
    return settings, {"tried": tried, "results": results}


def rows_of_second_copy(s, record):
    rates = {model: s.best_rate(record["tried"], *model) for model in s.MODELS}
    names, places = ("model", "steps", "peak_lr"), range(2 * s.SETTINGS["copied"] - 1)
    return s.SETTINGS | {"peak_lrs": s.PEAK_LRS, "seeds": s.SEEDS}, {
        "tried": named(names, [(*model, rate) for model in s.MODELS for rate in s.PEAK_LRS], [s.TUNING_SEED]),
        "results": named(names, [(*model, rate) for model, rate in rates.items()], s.SEEDS),
        "by_place": [{"model": name, "steps": steps} | lists(places, "bits") for name, steps in s.MODELS],
    }


def rows_of_states(s, record):
    rates, others, rows = s.SETTINGS["peak_lrs"], every(seed=s.SEEDS[1:]), []
    few, many = ({"steps": s.SETTINGS[steps], "seed": s.SEEDS[0]} for steps in ("few_steps", "many_steps"))
    for job in every(task=["recall"], n_pairs=[s.N_PAIRS]) + every(task=["changing", "text"]):
        text, told = job["task"] == "text", {} if job["task"] == "recall" else {"positions": s.POSITIONS}
        choose = fewest_bits if text else most_right
        for name in s.MECHANISMS:
            short = [job | {"mechanism": name} | way | few for way in every(peak_lr=rates, **told)]
            each = [[way for way in short if way["positions"] == told] for told in s.POSITIONS] if text else [short]
            longer = [then_the_best(record, choose, ways, [many])[-1] for ways in each]
            if text:
                best = then_the_best(record, choose, longer, [{}])[-1]
                longer += [best | {"peak_lr": rate} for rate in rates if rate != best["peak_lr"]]
            rows += then_the_best(record, choose, short, others) + then_the_best(record, choose, longer, others)
    return s.SETTINGS, rows


def rows_of_tables(s, record):
    settings = s.SIZES | s.TRAINING | {"n_sensors": s.N_SENSORS, "rows": s.ROWS, "ways": s.WAYS}
    each = every(rows=s.ROWS, model=s.WAYS)
    best = [(job, s.best_way(record["tried"], job["model"], job["rows"])) for job in each]
    return settings | {"test": [s.TEST_ROWS, s.TEST_SEED]}, {
        "tried": [job | {"seed": s.TUNING_SEED} | way for job in each for way in s.WAYS[job["model"]]],
        "results": [job | {"seed": seed} | way for job, way in best for seed in s.SEEDS],
    }


def rows_of_vision(s, record):
    settings = s.DIGITS | {"models": s.MODELS, "peak_lrs": s.PEAK_LRS, "seeds": s.SEEDS}
    rates = {name: s.best_rate(record["tried"], name) for name in s.MODELS}
    return settings | {"erased": s.ERASED, "draws": s.DRAWS}, {
        "tried": every(model=s.MODELS, peak_lr=s.PEAK_LRS, seed=s.TUNING_SEEDS),
        "best_rates": [{"name": name, "value": rate} for name, rate in rates.items()],
        "results": [row | {"peak_lr": rates[row["model"]]} for row in every(model=s.MODELS, seed=s.SEEDS)],
    }


def uptraining(s, record):
    def of_seed(seed, chosen):
        trained = every(seed=[seed], way=[f"{s.SETTINGS[name]} pairs" for name in ("n_heads", "n_pairs")])
        return trained + [row for way in s.WAYS for row in every(seed=[seed], way=[way], lr=chosen(way))]

    first = of_seed(s.SEEDS[0], lambda way: s.SETTINGS["further_lrs"])
    tried = record["results"][: len(first)]
    return s.SETTINGS, first + [
        row for seed in s.SEEDS[1:] for row in of_seed(seed, lambda way: [s.best_lr(tried, way)])
    ]


EXPECTED = {
    "bottleneck_lengths": lambda s, _: (
        {name: settings | s.COMMON for name, settings in s.LENGTHS.items()},
        every(experiment=s.LENGTHS, attention=s.ATTENTIONS, seed=s.SEEDS),
    ),
    "character_model": lambda s, _: (
        None,
        {"models": [{"name": name, "settings": settings} for name, settings in s.SETTINGS.items()]},
    ),
    "circuits": lambda s, _: (
        s.COMMON,
        {"results": varied(s.VARIED, s.COMMON, s.MODELS, s.SEEDS), "shown": s.SHOWN, "pruning": s.PRUNED},
    ),
    "decay": lambda s, _: (s.SETTINGS, s.wanted()),
    "efficient_recall": lambda s, _: (
        s.COMMON,
        varied(
            ("mechanism", "n_people", "d_model", "steps"),
            s.COMMON,
            every(mechanism=s.MECHANISMS, n_people=s.N_PEOPLE) + s.CHANCES + s.ONE_PROJECTION,
            s.SEEDS,
        ),
    ),
    "efficient_times": lambda s, _: (s.SETTINGS, every(n_tokens=s.LENGTHS, mechanism=s.MECHANISMS)),
    "far_reviews": rows_of_far_reviews,
    "fine_tuned": rows_of_fine_tuned,
    "first_symbol": lambda s, _: (
        s.SETTINGS | {"seeds": s.SEEDS},
        [
            row | lists(s.SETTINGS["places"], "accuracy", "bits", "moved")
            for row in named(("model", "steps"), s.MODELS, s.SEEDS)
        ],
    ),
    "formal_languages": rows_of_formal_languages,
    "head_counts": lambda s, _: (
        s.COMMON,
        [
            {"experiment": name} | row
            for name, models in s.EXPERIMENTS.items()
            for row in varied(s.VARIED, s.COMMON, models, s.SEEDS)
        ],
    ),
    "interpretability": lambda s, record: (
        s.SETTINGS | {"models": {name: list(model) for name, model in s.MODELS.items()}, "seeds": s.SEEDS},
        {
            "models": every(model=s.MODELS, seed=s.SEEDS),
            "results": every(
                model=s.MODELS,
                seed=s.SEEDS,
                method=[*record["examples"]["same"]["scores"], "the two coins", "chance"],
            ),
        },
    ),
    "gru_reads": lambda s, _: (s.SETTINGS | {"read": s.READ}, every(letters=s.READ["letters"])),
    "ladder": rows_of_ladder,
    "language_model": lambda s, _: (
        s.SETTINGS | s.WRITTEN | {"window": 128, "batch": 16, "read": s.READ},
        {"results": every(model=[s.STEP] * 5 + ["front page"]), "read": every(letters=s.READ["letters"])},
    ),
    "layer_costs": lambda s, _: (s.SETTINGS, every(n_tokens=s.LENGTHS, mechanism=s.MECHANISMS)),
    "leave_out": rows_of_leave_out,
    "length_remedies": lambda s, _: (
        s.SETTINGS | {"seeds": s.SEEDS, "tuning_steps": s.TUNING},
        {
            "hidden": every(method=s.HIDDEN, seed=s.SEEDS),
            "turned": [
                {"seed": seed, "way": way, "steps": step}
                for seed, way in product(s.SEEDS, s.TUNING)
                for step in s.TUNING[way]
            ],
            "farthest": every(seed=s.SEEDS, query=s.SETTINGS["queries"]),
        }
        | dict.fromkeys(("clipped", "scores"), every(seed=s.SEEDS)),
    ),
    "luong_inputs": lambda s, _: (s.SETTINGS, every(extra=s.EXTRAS, seed=s.SEEDS)),
    "many_pairs": many_pairs,
    "modern_block": lambda s, _: (
        s.SETTINGS | {"variants": s.VARIANTS, "peak_rates": s.PEAK_RATES, "seeds": s.SEEDS},
        every(variant=s.VARIANTS, rate=s.PEAK_RATES, seed=s.SEEDS),
    ),
    "pointing": lambda s, _: (s.SETTINGS, every(model=s.MODELS, seed=s.SEEDS)),
    "poolings": lambda s, _: (s.SETTINGS, named(("pooling", "causal", "masked"), s.MODELS, s.SEEDS)),
    "position_lengths": position_lengths,
    "recall": lambda s, _: (
        s.SETTINGS | {"seeds": s.SEEDS},
        [row | lists(s.SEEDS, "recalled") for row in every(kind=s.KINDS, rate=s.RATES)],
    ),
    "scale_adam": lambda s, _: (
        s.COMMON | {"seeds": s.SEEDS},
        [row | lists(s.SEEDS, "accuracy") for row in every(scaled=(True, False), rate=s.RATES)],
    ),
    "scale_rates": lambda s, _: (
        {"store": s.STORE, "reversing": s.REVERSING | {"test_length": s.REVERSED_LENGTH}},
        {
            "store": [run | {"seed": seed} for run in s.GRID + s.LONGER for seed in s.SEEDS],
            "starts": [start | {"seed": seed} for start in s.STARTS for seed in s.SEEDS],
            "reversing": every(scaled=(True, False), seed=s.SEEDS),
        },
    ),
    "second_copy": rows_of_second_copy,
    "sorting_rates": lambda s, _: (
        s.SETTINGS,
        every(attention=[None, "additive", "general", "concat"], rate=s.RATES, seed=s.SEEDS),
    ),
    "states": rows_of_states,
    "switched_off": lambda s, _: (
        s.SETTINGS,
        {"models": [{"name": name} | s.SETTINGS for name in ("causal", "unmasked")]},
    ),
    "tables": rows_of_tables,
    "transformer_depth": lambda s, _: (
        s.SETTINGS | {"warm_ups": s.WARM_UPS, "rates": s.RATES, "seeds": s.SEEDS, "xavier_rates": s.XAVIER_RATES},
        {
            "results": every(norm_first=(True, False), warm_up=s.WARM_UPS, rate=s.RATES, seed=s.SEEDS),
            "xavier_results": every(norm_first=(True, False), rate=s.XAVIER_RATES, seed=s.SEEDS),
        },
    ),
    "translation": lambda s, _: (s.SETTINGS, every(withheld=(False, True), seed=s.SEEDS)),
    "translator": lambda s, _: (s.SETTINGS, {"models": every(name=map(str, s.SETTINGS["recorded_at"]))}),
    "translator_seeds": lambda s, _: (s.SETTINGS, every(seed=s.SETTINGS["seeds"])),
    "uptraining": uptraining,
    "vision": rows_of_vision,
}


def asked(name, record):
    """The settings that a record should name, and by table its rows as far as they were asked for."""
    settings, rows = EXPECTED[name](load(name), record)
    return settings, rows if isinstance(rows, dict) else {"results": rows}


def rows_of(table):
    """The rows of a table; where each has a name, the name is in them."""
    if isinstance(table, list):
        return table
    return [{"name": name} | (row if isinstance(row, dict) else {"value": row}) for name, row in table.items()]


def as_asked(found, wanted):
    """What was found, as far as it was asked for."""
    if isinstance(wanted, list):
        return [as_asked(row, one) for row, one in zip_longest(rows_of(found), wanted, fillvalue={})]
    return {name: found.get(name) for name in wanted}


# In its range ---------------------------------------------------------------------------------------------------------

BELOW_ZERO = {"log_p", "means", "score"}  # may be
SHARES = {"accuracy", "accuracy_near", "alarms", "alarms_blank", "alarms_removed", "alarms_swapped", "alignment_error"}
SHARES |= {"all_right", "blanked", "chance", "changed", "exact", "exact_withheld", "forgotten"}
SHARES |= {"found_different", "found_same", "hits", "mixed", "moved", "on them"}
SHARES |= {"others_blind", "question_blind", "recalled", "relations", "removed", "right", "right when padded", "share"}
FALLS = ("comprehensiveness_different", "comprehensiveness_same", "sufficiency_different", "sufficiency_same")
BELOW_ZERO |= {"order", *FALLS}
SHARES |= {"order", *FALLS, "sequences", "symbols", "tried", "unchanged", "validation", "weight"}


def out_of_range(value, name=""):
    """Numbers that cannot be, but for settings, with their names; a share is no whole number."""
    if name == "settings":
        return []
    if isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else ((name, each) for each in value)
        return [wrong for name, each in inside for wrong in out_of_range(each, name)]
    if not isinstance(value, int | float):
        return []
    largest = 1 if name in SHARES and isinstance(value, float) else math.inf
    right = math.isfinite(value) and value <= largest and (value >= 0 or name in BELOW_ZERO)
    return [] if right else [(name, value)]


def test_every_script_has_a_record():
    assert {file.stem for file in FOLDER.glob("[!_]*.py")} == set(EXPECTED)
    found = {file.stem for file in FOLDER.parents[1].glob("attention_course/course/recorded/*.json")}
    assert found == {*EXPECTED, "for_real"}  # the last of `make real` (tests/package/test_real.py)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_record_is_of_its_settings_whole_and_in_range(name):
    record = recorded.load(name)
    settings, tables = asked(name, record)
    assert record["machine"] and record["date"] and record.get("settings") == settings
    for part, rows in tables.items():
        assert as_asked(record[part], rows) == rows, part
    assert not out_of_range(record)
    if name in HOLDS:
        HOLDS[name](record["results"])


# What holds of each record, also of one that was made with few steps --------------------------------------------------


def fine_tuned(results):
    """Exact attention in its own place is what it was."""
    alone = [run for run in results if (run["mechanism"], run["start"]) == ("exact", "scratch")]
    in_its_place = [run for run in results if (run["mechanism"], run["start"], run["steps"]) == ("exact", "exact", 0)]
    assert in_its_place
    for run in in_its_place:
        assert run["bits"] == min(each["bits"] for each in alone if each["seed"] == run["seed"])


def poolings(results):
    """Without pads a mask has nothing to hide."""
    for run in results:
        for name in ("forgotten", "forgotten in the pooling") if run["pooling"] == "mean" else ():
            assert run[name][0] == pytest.approx(run["right"], abs=0.04)


def states(results):
    """There are as many letters that change as others."""
    for run in results:
        if run["task"] == "changing":
            assert run["right"] == pytest.approx((run["changed"] + run["unchanged"]) / 2, abs=2e-4)


HOLDS = {check.__name__: check for check in (fine_tuned, poolings, states)}


# What follows from a record, or should --------------------------------------------------------------------------------


def results_of(name, **wanted):
    return [row for row in recorded.load(name)["results"] if wanted.items() <= row.items()]


def test_pruning_removes_every_head_once_and_ends_at_the_same_cost_in_every_order():
    pruning = recorded.load("circuits")["pruning"]
    assert sorted(map(tuple, pruning["order"])) == list(product(range(3), range(4)))
    curves = [pruning["least_missed"], *pruning["at_random"]]
    assert len({(len(curve), curve[0], curve[-1]) for curve in curves}) == 1


def test_exact_attention_recalls_in_every_crowd():
    """What the others lose is then theirs to lose: the task, the model and the training are good enough."""
    assert min(run["right"] for run in results_of("efficient_recall", mechanism="exact")) > 0.98


def test_what_is_compared_has_as_many_parameters():
    for n in (1, 2, 4):
        assert len({run["parameters"] for run in results_of("head_counts", experiment="heads", n_relations=n)}) == 1
    counts = {run["model"]: run["parameters"] for run in results_of("vision")}
    assert counts["convolutions"] == pytest.approx(counts["as on the page"], rel=0.15)


def test_the_examples_are_a_drawer_of_equal_coins_and_one_of_different_coins():
    for name, example in recorded.load("interpretability")["examples"].items():
        coins = {word for word, decides in zip(example["words"], example["gold"], strict=True) if decides}
        assert len(coins) == {"same": 1, "different": 2}[name]


def test_what_a_model_writes_while_it_learns_is_by_the_step_of_the_ladder():
    """The same training as in the record of the ladder, at the same moments."""
    *learning, front_page = results_of("language_model")
    first = results_of("ladder", model="three blocks", seed=0)[0]
    assert [row["bits"] for row in learning] == pytest.approx(first["bits_by_step"], abs=0.02)
    assert [row["step"] for row in learning] == [0, 100, 200, 300, 400]
    assert front_page["bits"] == recorded.load("character_model")["models"]["causal"]["bits"]


def test_the_bytes_of_the_caches_are_those_of_their_layers():
    """32-bit numbers: keys and values of all tokens, or of those in sight; a matrix a head; and the indexer's keys."""
    of = recorded.load("layer_costs")["settings"]
    held = {"window with sinks": 4 * 2 * (of["window"] + of["n_sinks"]) * of["d_model"], "linear": None}
    held |= dict.fromkeys(("decay", "gate", "delta", "gated delta"), 4 * of["d_model"] ** 2 / of["n_heads"])
    for run in results_of("layer_costs"):
        keys_and_values = 4 * 2 * run["n_tokens"] * of["d_model"]
        all_held = held | {"softmax": keys_and_values, "top-k": keys_and_values + 4 * run["n_tokens"] * 16}
        assert run["cache bytes"] == all_held[run["mechanism"]]
