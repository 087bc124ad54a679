"""Handwritten digits, which scikit-learn carries."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_course.tasks.batch import Batch


@dataclass
class Digits(Batch):
    """Images and what they show.

    Attributes:
        images: Grey values from 0 to 1, `(batch, 8, 8)`.
        labels: Digits, integers `(batch,)`.
    """

    images: Tensor
    labels: Tensor


def handwritten_digits(test_share: float = 0.25, seed: int = 0) -> tuple[Digits, Digits]:
    """The 1,797 digits that 13 people wrote for Alpaydin & Kaynak 1998 (doi:10.24432/C50P49), split at random.

    Every digit has its share of both parts. So has everyone who wrote: a stranger's digits are harder.

    Args:
        test_share: Share of the digits in the second part.
        seed: Of the split.

    Returns:
        The digits for training, and those for testing.
    """
    # Late: all tasks are imported together, and scikit-learn takes a second that most pages need not spend.
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    images, labels = load_digits().images / 16, load_digits().target
    train, test = train_test_split(range(len(labels)), test_size=test_share, stratify=labels, random_state=seed)
    digits = Digits(torch.tensor(images, dtype=torch.float32), torch.tensor(labels))
    return digits[torch.tensor(train)], digits[torch.tensor(test)]
