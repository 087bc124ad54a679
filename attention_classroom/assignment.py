"""What was assigned: the exercises, what they are worth, and how each was turned round."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Task:
    """One exercise of an assignment.

    Attributes:
        exercise: Its id, such as `"multi_head.fused"`.
        points: What a right answer earns.
        variant: How it was turned round; `None` where it stands as in the lesson.
    """

    exercise: str
    points: float
    variant: str | None


@dataclass(frozen=True)
class Assignment:
    """What was handed out, as its instructor keeps it.

    Attributes:
        lessons: Their names, such as `"multi_head"`.
        tasks: The exercises that count.
        version: Of the package.
        commit: Of the package; empty where it is not known.
        salt: Hexadecimal; the inputs on which a student's answers are judged are drawn from it.
        due: When it has to be handed in, a date and time in ISO 8601; `None` where there is no late rule.
        late_per_day: Which share of its points a late answer loses for each day that has begun, 0 to 1.
        partial: Whether a wrong answer earns the share of its points that it passes of its tests.
    """

    lessons: tuple[str, ...]
    tasks: tuple[Task, ...]
    version: str
    commit: str
    salt: str
    due: str | None
    late_per_day: float
    partial: bool = False

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        text = json.dumps(dataclasses.asdict(self), indent=2, sort_keys=True)
        Path(path).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "Assignment":
        """Read what `save` wrote.

        Raises:
            ValueError: If the file is not one that `save` wrote; the message names it and what is missing.
        """
        try:
            fields = json.loads(Path(path).read_text(encoding="utf-8"))
            tasks = tuple(Task(**task) for task in fields.pop("tasks"))
            return cls(tasks=tasks, lessons=tuple(fields.pop("lessons")), **fields)
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} must be an assignment.json as written by assign: {error}") from error
