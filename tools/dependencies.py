"""Which files of the package a notebook or a test depends on: its imports, followed.

A name that is imported from a package leads to the module that defines it, not to everything that the package's
`__init__.py` passes on. What Python finds by a string is found here in the same way: an exercise's module (the part
of its id before the dot), a recorded result, a file or folder beside a module.

Besides the package a test uses other tests' helpers, scripts, and of each `conftest.py` above it what it asks for.
"""

import ast
import re
from functools import cache
from pathlib import Path
from threading import Lock

PACKAGE = "attention_course"
EXERCISES = f"{PACKAGE}.exercises"
RECORDED = f"{PACKAGE}.course.recorded"
FILE_NAME = re.compile(r"\w[\w.-]*")
EXERCISE_ID = re.compile(r"(\w+)\.\w+")
SCRIPTS = ["experiments", "experiments/sweeps", "experiments/real"]  # which tests name in a string
WHOLE = {"_ext", "_static", "tools"}  # folders of which a test that names one may use any file
ONE_PARSER = Lock()
MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.MULTILINE)


def parse(source):
    """Its syntax tree, one at a time: Python 3.11's parser fails now and then in two threads at once."""
    with ONE_PARSER:
        return ast.parse(source)


def parse_cell(source):
    """The syntax tree of a cell; what a magic like `%%writefile` takes in is code too."""
    try:
        return parse(source)
    except SyntaxError:
        return parse(MAGIC.sub(r"\1pass", source))


@cache
def imports(tree):
    """Every import in a tree: `(module, name, what it is called here)`, the name `None` for a plain `import module`."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, None, alias.asname or alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.module, alias.name, alias.asname or alias.name) for alias in node.names]
    return found


def attributes_read(tree, name):
    """The attributes that are read from a name; `None` where anything else is done with it."""
    nodes = list(ast.walk(tree))
    uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    read = [node.attr for node in nodes if isinstance(node, ast.Attribute) and node.value in uses]
    return set(read) if uses and len(read) == len(uses) else None


@cache
def strings(tree):
    """Every string in a tree."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def loads_by_variable(tree):
    """Whether some `load(...)` is given anything but a string as it stands."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    loads = [call for call in calls if ast.unparse(call.func).split(".")[-1] == "load"]
    return not all(isinstance(call.args[0], ast.Constant) for call in loads)


def own_statements(tree):
    """What an `__init__.py` does itself: all but its docstring, its imports and `__all__`."""
    body = tree.body[ast.get_docstring(tree) is not None :]
    own = [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]
    return [code for code in map(ast.unparse, own) if not code.startswith("__all__")]


def names_defined(statement):
    """The names that a statement gives something to."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in statement.names}
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def names_used(tree):
    """Every name in a tree; a test's arguments are the fixtures that it asks for, and so may its strings be."""
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.arg for node in nodes if isinstance(node, ast.arg)} | strings(tree)


def asked_for(conftest, names):
    """The statements of a `conftest.py` that tests with these names use: what pytest calls, and what they ask for."""
    names, used = set(names), None
    while used is None or not names_used(used) <= names:
        names |= names_used(used) if used else set()
        defined = [(statement, names_defined(statement)) for statement in conftest.body]
        hooks = [any(name.startswith("pytest_") for name in called) for _, called in defined]
        body = [statement for (statement, called), hook in zip(defined, hooks, strict=True) if hook or called & names]
        used = ast.Module(body, type_ignores=[])
    return used


class Package:
    """The package as it stands in a folder, and modules that stand in others."""

    DEPTH = "*.*"  # which files count in a folder that a module names

    def __init__(self, root, others=()):
        self.root = Path(root)
        self.folders = [self.root, *others]

    @cache  # noqa: B019 (a package is looked at once)
    def file(self, module):
        """The file of a module; `None` where there is no such module."""
        paths = [folder.joinpath(*module.split(".")) for folder in self.folders]
        files = [file for path in paths for file in (path / "__init__.py", path.with_suffix(".py"))]
        return next((file for file in files if file.exists()), None)

    @cache  # noqa: B019
    def parsed(self, file):
        """The syntax tree of a file."""
        return parse(file.read_text(encoding="utf-8"))

    def tree(self, module):
        """The syntax tree of a module."""
        return self.parsed(self.file(module))

    def is_package(self, module):
        """Whether a module has modules inside it."""
        file = self.file(module)
        return file is not None and file.name == "__init__.py"

    def origin(self, module, name):
        """The module that `from module import name` leads to."""
        if self.is_package(module):
            if self.file(f"{module}.{name}"):
                return f"{module}.{name}"
            for source, original, called in imports(self.tree(module)):
                if called == name and original and self.file(source):
                    return self.origin(source, original)
        return module

    def imported(self, tree):
        """The modules of the package that a tree imports from, by the names that it uses of them."""
        for module, name, called in imports(tree):
            if module and self.file(module.split(".")[0]):
                found = self.origin(module, name) if name else module
                itself = found == (f"{module}.{name}" if name else module)
                read = attributes_read(tree, called) if itself and self.is_package(found) else None
                origins = [found] if read is None else [self.origin(found, attribute) for attribute in read]
                yield from filter(self.file, origins)

    def modules_named(self, tree):
        """The modules that a tree uses: those it imports, and those of the exercises that it names."""
        named = set(self.imported(tree))
        if EXERCISES in named:
            ids = filter(None, map(EXERCISE_ID.fullmatch, strings(tree)))
            named |= {module for name in ids if self.file(module := f"{EXERCISES}.{name[1]}")}
        return named

    def records_named(self, tree):
        """The recorded results that a tree may load."""
        if RECORDED not in self.imported(tree):
            return set()
        records = set(self.file(RECORDED).parent.glob("*.json"))
        return records if loads_by_variable(tree) else {file for file in records if file.stem in strings(tree)}

    @cache  # noqa: B019
    def files_beside(self, module):
        """Files that are no modules, in the folder of a module that names them or their folder."""
        folder = self.file(module).parent
        named = [folder / name for name in strings(self.tree(module)) if FILE_NAME.fullmatch(name)]
        folders = [path for path in named if path.is_dir() and not (path / "__init__.py").exists()]
        inside = [path for folder in folders for path in folder.glob(self.DEPTH)]
        return {path for path in (*named, *inside) if path.is_file()}

    @cache  # noqa: B019
    def followed(self, module):
        """The modules that a module uses."""
        used = self.modules_named(self.tree(module))
        if module == EXERCISES:  # it knows all exercises: only those that a notebook names count
            used -= {f"{source}.{name}" for source, name, _ in imports(self.tree(module)) if source == EXERCISES}
        return used

    def files(self, tree):
        """Every file that a tree depends on, and what the packages above them do themselves: `{path: content}`."""
        modules, new = set(), self.modules_named(tree)
        while new:
            modules |= new
            new = set().union(*map(self.followed, new)) - modules
        trees = [tree, *map(self.tree, modules)]
        files = set(map(self.file, modules)).union(*map(self.files_beside, modules), *map(self.records_named, trees))
        contents = {file: file.read_bytes() for file in files}
        above = {module.rsplit(".", depth)[0] for module in modules for depth in range(1, module.count(".") + 1)}
        for package in above - modules:
            contents[self.file(package)] = "\n".join(own_statements(self.tree(package))).encode()
        return contents


def depends_on(package, sources):
    """What the cells of a notebook depend on in the package, as `{path: content}`."""
    try:
        cells = [parse_cell(source) for source in sources]
    except SyntaxError:  # as it will fail, or is no Python: everything counts
        return {file: file.read_bytes() for file in (package.root / PACKAGE).rglob("*") if file.is_file()}
    return package.files(ast.Module([node for cell in cells for node in cell.body], type_ignores=[]))


class Tests(Package):
    """The package, and the tests and tools that stand in folders beside it."""

    DEPTH = "**/*.*"

    def __init__(self, root):
        root = Path(root)
        folders = {file.parent for file in root.glob("tests/**/test_*.py")}
        super().__init__(root, [*sorted(folders), *(root / name for name in ("tests", "tools", "_ext", *SCRIPTS))])

    def code(self, test):
        """What is run for a test file: all of it, what it asks for of each `conftest.py`, scripts and exercises."""
        tree = ast.Module([*self.parsed(test).body], type_ignores=[])
        for conftest in conftests(test):
            tree.body += asked_for(self.parsed(conftest), names_used(tree)).body
        named = {text for text in strings(tree) if text.isidentifier()}
        modules = [name for name in named if any((self.root / folder / f"{name}.py").exists() for folder in SCRIPTS)]
        if EXERCISES in self.imported(tree) and not any(map(EXERCISE_ID.fullmatch, strings(tree))):
            modules += [f"{EXERCISES}.{file.stem}" for file in self.file(EXERCISES).parent.glob("*.py")]
        return ast.Module([*tree.body, *(ast.Import([ast.alias(name)]) for name in modules)], type_ignores=[])

    def uses(self, test):
        """The files that a test file depends on, and the words of the paths that it and its helpers name."""
        tree = self.code(test)
        files = {test, *conftests(test), *self.files(tree)}
        helpers = [file for file in files if self.root / "tests" in file.parents and file.name != "conftest.py"]
        trees = [tree, *(self.parsed(file) for file in helpers if file.suffix == ".py")]
        return files, {part.strip(".") for text in set().union(*map(strings, trees)) for part in text.split("/")}

    def touched(self, test, changed):
        """Whether a test file depends on any of the files that changed."""
        files, words = self.uses(test)
        for file in changed:
            top = file.relative_to(self.root).parts[0]
            beside = file.parent.name if file.parent.parent == test.parent else None
            if file in files or {file.name, beside} & words or top in WHOLE & words:
                return True
        return False


def conftests(test):
    """Every `conftest.py` that pytest reads for a test file, the nearest first."""
    return [file for folder in test.parents if (file := folder / "conftest.py").exists()]
