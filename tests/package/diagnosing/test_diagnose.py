"""A diagnosis names real bugs, raises no false alarm, and does not guess."""

import json
import re
import subprocess
import sys
from functools import partial
from operator import attrgetter
from pathlib import Path

import bugs
import kept_aside
import pytest
import torch
import torch.nn.functional as F
import unseen
from cases import FusedHeads, Heads
from choosing import first_of_each, weekly
from right import FURTHER, ONCE_WRONG, RIGHT, LooksAhead, Masked, NormedQueries, OwnContext, RootMeanSquareNormed
from torch import nn

from attention_course.diagnosing.diagnose import QUESTIONS, _load, diagnose, main
from attention_course.diagnosing.findings import LESSONS, ORDER
from attention_course.exercises import chapter_exercises

CASES = [*bugs.CASES, *kept_aside.CASES, *unseen.CASES]
ALL_RIGHT = [*ONCE_WRONG, *RIGHT, *map(weekly, FURTHER)]
NAMES = [name for name, _, _ in [*ONCE_WRONG, *RIGHT, *FURTHER]]
UNNAMED = {  # what no input decides: two conventions, one head for four, a scale that nobody told
    "heads interleaved",
    "heads averaged",
    "one head",
}
MISTAKES = [
    (exercise, misconception)
    for chapter in ("scaled_dot_product", "multi_head")
    for exercise in [chapter_exercises(chapter)[f"{chapter}.attention"]]
    for misconception in exercise.misconceptions
]
CHAPTERS = Path(__file__).parents[3] / "chapters"
BROKEN = """
import torch


def attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1.0)
    return scores.softmax(-1) @ value
"""


OPTIONS = """
import torch.nn.functional as F
from torch.nn import MultiheadAttention


def right(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, mask)


def unscaled(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, mask, scale=1.0)
"""


CONFIG = """
@dataclasses.dataclass
class Config:
    width: int = 32
"""


class Layer(FusedHeads):
    """A right layer of four heads whose parts can be made wrong."""

    def __init__(self, d_model=32, n_heads=4, *, fill=None, hides=False):
        super().__init__(d_model, n_heads)
        self.fill, self.hides = fill, hides

    def forward(self, x, mask=None):
        query, key, value = self.split(x)
        scores = query @ key.mT / query.size(-1) ** 0.5
        if mask is not None:
            fill = torch.finfo(scores.dtype).min if self.fill is None else self.fill
            scores = scores.masked_fill(mask if self.hides else ~mask, fill)
        return self.join(scores.softmax(-1) @ value)


def plain(query, key, value):
    return (query @ key.transpose(-2, -1) / query.size(-1) ** 0.5).softmax(-1) @ value


def unscaled(query, key, value):
    return (query @ key.transpose(-2, -1)).softmax(-1) @ value


@pytest.mark.parametrize("case", first_of_each(attrgetter("finding"), CASES), ids=lambda case: case.name)
def test_a_reported_bug_is_named_first(case):
    report = diagnose(case.make(), **case.told)
    assert report.wrong and report.wrong[0].name == case.finding, str(report)
    assert report.unasked == {}
    assert report.seems.endswith(" and a cache") or case.finding not in ("cache", "positions_restart")


@pytest.mark.parametrize(("name", "make", "told"), ALL_RIGHT, ids=NAMES)
def test_a_right_attention_raises_no_alarm(name, make, told):
    try:
        attention = make()
    except ImportError as error:
        pytest.skip(f"{name}: {error}")
    if torch.__version__.startswith("2.5.") and name.startswith("PyTorch's encoder"):
        pytest.skip("PyTorch 2.5's encoder fails under autocast on a CPU")
    report = diagnose(attention, **told)
    assert report.wrong == [] and report.unasked == {}, str(report)


class Sharp(FusedHeads):
    """Large weights, as training leaves them: of tokens as large as these, most get nothing but rounding."""

    def __init__(self, scale, d_model=32, n_heads=4):
        super().__init__(d_model, n_heads)
        self.scale = scale
        with torch.no_grad():
            self.qkv_proj.weight[: 2 * d_model] *= 16

    def forward(self, x):
        q, k, v = self.split(x)
        return self.join((q @ k.mT * self.scale).softmax(-1, dtype=torch.float32).to(x.dtype) @ v)


@pytest.mark.parametrize("seed", range(3))
def test_what_rounding_has_hidden_is_not_taken_for_a_mask(seed):
    torch.manual_seed(seed)
    assert diagnose(Sharp(scale=8**-0.5)) == []
    assert [finding.name for finding in diagnose(Sharp(scale=32**-0.5))] == ["scale"]


class HidesItself(FusedHeads):
    """Its causal mask hides the diagonal, too; with a finite fill the first token then sees all."""

    def forward(self, x):
        q, k, v = self.split(x)
        seen = torch.ones(x.size(1), x.size(1)).tril(-1) == 1
        return self.join((q @ k.mT / self.d_head**0.5).masked_fill(~seen, -1e9).softmax(-1) @ v)


def test_a_first_token_that_may_see_nothing_sees_all():
    report = diagnose(HidesItself())
    (found,) = (finding for finding in report.wrong if finding.name == "future")
    assert "the first token sees all others" in found.sentence


class ForgetsThePast(nn.Module):
    """One head, which takes any leading dimensions; its causal mask stands in the wrong corner."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(32, 96)

    def forward(self, x, past=None):
        query, key, value = self.qkv(x).chunk(3, -1)
        if past is not None:
            key, value = torch.cat([past[0], key], 1), torch.cat([past[1], value], 1)
        seen = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool).tril()
        weights = (query @ key.mT / 32**0.5).masked_fill(~seen, -1e4).softmax(-1)
        return weights @ value, (key, value)


class IgnoresItsMask(Masked):
    def forward(self, x, causal_mask=None):
        return self.attend(x)


class IgnoresAllOthers(Masked):
    def forward(self, x, mask=None):
        return self.o_proj(x)


class FlagOneTooFar(Masked):
    def forward(self, x, mask=False):
        seen = torch.ones(2 * x.shape[1:2], dtype=torch.bool)
        return self.attend(x, seen.tril(1) if mask else seen)


class Unscaled(Heads):
    def forward(self, x):
        query, key, value = self.split(x)
        return self.join(F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=1.0))


class IgnoresItsFlag(Masked):
    def forward(self, x, is_causal=False):
        return self.attend(x)


class IgnoresItsFlagBesideAMask(Masked):
    """As a hint that the mask which is given is causal, this is what PyTorch does, too."""

    def forward(self, x, mask=None, is_causal=False):
        return self.attend(x, mask)


class OnlyAddsItsMask(Masked):
    """Booleans count as 0 and 1."""

    def forward(self, x, mask=None):
        q, k, v = self.split(x)
        scores = q @ k.mT / 8**0.5
        return self.join((scores if mask is None else scores + mask).softmax(-1) @ v)


class KeysByReshape(Masked):
    """A reshape in place of a transposition mixes the keys' rows in every head alike."""

    def forward(self, x):
        q, k, v = self.split(x)
        return self.join((q @ k.reshape(len(x), 4, 8, -1) / 8**0.5).softmax(-1) @ v)


class CutsOffItsKeys(Masked):
    def forward(self, x):
        q, k, v = self.split(x)
        return self.join((q @ k.detach().mT / 8**0.5).softmax(-1) @ v)


class HeadsAmongThemselves(Masked):
    """The heads were not brought to the front of the tokens: each token's heads attend to one another."""

    def forward(self, x):
        q, k, v = (part.transpose(1, 2) for part in self.split(x))
        return self.join(F.scaled_dot_product_attention(q, k, v).transpose(1, 2))


@pytest.mark.parametrize(
    ("make", "told", "finding"),
    [
        (HeadsAmongThemselves, {}, "tokens_alone"),
        (IgnoresItsFlag, {}, "future"),
        (IgnoresItsFlagBesideAMask, {"causal": True}, "future"),
        (OnlyAddsItsMask, {"mask_means": "attend"}, "hidden_keys"),
        (KeysByReshape, {}, "heads_cut"),
        (CutsOffItsKeys, {}, "no_gradient"),
        (ForgetsThePast, {}, "cache"),
        (IgnoresItsMask, {}, "mask_no_effect"),
        (IgnoresAllOthers, {}, "mask_no_effect"),
        (FlagOneTooFar, {}, "future"),
        (Unscaled, {"causal": True, "scale": "1/sqrt(d)"}, "scale"),
    ],
)
def test_what_was_once_missed_is_named(make, told, finding):
    assert finding in [each.name for each in diagnose(make(), **told).wrong]


def test_a_scale_that_cannot_be_measured_is_not_asked_about():
    def additive(query, key, value):
        scores = torch.tanh(query[..., :, None, :] + key[..., None, :, :]).sum(-1)
        return scores.softmax(-1) @ value

    assert diagnose(additive).unasked == {}
    for attention in additive, NormedQueries(), RootMeanSquareNormed():
        report = diagnose(attention, scale="1/sqrt(d)")
        assert report.wrong == [] and list(report.unasked) == ["ask_scale"] and "could not be measured" in str(report)


@pytest.mark.parametrize(("exercise", "mistake"), MISTAKES, ids=[mistake.name for _, mistake in MISTAKES])
def test_a_learners_mistake_is_seen(exercise, mistake):
    """A wrong scale is a note until somebody tells the right one; what only fails elsewhere is right here."""
    assert list(diagnose(exercise.reference)) == []
    report = diagnose(mistake.function)
    fails_elsewhere = mistake.name.startswith("transpose(")
    assert bool(report) == (mistake.name not in UNNAMED and not fails_elsewhere), str(report)


def test_a_scale_is_a_note_until_one_is_told():
    (note,) = diagnose(unscaled)
    assert note.name == "scale" and note.note and "no scale" in note.sentence
    (finding,) = diagnose(unscaled, scale="1/sqrt(d)")
    assert finding.name == "scale" and not finding.note
    assert diagnose(unscaled, scale=1.0).wrong == [] == diagnose(plain, scale="1/sqrt(d)")


@pytest.mark.parametrize(("hides", "meant"), [(True, "hide"), (False, "attend")])
def test_a_mask_is_inverted_only_where_the_other_sense_was_told(hides, meant):
    layer = Layer(hides=hides)
    assert list(diagnose(layer)) == [] == list(diagnose(layer, mask_means=meant))
    (finding,) = diagnose(layer, mask_means="attend" if hides else "hide")
    assert finding.name == "mask_inverted"


def test_a_report_says_what_it_rests_on():
    assert "\n18 questions found nothing wrong, as far as they apply\n" in str(diagnose(plain))
    first, *others = str(diagnose(Layer(fill=-1.0))).splitlines()
    assert first.startswith("it seems to take one sequence")
    said = "mask, as a boolean mask in which True attends: of 1 pair it is to hide, 1 still has a say"
    assert others[0] == f"WRONG hidden_keys: {said}"
    assert others[1:] == [
        "  shown by a batch of 1 with 2 tokens of width 32",
        "  explained in chapters/masking#padding-must-not-matter",
    ]


class HidesTheFirst(Masked):
    """Where a mask is given, nobody but the first token itself sees the first."""

    def forward(self, x, mask=None):
        if mask is not None:
            mask = mask.clone()
            mask[1:, 0] = False
        return self.attend(x, mask)


def test_a_mask_that_hides_too_much_is_told_from_one_that_hides_too_little():
    (finding,) = diagnose(HidesTheFirst()).wrong
    assert finding.name == "hidden_keys"
    assert re.search(r": of [1-9] pairs? it is to show, [1-9] (has lost its|have lost their) say$", finding.sentence), (
        finding
    )


def test_how_it_seems_to_be_called_is_told():
    assert diagnose(plain).seems == "it seems to take query, key and value, (batch, heads, n, d)"
    seems = diagnose(Layer(hides=True)).seems
    assert "one sequence, (batch, n, d)" in seems and "`mask`, a boolean mask in which True hides" in seems
    seems = diagnose(nn.MultiheadAttention(32, 4)).seems
    assert "query, key and value, (n, batch, d)" in seems


def test_a_layout_that_is_told_is_kept():
    report = diagnose(nn.MultiheadAttention(32, 4), layout="(batch, n, d)")
    assert [finding.name for finding in report.wrong][0] == "batch_mixes"


def test_the_future_matters_to_what_is_told_to_be_causal():
    assert diagnose(plain).wrong == []
    assert [finding.name for finding in diagnose(plain, causal=True).wrong] == ["future"]
    causal = partial(F.scaled_dot_product_attention, is_causal=True)
    assert [finding.name for finding in diagnose(causal, causal=True).wrong] == ["mask_corner"]
    assert [(finding.name, finding.note) for finding in diagnose(causal)] == [("mask_corner", True)]


class Sink(FusedHeads):
    """One more score, of nothing: rows sum to less than 1, and are meant to."""

    def forward(self, x):
        query, key, value = self.split(x)
        scores = F.pad(query @ key.mT / 8**0.5, (0, 1))
        return self.join(scores.softmax(-1)[..., :-1] @ value)


class Convolved(Layer):
    """A short convolution before the projections: a row of a head comes from two tokens, in every head."""

    def forward(self, x, mask=None):
        return super().forward(x + F.pad(x, (0, 0, 1, 0))[:, :-1], mask)


class LeaksInTraining(Layer):
    """The causal mask is applied in evaluation mode alone."""

    def forward(self, x):
        n = x.size(1)
        may_attend = torch.ones(n, n, dtype=torch.bool)
        return super().forward(x, may_attend if self.training else may_attend.tril())


def by_hand(query, key, value):
    exponentials = (query @ key.mT / query.size(-1) ** 0.5).exp()
    return exponentials / exponentials.sum(-1, keepdim=True) @ value


def with_angles(x, start_pos, freqs_cis):
    return x


def test_what_may_be_meant_is_a_note():
    assert [(finding.name, finding.note) for finding in diagnose(Sink())] == [("rows_do_not_sum_to_1", True)]
    assert [(finding.name, finding.note) for finding in diagnose(LooksAhead())] == [("future", True)]
    assert [(finding.name, finding.note) for finding in diagnose(OwnContext())] == [("no_gradient", True)]
    assert [(finding.name, finding.note) for finding in diagnose(IgnoresItsFlagBesideAMask())] == [("future", True)]


def test_a_mask_that_is_only_added_is_right_until_a_sense_is_told():
    assert diagnose(OnlyAddsItsMask()).wrong == []


@pytest.mark.parametrize(
    "keys",
    [lambda k: k - k.mean(-2, keepdim=True), lambda k: torch.cat([k[..., :4], k[..., 4:].roll(1, -2)], -1)],
    ids=["centred", "half of them shifted"],
)
def test_keys_that_are_mixed_on_purpose_are_no_wrong_cut(keys):
    class Mixes(Masked):
        def forward(self, x):
            q, k, v = self.split(x)
            return self.join((q @ keys(k).mT / 8**0.5).softmax(-1) @ v)

    assert diagnose(Mixes()).wrong == []


def test_a_convolution_before_the_heads_is_no_wrong_cut():
    assert [finding.name for finding in diagnose(Convolved()).wrong if finding.name == "heads_cut"] == []


class CutByView(FusedHeads):
    """Of queries, keys and values some are cut by a view, and all are joined right."""

    def __init__(self, which):
        super().__init__()
        self.which = which

    def forward(self, x):
        parts = list(self.split(x))
        for place in self.which:
            parts[place] = parts[place].transpose(1, 2).reshape(len(x), 4, x.size(1), -1)
        query, key, value = parts
        may_attend = torch.ones(2 * x.shape[1:2], dtype=torch.bool).tril()
        weights = (query @ key.mT / 8**0.5).masked_fill(~may_attend, -torch.inf).softmax(-1)
        return self.join(weights @ value)


@pytest.mark.parametrize(
    ("which", "told"), [([0], "queries"), ([1], "keys"), ([2], "values"), ([0, 1, 2], "values")], ids=str
)
def test_a_wrong_cut_is_found_and_told_from_a_wrong_join(which, told):
    first = diagnose(CutByView(which)).wrong[0]
    assert first.name == "heads_cut"
    assert first.sentence.startswith(f"heads of the {told} are cut")


class HidesRows(FusedHeads):
    """True hides, along the wrong axis, and for good."""

    def forward(self, x, mask=None):
        query, key, value = self.split(x)
        scores = query @ key.mT / 8**0.5
        if mask is not None:
            scores = scores.masked_fill(mask[:, None, :, None], -torch.inf)
        return self.join(scores.softmax(-1) @ value)


@pytest.mark.parametrize("meant", [None, "hide"])
def test_a_mask_along_the_wrong_axis_is_told_without_a_sense_that_nobody_gave_it(meant):
    first = diagnose(HidesRows(), mask_means=meant).wrong[0]
    expected = "mask, of (batch, n_keys): it hides queries (rows) in place of keys (columns)"
    assert (first.name, first.sentence) == ("mask_axis", expected)


def by_sign(query, key, value):
    """Only the signs of queries count, and a sign has a gradient of 0."""
    return plain(query.sign(), key, value)


def test_a_gradient_of_zeros_is_no_gradient():
    assert [finding.sentence for finding in diagnose(by_sign).wrong] == ["the gradient of all of query is 0"]


def test_training_mode_is_asked_about_the_future():
    (finding,) = diagnose(LeaksInTraining())
    assert finding.name == "future" and finding.sentence.startswith("in training mode")


def test_large_numbers_are_tried():
    (finding,) = diagnose(by_hand)
    assert finding.name == "overflow"


def test_nothing_is_said_of_arguments_that_nobody_explained():
    with pytest.raises(ValueError, match="start_pos, freqs_cis cannot be told"):
        diagnose(with_angles)


def test_the_smallest_input_shows_it():
    layer = Layer(fill=-1.0)
    (finding,) = diagnose(layer)
    (x,) = finding.inputs
    assert (
        finding.name == "hidden_keys" and x.shape == (1, 2, 32) and finding.shown.startswith("a batch of 1 with 2 tok")
    )
    may_attend = torch.tensor([[True, False], [True, True]])
    other = x.clone()
    other[:, 1] += 1
    before, after = (layer.double()(each, may_attend)[:, 0] for each in (x, other))
    assert not torch.equal(before, after)


def test_what_is_diagnosed_stays_as_it_was():
    layer = Layer(fill=-1.0).train()
    before = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    diagnose(layer)
    assert layer.training and layer.qkv_proj.weight.dtype == torch.float32 and layer.qkv_proj.weight.grad is None
    assert all(torch.equal(tensor, before[name]) for name, tensor in layer.state_dict().items())
    assert not layer.qkv_proj._forward_hooks


def test_a_class_is_made_by_the_names_of_its_arguments():
    assert diagnose(Layer).wrong == []

    class Odd(Layer):
        def __init__(self, zebra):
            super().__init__()

    with pytest.raises(ValueError, match="'zebra'"):
        diagnose(Odd)


def test_a_class_that_refuses_the_chosen_numbers_says_why():
    class Narrow(Layer):
        def __init__(self, d_model):
            assert d_model == 768, "only 768 here"
            super().__init__()

    with pytest.raises(ValueError, match="could not be made with {'d_model': 32}: AssertionError: only 768 here"):
        diagnose(Narrow)


@pytest.mark.parametrize(
    ("attention", "told", "message"),
    [
        (plain, {"mask_means": "true"}, "mask_means must be 'attend' or 'hide', got 'true'"),
        (plain, {"layout": "(n,)"}, r"layout must be one of .*, got '\(n,\)'"),
        (plain, {"scale": "1/sqrt(d_k)"}, r"scale must be a number or '1/sqrt\(d\)', got '1/sqrt\(d_k\)'"),
        (lambda: None, {}, "expected a call with one sequence"),
        (lambda x: x.nonsense, {}, "no way of calling it was found"),
    ],
)
def test_what_cannot_be_called_is_refused(attention, told, message):
    with pytest.raises(ValueError, match=message):
        diagnose(attention, **told)


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="my_attention must be a function, a module or a class of modules, got"):
        diagnose(torch.ones(3))


def test_every_finding_leads_to_a_lesson():
    assert len(set(ORDER)) == len(ORDER)
    for address in LESSONS.values():
        page, _, anchor = address.partition("#")
        cells = json.loads((CHAPTERS / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
        words = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        headings = re.findall(r"(?m)^##+ (.+)$", words)
        assert anchor in [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings], address


def test_the_command_line_tells_and_exits(tmp_path):
    (tmp_path / "mine.py").write_text(BROKEN, encoding="utf-8")
    command = [sys.executable, "-m", "attention_course", "diagnose", "mine.py:attention"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and "WRONG hidden_keys" in done.stdout and done.stderr == ""


@pytest.mark.parametrize(
    ("code", "name", "told"),
    [
        (BROKEN, ":nothing", "nothing"),
        (BROKEN, "", "expected FILE:NAME"),
        (f"{BROKEN}\nraise SystemExit(0)", ":attention", "leaves.py:attention cannot be loaded: SystemExit: 0"),
        ("import nothing_of_that_name", ":attention", "leaves.py:attention cannot be loaded: ModuleNotFoundError"),
    ],
)
def test_what_cannot_be_loaded_is_told_and_exits_otherwise(tmp_path, monkeypatch, capsys, code, name, told):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "leaves.py").write_text(code, encoding="utf-8")
    assert main([f"{tmp_path / 'leaves.py'}{name}"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("diagnose: ") and told in error


def test_its_help_lists_every_question(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = capsys.readouterr().out.partition("questions:\n")[2].splitlines()
    assert len(listed) == len(set(listed)) == 1 + len(QUESTIONS) and all(line.endswith("?") for line in listed)


@pytest.mark.parametrize(
    ("name", "options", "status", "told"),
    [
        ("right", (), 0, "found nothing wrong"),
        ("right", ("--causal",), 1, "WRONG future"),
        ("right", ("--mask-means", "hide"), 1, "WRONG mask_inverted"),
        ("right", ("--mask-means", "attend"), 0, "found nothing wrong"),
        ("unscaled", (), 0, "questions found only notes"),
        ("unscaled", ("--scale", "1/sqrt(d)"), 1, "WRONG scale"),
        ("unscaled", ("--scale", "1"), 0, "found nothing wrong"),
        ("MultiheadAttention", (), 0, "found only notes"),
        ("MultiheadAttention", ("--layout", "(batch, n, d)"), 1, "WRONG batch_mixes"),
    ],
)
def test_what_is_told_on_the_command_line_counts(tmp_path, monkeypatch, capsys, name, options, status, told):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine.py").write_text(OPTIONS, encoding="utf-8")
    assert main([f"{tmp_path / 'mine.py'}:{name}", *options]) == status
    assert told in capsys.readouterr().out


@pytest.mark.parametrize("name", ["mine", "json"])
def test_a_file_may_hold_dataclasses_and_have_the_name_of_a_module(name, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    file = tmp_path / f"{name}.py"
    file.write_text(f"from __future__ import annotations\nimport dataclasses\n{BROKEN}\n{CONFIG}", encoding="utf-8")
    assert _load(f"{file}:Config").width == 32
    assert sys.modules["json"] is json
