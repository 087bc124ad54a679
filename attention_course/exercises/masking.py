"""Exercises of the chapter "masking"."""

EXERCISES = ()
