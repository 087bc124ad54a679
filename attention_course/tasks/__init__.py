"""Data that needs no download, with the truth a trained model is compared with: one task a file."""

from attention_course.tasks.anomalies import AnomalousSeries, anomalous_series
from attention_course.tasks.changes import ChangingLetters, changing_letters
from attention_course.tasks.coins import Drawers, two_coins
from attention_course.tasks.dates import written_dates
from attention_course.tasks.digits import Digits, handwritten_digits
from attention_course.tasks.lookback import NOTHING, Lookbacks, looking_back
from attention_course.tasks.negation import Reviews, reviews
from attention_course.tasks.retrieval import RelatedLetters, related_letters
from attention_course.tasks.senses import SenseSentences, sense_sentences
from attention_course.tasks.sequences import SequencePairs, copying, reversing, sorting
from attention_course.tasks.spelling import SpelledDigits, spelled_digits
from attention_course.tasks.text import CharacterText, python_help, windows
from attention_course.tasks.translation import translation_pairs
from attention_course.tasks.words import ALPHABET, letter_pairs, manual_words

__all__ = [
    "ALPHABET",
    "NOTHING",
    "AnomalousSeries",
    "ChangingLetters",
    "CharacterText",
    "Digits",
    "Drawers",
    "Lookbacks",
    "RelatedLetters",
    "Reviews",
    "SenseSentences",
    "SequencePairs",
    "SpelledDigits",
    "anomalous_series",
    "changing_letters",
    "copying",
    "handwritten_digits",
    "letter_pairs",
    "looking_back",
    "manual_words",
    "python_help",
    "related_letters",
    "reversing",
    "reviews",
    "sense_sentences",
    "sorting",
    "spelled_digits",
    "translation_pairs",
    "two_coins",
    "windows",
    "written_dates",
]
