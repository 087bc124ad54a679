"""Series of numbers in which a short stretch may run faster, or stand still; the generator knows where."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_course.tasks.batch import Batch

N_STEPS = 128
SEGMENT = (16, 32)  # shortest and longest anomaly, in steps
PERIOD = (12.0, 24.0)  # of the quick wave, in steps; the other is two to three times as slow
NOISE = 0.1


@dataclass
class AnomalousSeries(Batch):
    """A batch of series, about half of them with one anomalous segment.

    Attributes:
        series: `(batch, N_STEPS)`.
        labels: 1 where there is an anomaly, else 0, integers `(batch,)`.
        gold: Boolean `(batch, N_STEPS)`: `True` within the anomaly.
    """

    series: Tensor
    labels: Tensor
    gold: Tensor


def anomalous_series(n_series: int, generator: torch.Generator) -> AnomalousSeries:
    """Two waves of random periods, phases and heights, with noise; within an anomaly their clock is wrong.

    In the segment the clock runs three times as fast or stands still (a stuck sensor), each in half of the
    anomalies, and afterwards goes on from there. So the series never jumps, and within the segment takes values
    of the same range as elsewhere: no linear function of its numbers, or of their mean, spread and extremes, tells
    whether something happened.

    Args:
        n_series: Size of the batch.
        generator: Source of randomness (on the CPU).
    """

    def draw(low: float, high: float) -> Tensor:
        return low + (high - low) * torch.rand(n_series, 1, generator=generator)

    labels = torch.randint(2, (n_series, 1), generator=generator)
    speed = 3.0 * torch.randint(2, (n_series, 1), generator=generator)
    length = draw(*SEGMENT).round()
    start = (draw(0, 1) * (N_STEPS - length + 1)).floor()
    step = torch.arange(N_STEPS)
    gold = (labels == 1) & (start <= step) & (step < start + length)

    clock = torch.where(gold, speed, 1.0).cumsum(1)  # (n_series, N_STEPS)
    period = draw(*PERIOD)
    series = torch.sin(2 * math.pi * (clock / period + draw(0, 1)))
    series += draw(0.5, 1.0) * torch.sin(2 * math.pi * (clock / (period * draw(2, 3)) + draw(0, 1)))
    series = draw(0.5, 1.5) * series + NOISE * torch.randn(n_series, N_STEPS, generator=generator)
    return AnomalousSeries(series, labels.squeeze(1), gold)
