import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "package/course"))  # what a record should say is told in test_records.py
