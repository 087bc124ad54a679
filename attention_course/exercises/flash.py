"""Exercises of the chapter on exact attention without the matrix."""

EXERCISES = ()
