"""Checks for the chapters' exercises: one file a chapter, imported when one of its exercises is checked."""

import pkgutil
from difflib import get_close_matches
from importlib import import_module

from attention_course.exercises.judging.checking import Exercise, Misconception, Verdict, judge

# A chapter's file has the chapter's name; how answers are judged stands in a folder of its own.
CHAPTERS = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg))


# Exercises that are on another page now, and pages whose exercises are on none. Until 0.3 both are found by their old
# ids, by which notebooks name them that were handed out.
MOVED = {
    "bottleneck.additive_scores": "scores.additive_scores",
    "positions.rotary_attention": "relative.rotary_attention",
    "positions.rotate_halves": "relative.rotate_halves",
    "processes.bytes": "many_devices.bytes",
    "processes.work": "many_devices.work",
    "recall.from_others": "states.from_others",
    "scaled_dot_product.dropout": "scores.dropout",
}
RETIRED = ("pointing", "projects")


def check(exercise_id: str, answer, variant: str | None = None) -> Verdict:
    """Judge an answer to an exercise.

    Args:
        exercise_id: As printed in the chapter: `"chapter.exercise"`.
        answer: The function you wrote, or the value you worked out.
        variant: In an assignment, how the exercise was turned round; its notebook says what that means.

    Returns:
        A verdict, which a notebook shows as text; `verdict.passed` is there for instructors.

    Raises:
        ValueError: If there is no such exercise, or no such variant of it.
    """
    exercise = find_exercise(exercise_id)
    if variant is None:
        return judge(exercise, answer)
    # Variants are made of exercises, and hardly any notebook has one.
    from attention_course.exercises.judging.variants import judge_variant

    return judge_variant(exercise, variant, lambda asked: judge(asked, answer))


def find_exercise(exercise_id: str) -> Exercise:
    """The exercise of an id, also of one that moved.

    Raises:
        ValueError: If there is no such exercise.
    """
    exercise_id = MOVED.get(str(exercise_id), exercise_id)
    chapter = str(exercise_id).split(".")[0]
    if chapter not in CHAPTERS + RETIRED:
        meant = [f"{name}." for name in get_close_matches(chapter, CHAPTERS, cutoff=0.4)]
        raise ValueError(
            f"exercise_id must start with the name of one of {len(CHAPTERS)} pages"
            f"{', perhaps ' + ' or '.join(map(repr, meant)) if meant else ''}, got {exercise_id!r}"
        )
    exercises = chapter_exercises(chapter)
    if exercise_id not in exercises:
        raise ValueError(f"exercise_id must be one of {sorted(exercises)}, got {exercise_id!r}")
    return exercises[exercise_id]


def chapter_exercises(chapter: str) -> dict[str, Exercise]:
    """The exercises of one of `CHAPTERS` or `RETIRED`, by their ids."""
    module = import_module(f"{__name__}.{'retired.' if chapter in RETIRED else ''}{chapter}")
    return {exercise.id: exercise for exercise in module.EXERCISES}


__all__ = ["CHAPTERS", "Exercise", "Misconception", "Verdict", "chapter_exercises", "check", "find_exercise"]
