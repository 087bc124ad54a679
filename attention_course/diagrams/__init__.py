"""Schematics of the lessons, drawn from a run where there is a model: one file a lesson, on the kit in `diagram.py`."""

from attention_course.diagrams.diagram import Area, Diagram
from attention_course.diagrams.memory import retrieval
from attention_course.diagrams.primer import training_loop

__all__ = ["Area", "Diagram", "retrieval", "training_loop"]
