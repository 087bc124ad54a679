"""A view and what it imports as one module, for anywidget; all of them as classic scripts, for pages without a kernel.

A page opened from a folder may run scripts, but load no modules.
"""

import re
from pathlib import Path

VIEWS = Path(__file__).parent / "views"
MOUNT, THEME = VIEWS / "page" / "mount.js", VIEWS / "page" / "theme.js"
LIVE = ("model", "translator")  # they run a whole model, and each is a script of its own
IMPORT = re.compile(r'^import \{[^}]*\} from "([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)


def join(path: Path) -> str:
    """A JavaScript module with what it imports before it, each file once, in one scope.

    Args:
        path: The module. It and those that it imports, by relative paths, give the same name to nothing at their top.

    Returns:
        A module without imports, which exports what the first one does.
    """
    return "\n".join([*(EXPORT.sub("", _body(part)) for part in _imported(path, [])), _body(path)])


def page_script() -> str:
    """All views but those of live models, and what mounts each explorer of a page with the browser's own controls."""
    modules = (f"{path.stem}: {_call(path)}," for path in sorted(VIEWS.glob("*.js")) if path.stem not in LIVE)
    return "\n".join(["(() => {", '"use strict";', "const views = {", *modules, "};", join(MOUNT), "})();", ""])


def theme_script() -> str:
    """What makes a page of its own follow the reader's system between light and dark: the site has a button."""
    return f"(() => {{\n{THEME.read_text(encoding='utf-8')}}})();\n"


def live_script(view: str) -> str:
    """A live model's view, which only its pages load, before the other script; it is its worker's script too."""
    return f'"use strict";\n(globalThis.courseLiveViews ??= {{}}).{view} = {_call(VIEWS / f"{view}.js")};\n'


def _call(path: Path) -> str:
    """A view as a function that is called at once and returns it."""
    return f"(() => {{\n{join(path).replace('export default', 'return')}}})()"


def _body(path: Path) -> str:
    return IMPORT.sub("", path.read_text(encoding="utf-8"))


def _imported(path: Path, found: list[Path]) -> list[Path]:
    """All files that a module needs, each after those that it needs itself."""
    for address in IMPORT.findall(path.read_text(encoding="utf-8")):
        part = (path.parent / address).resolve()
        if part not in found:
            _imported(part, found)
            found.append(part)
    return found
