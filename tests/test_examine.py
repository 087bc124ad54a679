"""Each model with one thing wrong is named rightly, and no sound one raises an alarm, in any arithmetic."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attention_course import tasks, training
from attention_course.examine import Run, examine
from attention_course.patients import BROKEN, SOUND, reviewer, sorter, writer

FILE = Path(__file__).parents[1] / "attention_course" / "examine.py"
PLAINEST = {"ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "ONEDNN_MAX_CPU_ISA": "SSE41"}
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"}


def examined(patient, **asked):
    return examine(patient.model, patient.batch, patient.loss, **patient.asked | asked)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_wrong_is_named(broken, seed):
    cause, case = BROKEN[broken]
    report = examined(case(seed))
    assert report.cause == cause, report
    assert [finding.wrong for finding in report] == [False] * (len(report) - 1) + [True]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sound", SOUND)
def test_a_sound_model_raises_no_alarm(sound, seed):
    report = examined(SOUND[sound](seed))
    assert report.cause is None, report
    assert str(report).endswith("nothing found")


def test_there_are_enough_of_both():
    assert len(BROKEN) >= 12 and len(SOUND) >= 6
    assert len({cause for cause, _ in BROKEN.values()}) == 17


@pytest.mark.parametrize(("arithmetic", "seed"), [(PLAINEST, 0), (AVX2, 1)], ids=["plainest", "AVX2"])
def test_the_same_in_another_arithmetic(arithmetic, seed):
    script = (
        "from attention_course.examine import examine\n"
        "from attention_course.patients import BROKEN, SOUND\n"
        "cases = [*BROKEN.values(), *((None, case) for case in SOUND.values())]\n"
        "for cause, case in cases:\n"
        f"    p = case({seed})\n"
        "    report = examine(p.model, p.batch, p.loss, **p.asked)\n"
        "    assert report.cause == cause, (cause, str(report))\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=os.environ | arithmetic)


def test_a_trained_model_raises_no_alarm():
    patient, generator = reviewer(0), torch.Generator().manual_seed(1)

    def loss(model, batch):
        return F.cross_entropy(model(batch.tokens, batch.mask)[0], batch.label)

    training.train(patient.model, lambda: tasks.reviews(64, generator), loss, steps=150, peak_lr=0.005)
    report = examined(patient)
    assert report.cause is None, report
    assert next(finding.number for finding in report if finding.name == "start") < 0.3


def test_a_recurrent_network_may_be_examined():
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.logits = nn.Embedding(16, 32), nn.Linear(32, 16)
            self.recurrent = nn.LSTM(32, 32, batch_first=True)

        def forward(self, symbols):
            return self.logits(self.recurrent(self.embedding(symbols))[0])

    patient = sorter(0)
    report = examine(Recurrent(), (patient.batch[0][:, :-1], patient.batch[0][:, 1:]), patient.loss, causal=True)
    assert report.cause is None, report


def test_the_file_works_without_the_course(tmp_path):
    copy = tmp_path / "examine.py"
    copy.write_text(FILE.read_text(encoding="utf-8"), encoding="utf-8")
    script = (
        "import sys, torch, examine\n"
        "model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(8, 3))\n"
        "batch = torch.randn(16, 8), torch.randint(3, (16,))\n"
        "print(examine.examine(model, batch, torch.nn.functional.cross_entropy, causal=False))\n"
        "assert not any(name.startswith('attention_course') for name in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "nothing found" in done.stdout
    assert "attention_course" not in FILE.read_text(encoding="utf-8")


def test_nothing_is_changed_and_no_random_number_is_drawn():
    patient = reviewer(0)
    patient.model.train()
    before = {name: value.clone() for name, value in patient.model.state_dict().items()}
    state = torch.get_rng_state()
    first = examined(patient)
    assert torch.equal(torch.get_rng_state(), state)
    assert patient.model.training
    assert all(parameter.grad is None for parameter in patient.model.parameters())
    assert all(torch.equal(value, before[name]) for name, value in patient.model.state_dict().items())
    assert not any(part._forward_hooks for part in patient.model.modules())
    assert examined(patient) == first


def test_the_even_guess_is_the_logarithm_of_the_classes():
    patient = writer(0)
    run = Run(*patient[:3], causal=True)
    n_symbols = patient.model.logits.out_features
    assert run.even == pytest.approx(torch.tensor(float(n_symbols)).log().item(), rel=1e-5)


def test_a_bag_of_words_is_told_how_to_say_so():
    patient = SOUND["a bag of words"](0)
    report = examined(patient, order=True)
    assert report.cause == "order" and "order=False" in str(report)


def test_the_first_module_with_nan_is_named():
    report = examined(BROKEN["an empty sentence, and the textbook's softmax"][1](0))
    assert report[-1].sentence.endswith("encoder.blocks.0.attention.attention")
    assert report[-1].number == pytest.approx(1 / 32)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_a_model_in_another_precision_is_examined_in_float32(dtype):
    patient = sorter(0)
    patient.model.to(dtype)
    assert examined(patient).cause is None


def test_what_does_not_fit_is_refused():
    model, (inputs, targets), loss, _ = sorter(0)
    mask = torch.ones(32, 8)
    with pytest.raises(TypeError, match="model must be a module"):
        examine(model.forward, (inputs, targets), loss, causal=False)
    with pytest.raises(TypeError, match="mask boolean"):
        examine(model, (inputs, targets), loss, causal=False, mask=mask)
    with pytest.raises(ValueError, match=r"mask \(batch, n\)"):
        examine(model, (inputs, targets), loss, causal=False, mask=mask[:, 1:].bool())
    for batch in ((inputs[:1], targets[:1]), (inputs, targets[1:])):
        with pytest.raises(ValueError, match="two rows or more"):
            examine(model, batch, loss, causal=False)
    digits = SOUND["digits as patches"](0)
    with pytest.raises(ValueError, match="logits of each token"):
        examined(digits, causal=True)
