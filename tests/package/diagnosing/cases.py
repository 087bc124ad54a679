"""What the collected bugs are handed over in."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Case:
    """A bug: `make()` builds the callable, `finding` is what to say of it first, `report` where it is told.

    `told` holds what nobody can tell from the callable alone, such as what a mask was meant to say.
    """

    name: str
    make: Callable[[], Callable]
    finding: str
    report: str
    told: dict = field(default_factory=dict)
