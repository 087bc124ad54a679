import pytest
import torch
from seeding import seeded
from sklearn.linear_model import LogisticRegression

from attention_course.tasks import anomalies
from attention_course.tasks.anomalies import anomalous_series


@pytest.fixture(scope="module")
def batch():
    return anomalous_series(4000, seeded(0))


def summary(series):
    return torch.stack([series.mean(1), series.std(1), series.amax(1), series.amin(1)], 1).numpy()


def test_half_of_the_series_have_one_segment_of_a_length_within_bounds(batch):
    assert batch.series.shape == batch.gold.shape == (4000, anomalies.N_STEPS)
    assert 0.45 < batch.labels.float().mean() < 0.55
    lengths = batch.gold.sum(1)
    assert torch.equal(lengths > 0, batch.labels == 1)
    shortest, longest = anomalies.SEGMENT
    assert lengths[lengths > 0].min() == shortest and lengths.max() == longest
    starts = (batch.gold[:, 1:] & ~batch.gold[:, :-1]).sum(1) + batch.gold[:, 0].int()
    assert torch.equal(starts, batch.labels)


def test_a_segment_may_stand_anywhere(batch):
    share = batch.gold[batch.labels == 1].float().mean(0)
    assert share.min() > 0 and share[32:96].std() < 0.03


def test_within_the_segment_the_clock_stands_still_or_runs_faster(batch, monkeypatch):
    monkeypatch.setattr(anomalies, "NOISE", 0.0)
    clean = anomalous_series(2000, seeded(1))
    change = clean.series.diff(dim=1).abs()
    inside = (clean.gold[:, 1:] * change).sum(1) / clean.gold[:, 1:].sum(1)
    outside = (~clean.gold[:, 1:] * change).sum(1) / (~clean.gold[:, 1:]).sum(1)
    ratio = (inside / outside)[clean.labels == 1]
    stuck = ratio < 1e-4
    assert 0.45 < stuck.float().mean() < 0.55
    assert ratio[~stuck].min() > 1.4 and 2 < ratio[~stuck].median() < 3


def test_the_series_never_jumps(monkeypatch):
    """A jump would give the ends of the segment away; three times the steepest normal step is allowed."""
    monkeypatch.setattr(anomalies, "NOISE", 0.0)
    clean = anomalous_series(2000, seeded(2))
    change = clean.series.diff(dim=1).abs().amax(1)
    normal, anomalous = change[clean.labels == 0], change[clean.labels == 1]
    assert anomalous.max() < 3.2 * normal.max()


@pytest.mark.parametrize("features", [summary, lambda series: series.numpy()], ids=["summary", "numbers"])
def test_a_linear_baseline_is_at_chance(batch, features):
    tests = anomalous_series(4000, seeded(3))
    baseline = LogisticRegression(max_iter=2000).fit(features(batch.series), batch.labels.numpy())
    assert abs(baseline.score(features(tests.series), tests.labels.numpy()) - 0.5) < 0.06
