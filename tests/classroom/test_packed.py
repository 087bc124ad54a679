"""Feedback goes back under the names by which Moodle and Canvas know whose it is."""

import json
import zipfile

import nbformat
import pytest
from test_grade import CHECK, ONE, RIGHT, START, WRONG, notebook

from attention_classroom.grade import main

pytestmark = pytest.mark.usefixtures("in_this_thread")


@pytest.fixture
def packed(tmp_path):
    """What is in the zips after a class was graded, by the name of the zip."""
    ONE.save(tmp_path / "assignment.json")

    def packed(**answers):
        for name, answer in answers.items():
            notebook(tmp_path / "class" / name, START, f"{answer}\n{CHECK}")
        call = ["assignment.json", "class", "--out", "out"]
        assert main([one if one.startswith("--") else str(tmp_path / one) for one in call]) == 0
        found = {}
        for path in (tmp_path / "out").glob("*.zip"):
            with zipfile.ZipFile(path) as zipped:
                found[path.name] = {name: zipped.read(name).decode() for name in zipped.namelist()}
        return found

    return packed


def test_moodle_gets_a_folder_for_each_participant_with_the_number_in_its_second_place(packed, tmp_path, capsys):
    names = ("Ada Löfwen_1007_assignsubmission_file_", "Ben_8_assignsubmission_file_")
    (tmp_path / "class" / "Cy_9_assignsubmission_file_").mkdir(parents=True)  # without a notebook
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "canvas.csv").touch()  # of an earlier run
    (moodle,) = packed(**{f"{names[0]}/scale.ipynb": RIGHT, f"{names[1]}/scale.ipynb": WRONG}).items()
    assert moodle[0] == "feedback_moodle.zip" and len(moodle[1]) == 3
    assert "2 of 2 points" in moodle[1][f"{names[0]}/feedback.md"]
    assert "0 of 2 points" in moodle[1][f"{names[1]}/feedback.md"]
    assert {path.split("_")[1] for path in moodle[1]} == {"1007", "8", "9"}  # where Moodle looks
    assert "Feedback of 3 students, to be uploaded as it is: " in capsys.readouterr().out
    assert "Participant 1007,2," in (tmp_path / "out" / "moodle.csv").read_text()
    assert not (tmp_path / "out" / "canvas.csv").exists()


def test_canvas_gets_notebooks_by_the_names_of_what_was_handed_in(packed, tmp_path):
    names = ("lovelaceada_77_9901_scale.ipynb", "oneben_LATE_78_9902_scale-1.ipynb")
    (canvas,) = packed(**dict(zip(names, (RIGHT, WRONG), strict=True))).items()
    assert canvas[0] == "feedback_canvas.zip" and canvas[1].keys() == set(names)
    for text, points in zip(canvas[1].values(), (2, 0), strict=True):
        nbformat.validate(nbformat.reads(text, as_version=4))
        assert f"{points} of 2 points" in "".join(json.loads(text)["cells"][0]["source"])
    assert "oneben,78,,,,0" in (tmp_path / "out" / "canvas.csv").read_text()
    assert not (tmp_path / "out" / "moodle.csv").exists()


def test_other_names_make_nothing_for_a_gradebook(packed, tmp_path):
    assert packed(**{"Ada.ipynb": RIGHT}) == {}
    assert not {"canvas.csv", "moodle.csv"} & {path.name for path in (tmp_path / "out").iterdir()}
