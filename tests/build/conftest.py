"""A course of two chapters, whose notebooks are run in this process."""

import notebooks
import pytest
import seeds
from tiny_book import lay_out, pretend, write_chapter


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Its folder, in which Python stands."""
    lay_out(tmp_path, "one", "two")
    (tmp_path / "requirements.txt").write_text("torch\n")
    (tmp_path / "_build").mkdir()
    for name in ("one", "two"):
        write_chapter(tmp_path, name, "print('as' + ' ever')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(notebooks.signal, "signal", lambda *_: None)  # Ctrl-C is to end this run of tests too
    monkeypatch.setattr(seeds, "run", pretend)
    return tmp_path
