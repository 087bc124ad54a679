"""Exercises of the classifiers chapter."""

EXERCISES = ()
