"""Data that needs no download, with the truth a trained model is compared with: one task a file."""

from attention_course.tasks.sequences import SequencePairs, copying, reversing, sorting

__all__ = ["SequencePairs", "copying", "reversing", "sorting"]
