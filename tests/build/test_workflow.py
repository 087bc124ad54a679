"""The workflows: what is published and what fails, and what becomes of a week in which something fails."""

import os
import re
import subprocess

import pytest
import yaml
from tiny_book import ROOT

WORKFLOWS = ROOT / ".github" / "workflows"


def jobs(workflow):
    return yaml.safe_load((WORKFLOWS / workflow).read_text(encoding="utf-8"))["jobs"]


# Where Ubuntu lets nobody but root make namespaces, an answer would see files, and its tests would fail.
NAMESPACES = "sudo sysctl --ignore --write kernel.apparmor_restrict_unprivileged_userns=0"


def commands(job):
    return [step["run"] for step in job["steps"] if "run" in step and step["run"] != NAMESPACES]


def test_whatever_grades_answers_may_make_namespaces():
    weekly = jobs("weekly.yml")
    for job in (jobs("ci.yml")["test"], *(weekly[name] for name in ("everything", "newest", "oldest"))):
        assert NAMESPACES in [step.get("run") for step in job["steps"]]


def test_the_site_is_published_whether_or_not_the_tests_pass():
    ci = jobs("ci.yml")
    assert commands(ci["site"]) == ["make site"]
    assert ci["publish"]["needs"] == "site"
    assert "needs" not in ci["site"]


def test_every_stage_is_a_job_and_the_site_is_built_once():
    """Those stages that look at the site have what it was built of, its hidden folder of runs too."""
    ci = jobs("ci.yml")
    stages = [*ci["test"]["strategy"]["matrix"]["stage"], *ci["test-site"]["strategy"]["matrix"]["stage"]]
    (listed,) = re.findall("^STAGES := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(["site", *stages]) == sorted(listed.split())
    assert commands(ci["test"]) == commands(ci["test-site"]) == ["make ${{ matrix.stage }}"]
    assert "needs" not in ci["test"] and ci["test-site"]["needs"] == "site"
    given = ci["site"]["steps"][-1]["with"]
    assert given["path"].split() == ["_build/html", "_build/.jupyter_cache"] and given["include-hidden-files"]


def test_every_week_what_others_change_is_tried():
    weekly = jobs("weekly.yml")
    assert weekly["report"]["needs"] == ["colab", "everything", "newest", "oldest", "book2"]
    assert commands(weekly["everything"]) == ["make test ALL=1"]
    assert all(commands(weekly[job]) == [f"make {job}"] for job in ("newest", "oldest", "book2"))
    in_container = commands(weekly["colab"])[-1]
    assert "us-docker.pkg.dev/colab-images/public/" in in_container
    script = re.search(r"/course/(\S+)", in_container)[1]
    assert (ROOT / script).is_file()


# Stands in for GitHub's program: writes down what it was called with, and knows of the issues that $OPEN names.
GH = """\
#!/bin/sh
printf '%s|' "$@" >> "$CALLS"
echo >> "$CALLS"
case "$1 $2" in "issue list") echo "$OPEN";; esac
"""


@pytest.mark.parametrize(
    ("already_open", "said"),
    [
        ("", "issue|create|--label|weekly|--title|The weekly run fails|--body|Its jobs say why: https://run/7|"),
        ("12", "issue|comment|12|--body|It failed again: https://run/7|"),
    ],
)
def test_a_week_that_fails_is_one_issue_however_many_follow(already_open, said, tmp_path):
    (script,) = commands(jobs("weekly.yml")["report"])
    (tmp_path / "gh").write_text(GH)
    (tmp_path / "gh").chmod(0o755)
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CALLS": str(tmp_path / "calls"), "OPEN": already_open}
    subprocess.run(["bash", "-e", "-c", script], check=True, env=variables | {"RUN": "https://run/7"})
    label, listed, *rest = (tmp_path / "calls").read_text().splitlines()
    assert label.startswith("label|create|weekly|--force|")
    assert listed.startswith("issue|list|--label|weekly|--state|open|")
    assert rest == [said]
