"""Exercises of the cross_attention chapter."""

EXERCISES = ()
