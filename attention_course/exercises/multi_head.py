"""Exercises of the chapter "multi_head"."""

EXERCISES = ()
