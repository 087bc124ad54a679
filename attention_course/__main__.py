"""`python -m attention_course`: what the package offers on a command line."""

import argparse
from importlib import import_module

CLASSROOM = "attention_classroom"  # the instructors' program
COMMANDS = {
    "assign": (f"{CLASSROOM}.assign", "make notebooks to hand out from lessons"),
    "diagnose": ("attention_course.diagnosing.diagnose", "say what is wrong with an attention of your own"),
    "grade": (f"{CLASSROOM}.grade", "judge the notebooks that came back"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m attention_course")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, (module, purpose) in COMMANDS.items():
        command = subparsers.add_parser(name, help=purpose, add_help=False)
        command.set_defaults(module=module)
    chosen, rest = parser.parse_known_args(arguments)
    try:
        module = import_module(chosen.module)
    except ModuleNotFoundError as error:
        if error.name != CLASSROOM:
            raise
        parser.error(f"{CLASSROOM} is not installed: `pip install ./{CLASSROOM}` in a copy of the course does it")
    return module.main(rest)


if __name__ == "__main__":
    raise SystemExit(main())
