"""Models are examined with other instructions than this processor's own, and the same is found."""

import os
import subprocess
import sys

import pytest
from instructions import AVX2, PLAINEST

SCRIPT = """
import sys
from attention_course.diagnosing.examine import examine
from attention_course.diagnosing.broken_models import BROKEN, SOUND

cases = BROKEN | {name: (None, case) for name, case in SOUND.items()}
for name, (cause, case) in cases.items():
    patient = case(int(sys.argv[1]))
    report = examine(patient.model, patient.batch, patient.loss, **patient.asked)
    assert report.cause == cause, (name, cause, str(report))
"""


@pytest.mark.parametrize(("arithmetic", "seed"), [(PLAINEST, 0), (AVX2, 1)], ids=["plainest", "AVX2"])
def test_the_same_is_found_in_another_arithmetic(arithmetic, seed):
    subprocess.run([sys.executable, "-c", SCRIPT, str(seed)], check=True, env=os.environ | arithmetic)
