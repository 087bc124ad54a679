"""Data that needs no download, with the truth a trained model is compared with: one task a file."""

from attention_course.tasks.lookback import NOTHING, Lookbacks, looking_back
from attention_course.tasks.retrieval import RelatedLetters, related_letters
from attention_course.tasks.senses import SenseSentences, sense_sentences
from attention_course.tasks.sequences import SequencePairs, copying, reversing, sorting
from attention_course.tasks.text import CharacterText, python_help, windows

__all__ = [
    "NOTHING",
    "CharacterText",
    "Lookbacks",
    "RelatedLetters",
    "SenseSentences",
    "SequencePairs",
    "copying",
    "looking_back",
    "python_help",
    "related_letters",
    "reversing",
    "sense_sentences",
    "sorting",
    "windows",
]
