"""Exercises of the chapter on attention across machines."""

EXERCISES = ()
