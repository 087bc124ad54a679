"""`python -m attention_course` leads to what it offers."""

import sys

import pytest

from attention_course.__main__ import main


def test_where_the_instructors_program_is_missing_it_is_said_how_to_install_it(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("attention_classroom")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [])
    with pytest.raises(SystemExit):
        main(["assign", "masking"])
    assert "attention_classroom is not installed: `pip install ./attention_classroom`" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["assign", "diagnose", "grade"])
def test_each_command_says_what_it_takes(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0 and "usage: " in capsys.readouterr().out
