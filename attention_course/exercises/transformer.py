"""Exercises of the transformer chapter."""

EXERCISES = ()
