"""Schematics of the lessons, drawn from a run where there is a model: one file a lesson, on the kit in `diagram.py`."""

from attention_course.diagrams.course_map import course_map
from attention_course.diagrams.diagram import Area, Diagram
from attention_course.diagrams.memory import retrieval
from attention_course.diagrams.multi_head import cuts, multi_head
from attention_course.diagrams.primer import training_loop
from attention_course.diagrams.shared_heads import shared_heads

__all__ = [
    "Area",
    "Diagram",
    "course_map",
    "cuts",
    "multi_head",
    "retrieval",
    "shared_heads",
    "training_loop",
]
