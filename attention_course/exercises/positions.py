"""Exercises of the chapter "positions"."""

EXERCISES = ()
