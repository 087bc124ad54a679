"""The scripts that made the records, and what pages print of the models that were recorded."""

import ast
import importlib.util
import sys
from functools import cache
from pathlib import Path

import nbformat
import torch
import torch.nn.functional as F
from dependencies import names_defined, parse_cell
from torch import nn

import attention_course

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "experiments" / "sweeps"
DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Assign)
sys.path.append(str(FOLDER))  # scripts use one another, and what stands in files with an underscore


@cache
def load(name):
    """The script of that name. (Not by an import: another module may have its name.)"""
    spec = importlib.util.spec_from_file_location(f"sweep_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def printed(page, *names, **known):
    """What of these names a page defines, in cells that know PyTorch, the package, and what else is said."""
    scope = vars(attention_course) | {"torch": torch, "nn": nn, "F": F} | known
    for cell in nbformat.read(ROOT / "chapters" / page, as_version=4).cells:
        if cell.cell_type == "code":
            definitions = [node for node in parse_cell(cell.source).body if isinstance(node, DEFINITIONS)]
            kept = [node for node in definitions if set() != names_defined(node) <= set(names)]
            exec(compile(ast.Module(kept, type_ignores=[]), page, "exec"), scope)
    return [scope[name] for name in names]
