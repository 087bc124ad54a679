"""What is wrong with somebody's attention? It is called, watched, and told what no right one would do."""

from attention_course.diagnosing.diagnose import Report, diagnose
from attention_course.diagnosing.findings import Finding

__all__ = ["Finding", "Report", "diagnose"]
