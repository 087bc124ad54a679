"""Where modules of version 0.1 stand now: the old path leads there until 0.3, with a warning that names the new."""

import sys
import warnings
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.util import spec_from_loader

PACKAGE = "attention_course."
MOVED = {
    "arrays": "attention_course.support.arrays",
    "autocast": "attention_course.support.autocast",
    "cache": "attention_course.kv_cache",
    "checkpoints": "attention_course.course.checkpoints",
    "circuits": "attention_course.interpreting.circuits",
    "claims": "attention_course.course.claims",
    "classroom": "attention_classroom",
    "classroom.answering": "attention_classroom.worker",
    "classroom.apart": "attention_classroom.sandbox",
    "classroom.asking": "attention_classroom.client",
    "classroom.assign": "attention_classroom.assign",
    "classroom.assignment": "attention_classroom.assignment",
    "classroom.decided": "attention_classroom.overrides",
    "classroom.grade": "attention_classroom.grade",
    "classroom.grading": "attention_classroom.grading",
    "classroom.handed_in": "attention_classroom.handed_in",
    "classroom.installed": "attention_classroom.installed",
    "classroom.needs": "attention_classroom.needs",
    "classroom.notebooks": "attention_classroom.notebooks",
    "classroom.reports": "attention_classroom.reports",
    "classroom.submission": "attention_classroom.submission",
    "classroom.tables": "attention_classroom.tables",
    "classroom.times": "attention_classroom.times",
    "classroom.turns": "attention_course.exercises.judging.transforms",
    "classroom.variants": "attention_course.exercises.judging.variants",
    "classroom.wire": "attention_classroom.protocol",
    "compare_interpretations": "attention_course.interpreting.comparison",
    "diagnose": "attention_course.diagnosing.diagnose",
    "environment": "attention_course.course.environment",
    "examine": "attention_course.diagnosing.examine",
    "exercises.checking": "attention_course.exercises.judging.checking",
    "exercises.drawing": "attention_course.exercises.judging.drawing",
    "exercises.gradients": "attention_course.exercises.judging.gradients",
    "exercises.projects": "attention_course.exercises.retired.projects",
    "exercises.running": "attention_course.exercises.judging.running",
    "float16_weights": "attention_course.support.float16_weights",
    "interpret": "attention_course.interpreting.interpret",
    "measure": "attention_course.course.measure",
    "palette": "attention_course.course.palette",
    "patients": "attention_course.diagnosing.broken_models",
    "plots": "attention_course.course.plots",
    "recorded": "attention_course.course.recorded",
    "recurrent": "attention_course.seq2seq_rnn",
    "switched_off": "attention_course.interpreting.ablations",
    "training": "attention_course.course.training",
    "validation": "attention_course.support.validation",
}


class Forward(MetaPathFinder, Loader):
    """Finds a module by its old path, and gives the one that stands elsewhere: the same object under both."""

    def find_spec(self, name, path=None, target=None):
        """Only what has moved is found here."""
        if name.startswith(PACKAGE) and name.removeprefix(PACKAGE) in MOVED:
            return spec_from_loader(name, self)
        return None

    def exec_module(self, module):
        """Put the module itself in the place of the empty one that Python has made."""
        new = MOVED[module.__name__.removeprefix(PACKAGE)]
        warnings.warn(f"{module.__name__} is now {new}", DeprecationWarning, stacklevel=2)
        sys.modules[module.__name__] = import_module(new)


# Before the others: a folder that has moved would be found again through its path, as another module.
sys.meta_path.insert(0, Forward())
