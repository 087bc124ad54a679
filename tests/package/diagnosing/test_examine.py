"""Each model with one thing wrong is named rightly, and no sound one raises an alarm."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from choosing import weekly
from torch import nn

from attention_course import tasks
from attention_course.course import training
from attention_course.diagnosing.broken_models import (
    BROKEN,
    SOUND,
    Changed,
    Patient,
    reviewer,
    sorter,
    translator,
    writer,
)
from attention_course.diagnosing.examine import Run, by_heart, examine
from attention_course.transformer import Encoder

FILE = Path(__file__).parents[3] / "attention_course" / "diagnosing" / "examine.py"
CAUSAL = torch.ones(64, 64).tril()
SEEDS = pytest.mark.parametrize("seed", [0, weekly(1), weekly(2)])


class Small(nn.Module):
    """A language model of one block, with a table of who may see whom; it keeps its last logits."""

    def __init__(self, n_symbols, seen):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(n_symbols, 32), nn.Embedding(64, 32)
        self.qkv, self.logits, self.seen, self.kept = nn.Linear(32, 96), nn.Linear(32, n_symbols), seen, [None]
        self.kept.append(self.kept)  # a list that contains itself

    def forward(self, symbols):
        n = symbols.size(1)
        tokens = self.embedding(symbols) + self.positions(torch.arange(n))
        query, key, value = self.qkv(tokens).chunk(3, -1)
        scores = (query @ key.mT / 32**0.5).masked_fill(self.seen[:n, :n] == 0, -1e4)
        self.kept[0] = self.logits(tokens + scores.softmax(-1) @ value)
        return self.kept[0]


class ReadsFirst(nn.Module):
    """A classifier without positions that reads the first token, a CLS token of the data."""

    def __init__(self):
        super().__init__()
        self.embedding, self.encoder, self.logits = nn.Embedding(17, 32), Encoder(32, 4, 2), nn.Linear(32, 2)

    def forward(self, symbols):
        return self.logits(self.encoder(self.embedding(symbols))[0][:, 0])


def small(seed, seen):
    patient = writer(seed)
    return patient._replace(model=Small(patient.model.lm_head.out_features, seen))


def chunks(n=64, size=8):
    place = torch.arange(n)
    return ((place[:, None] >= place) | (place[:, None] // size == place // size)).float()


def padded_and_not_shifted(seed):
    patient = writer(seed)
    targets = patient.batch[0].clone()
    targets[:, -5:] = -100
    return patient._replace(batch=(patient.batch[0], targets))


def begins_with_cls(seed):
    torch.manual_seed(seed)
    symbols = torch.cat([torch.full((32, 1), 16), torch.randint(16, (32, 9))], 1)
    return Patient(ReadsFirst(), (symbols, torch.randint(2, (32,))), F.cross_entropy, {"causal": False})


def in_list(seed):
    patient = translator(seed)
    return patient._replace(batch=[list(patient.batch[0]), patient.batch[1]])


def short(seed):
    """A CLS token and two words: with the first and the last in place, nothing can be exchanged."""
    patient = begins_with_cls(seed)
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Embedding(17, 32), nn.Flatten(), nn.Linear(96, 2))
    return patient._replace(model=model, batch=(patient.batch[0][:, :3], patient.batch[1]))


def after_training(seed):
    patient = small(seed, CAUSAL)
    patient.model(patient.batch[0])
    return patient


def with_pooler(seed):
    patient = sorter(seed)
    patient.model.pooler = nn.Linear(32, 32)
    return patient


# Beside the tables that a page counts: what `examine` once passed over, or took for wrong.
ALSO_BROKEN = {
    "targets shifted backwards": (
        "shift",
        lambda seed: (p := writer(seed))._replace(batch=(p.batch[0], p.batch[0].roll(1, 1))),
    ),
    "targets not shifted, and pads left out": ("shift", padded_and_not_shifted),
    "all see all inside chunks of eight": ("future", lambda seed: small(seed, chunks())),
    "positions missing, and a CLS token in the data": ("order", begins_with_cls),
}
ALSO_SOUND = {
    "a causal mask as a frozen parameter": lambda seed: small(seed, nn.Parameter(CAUSAL, requires_grad=False)),
    "one of booleans as a frozen parameter": lambda seed: small(seed, nn.Parameter(CAUSAL > 0, requires_grad=False)),
    "logits kept from a training pass": after_training,
    "a list from a DataLoader": in_list,
    "three tokens": short,
    "a pooler whose output is not used": with_pooler,
}


def examined(patient, **asked):
    return examine(patient.model, patient.batch, patient.loss, **patient.asked | asked)


@SEEDS
@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_wrong_is_named(broken, seed):
    cause, case = BROKEN[broken]
    report = examined(case(seed))
    assert report.cause == cause, report
    assert [finding.wrong for finding in report] == [False] * (len(report) - 1) + [True]
    assert all(isinstance(finding.number, int | float) and " " in finding.sentence for finding in report), report


@SEEDS
@pytest.mark.parametrize("sound", SOUND)
def test_a_sound_model_raises_no_alarm(sound, seed):
    report = examined(SOUND[sound](seed))
    assert report.cause is None, report
    assert str(report).endswith("nothing found")


@pytest.mark.parametrize("broken", ALSO_BROKEN)
def test_what_was_once_missed_is_named(broken):
    cause, case = ALSO_BROKEN[broken]
    report = examined(case(0))
    assert report.cause == cause, report


@pytest.mark.parametrize("sound", ALSO_SOUND)
def test_no_more_alarms_are_raised(sound):
    report = examined(ALSO_SOUND[sound](0))
    assert report.cause is None, report


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


def test_the_file_works_without_the_course():
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
    vocab_size = patient.model.lm_head.out_features
    assert run.even == pytest.approx(torch.tensor(float(vocab_size)).log().item(), rel=1e-5)


def test_a_bag_of_words_is_told_how_to_say_so():
    patient = SOUND["a bag of words"](0)
    report = examined(patient, order=True)
    assert report.cause == "order" and "order=False" in str(report)


def test_the_first_module_with_nan_is_named():
    report = examined(BROKEN["an empty sentence, and the textbook's softmax"][1](0))
    assert report[-1].sentence.endswith("encoder.blocks.0.attention.attention")
    assert report[-1].number == pytest.approx(1 / 32)


def test_of_a_module_that_returns_several_the_first_is_looked_at():
    class Wrong(nn.Module):
        def forward(self, tokens):
            return tokens * torch.nan, tokens

    patient = sorter(0)
    patient.model.wrong = Wrong()
    model = Changed(patient.model, lambda model, x: model(x) + model.wrong(model.embedding(x))[0].mean())
    report = examined(patient._replace(model=model))
    assert report[-1].wrong and report[-1].sentence.endswith("wrong"), report


def test_a_few_rows_are_learned_without_dropout():
    patient = sorter(0)
    expected = by_heart(Run(patient.model, patient.batch, patient.loss, causal=False), 1e-3)
    patient.model.logits = nn.Sequential(nn.Dropout(0.9), patient.model.logits)
    assert by_heart(Run(patient.model, patient.batch, patient.loss, causal=False), 1e-3) == expected


def test_it_is_said_that_the_order_counts():
    (order,) = [finding for finding in examined(sorter(0)) if finding.name == "order"]
    assert not order.wrong and order.number > 1e-3


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_a_model_in_another_precision_is_examined_in_float32(dtype):
    patient = sorter(0)
    patient.model.to(dtype)
    assert examined(patient).cause is None


def test_it_is_said_where_float16_could_not_be_asked():
    patient = sorter(0)
    waves = torch.sin(torch.arange(8)[:, None] / torch.arange(1, 33))  # in float32, whatever the model's precision is
    model = Changed(patient.model, lambda model, x: model.logits(model.encoder(model.embedding(x) + waves)[0]))
    report = examined(patient._replace(model=model))
    assert report.cause is None and report[-1].name == "float16"
    assert "not asked in float16: " in report[-1].sentence


@pytest.mark.parametrize(
    ("way", "loss"),
    [
        (lambda model, x: model(x).log_softmax(-1), lambda logits, y: F.nll_loss(logits.flatten(0, 1), y.flatten())),
        (
            lambda model, x: model(x)[..., 0].sigmoid(),
            lambda shares, y: F.binary_cross_entropy(shares, (y > 8).float()),
        ),
    ],
    ids=["log_softmax and nll_loss", "sigmoid and BCE"],
)
def test_a_loss_of_probabilities_is_refused(way, loss):
    patient = sorter(0)
    with pytest.raises(ValueError, match="loss must take logits, as cross_entropy does"):
        examined(patient._replace(model=Changed(patient.model, way), loss=loss))


def one_number(seed):
    """A model of one number for each row, and one in a hundred of it to be said: no even guess is worse."""
    torch.manual_seed(seed)
    inputs = torch.randn(32, 8)
    return Patient(nn.Linear(8, 1), (inputs, inputs[:, 0] / 100), F.mse_loss, {"causal": False, "order": False})


def test_a_loss_of_regression_is_refused_and_one_of_margins_is_not():
    patient = one_number(0)
    with pytest.raises(ValueError, match="loss must take logits, .* it is 0 where they are the targets"):
        examined(patient._replace(loss=lambda numbers, y: F.mse_loss(numbers[:, 0], y)))
    margins = patient._replace(batch=(patient.batch[0], patient.batch[1].sign()))
    hinge = examined(margins._replace(loss=lambda logits, y: F.relu(1 - logits[:, 0] * y).mean()))
    assert hinge.cause is None, hinge


def test_what_does_not_fit_is_refused():
    model, (inputs, targets), loss, _ = sorter(0)
    mask = torch.ones(32, 8)
    with pytest.raises(TypeError, match="model must be a module"):
        examine(model.forward, (inputs, targets), loss, causal=False)
    with pytest.raises(TypeError, match=r"mask must be boolean, .* got torch.float32 of shape \(32, 8\)"):
        examine(model, (inputs, targets), loss, causal=False, mask=mask)
    with pytest.raises(ValueError, match=r"mask \(batch, n\)"):
        examine(model, (inputs, targets), loss, causal=False, mask=mask[:, 1:].bool())
    for batch in ((inputs[:1], targets[:1]), (inputs, targets[1:])):
        with pytest.raises(ValueError, match="two rows or more"):
            examine(model, batch, loss, causal=False)
    digits = SOUND["digits as patches"](0)
    with pytest.raises(ValueError, match="logits of each token"):
        examined(digits, causal=True)
