"""Exercises of the chapter on efficient variants."""

EXERCISES = ()
