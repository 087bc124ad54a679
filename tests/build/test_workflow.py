"""The published workflow: a claim that does not hold fails the tests, and its site is published with a cross."""

from pathlib import Path

import yaml

WORKFLOW = Path(__file__).parents[2] / ".github" / "workflows" / "ci.yml"


def commands(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def test_the_site_is_published_whether_or_not_the_tests_pass():
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    assert (commands(jobs["site"]), commands(jobs["test"])) == (["make site"], [".ci/run"])
    assert jobs["publish"]["needs"] == "site"
    assert "needs" not in jobs["site"] and "needs" not in jobs["test"]
