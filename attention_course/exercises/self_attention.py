"""Exercises of the chapter "self_attention"."""

EXERCISES = ()
