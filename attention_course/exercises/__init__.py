"""Checks for the chapters' exercises: one file a chapter."""

from attention_course.exercises import (
    bottleneck,
    classifiers,
    cross_attention,
    efficient,
    flash,
    many_devices,
    masking,
    multi_head,
    positions,
    scaled_dot_product,
    self_attention,
    transformer,
)
from attention_course.exercises.checking import Exercise, Misconception, Verdict, judge

CHAPTERS = (
    bottleneck,
    scaled_dot_product,
    self_attention,
    multi_head,
    masking,
    positions,
    cross_attention,
    transformer,
    classifiers,
    efficient,
    flash,
    many_devices,
)
EXERCISES = {exercise.id: exercise for chapter in CHAPTERS for exercise in chapter.EXERCISES}


def check(exercise_id: str, answer) -> Verdict:
    """Judge an answer to an exercise.

    Args:
        exercise_id: As printed in the chapter: `"chapter.exercise"`.
        answer: The function you wrote, or the value you worked out.

    Returns:
        A verdict, which a notebook shows as text; `verdict.passed` is there for instructors.

    Raises:
        ValueError: If there is no such exercise.
    """
    if exercise_id not in EXERCISES:
        raise ValueError(f"exercise_id must be one of {sorted(EXERCISES)}, got {exercise_id!r}")
    return judge(EXERCISES[exercise_id], answer)


__all__ = ["EXERCISES", "Exercise", "Misconception", "Verdict", "check"]
