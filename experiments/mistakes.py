"""Every small mistake that can be planted in a source: the half of mutants.py that knows Python's syntax.

A mistake is an edit of the text, found by means of the syntax tree, so that comments and layout stay: another
operator, comparison or constant, a condition turned round, arguments swapped or left out, a statement or a call such
as `.detach()` dropped, a check that never raises. Texts, annotations and what stands in a `raise` are left alone.
"""

import ast

COMPARISONS = {
    ast.Lt: ("<", "<=", ">="), ast.LtE: ("<=", "<", ">"), ast.Gt: (">", ">=", "<="), ast.GtE: (">=", ">", "<"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"),
}  # fmt: skip
OPERATORS = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"), ast.Pow: ("**", "*"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"),
}  # fmt: skip
PAIRS = ["min max", "amin amax", "minimum maximum", "argmin argmax", "any all", "sin cos", "tril triu", "zeros ones"]
PAIRS += ["zeros_like ones_like", "no_grad enable_grad", "cummin cummax", "floor ceil", "exp log"]
SWAPS = {old: new for pair in map(str.split, PAIRS) for old, new in (pair, pair[::-1])}
DROPPED = ["abs", "clamp", "clone", "contiguous", "detach", "double", "float", "flip", "masked_fill", "sqrt", "to"]
DROPPED += ["square", "transpose"]


class Planter(ast.NodeVisitor):
    """Collects `edits` of a source: where each begins and ends, in bytes, and what it puts there."""

    def __init__(self, source: str):
        self.source, self.edits, self.in_init = source.encode(), [], False
        self.starts = [0]
        for line in self.source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.visit(ast.parse(source))

    def span(self, node):
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, start, end):
        return self.source[start:end].decode()

    def replace(self, node, new):
        self.edits.append((*self.span(node), new))

    def between(self, left, right, old, *news):
        """Replace the operator, which the tree knows no place of, between its operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        for new in news:
            self.edits.append((start, end, self.text(start, end).replace(old, new, 1)))

    def keep(self, node, part):
        """Put a part of a node in the place of the whole."""
        self.replace(node, self.text(*self.span(part)))

    def negate(self, test):
        """Comparisons are turned round as operators are."""
        if isinstance(test, ast.Compare) or isinstance(getattr(test, "op", None), ast.Not):
            return
        self.replace(test, f"not ({self.text(*self.span(test))})")

    def visit_FunctionDef(self, node):
        self.in_init = node.name == "__init__"
        for part in [*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body]:
            self.visit(part)

    def visit_AnnAssign(self, node):
        if node.value:
            self.visit(node.value)

    def visit_Raise(self, node):
        """Messages are left alone, and so are texts in braces."""

    visit_JoinedStr = visit_Raise

    def visit_Assert(self, node):
        self.visit(node.test)

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Call) and not ast.unparse(node).startswith("super()"):
            self.replace(node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node):
        """Drop an assignment where what is assigned to was there before."""
        (target,) = node.targets[-1:]
        used = {name.id for name in ast.walk(node.value) if isinstance(name, ast.Name)}
        state = isinstance(target, ast.Attribute) and not self.in_init
        if state or isinstance(target, ast.Subscript) or (isinstance(target, ast.Name) and target.id in used):
            self.replace(node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        self.replace(node, "pass")
        if type(node.op) in OPERATORS:
            self.between(node.target, node.value, *OPERATORS[type(node.op)])
        self.generic_visit(node)

    def visit_If(self, node):
        if isinstance(node.body[-1], ast.Raise):
            self.replace(node.test, "False")
        else:
            self.negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node):
        self.negate(node.test)
        self.generic_visit(node)

    visit_While = visit_IfExp

    def visit_comprehension(self, node):
        for test in node.ifs:
            self.negate(test)
        self.generic_visit(node)

    def visit_Compare(self, node):
        operands = [node.left, *node.comparators]
        for left, right, operator in zip(operands, node.comparators, node.ops, strict=False):
            self.between(left, right, *COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        pair = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.between(left, right, *pair)
        self.generic_visit(node)

    def visit_BinOp(self, node):
        if type(node.op) in OPERATORS:
            self.between(node.left, node.right, *OPERATORS[type(node.op)])
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.operand, ast.Constant):  # -1 and -2 are the last dimensions
            self.replace(node, {"-1": "-2", "-2": "-1"}.get(ast.unparse(node), ast.unparse(node.operand)))
        else:
            self.keep(node, node.operand)
            self.visit(node.operand)

    def visit_Constant(self, node):
        if isinstance(node.value, bool):
            self.replace(node, str(not node.value))
        elif isinstance(node.value, int):
            self.replace(node, str(node.value + 1))
            self.replace(node, str(node.value - 1))
        elif isinstance(node.value, float):
            self.replace(node, str(2 * node.value or 1.0))

    def visit_Slice(self, node):
        for bound in filter(None, (node.lower, node.upper)):
            self.replace(bound, "")
        self.generic_visit(node)

    def visit_Call(self, node):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in SWAPS:
            end = self.span(node.func)[1]
            self.edits.append((end - len(name), end, SWAPS[name]))
        if name in DROPPED and isinstance(node.func, ast.Attribute):
            self.keep(node, node.func.value)
        for left, right in zip(node.args, node.args[1:], strict=False):
            (a, b), (c, d) = self.span(left), self.span(right)
            self.edits.append((a, d, self.text(c, d) + self.text(b, c) + self.text(a, b)))
        parts = [*node.args, *node.keywords]
        for before, part in zip([None, *parts], parts, strict=False):
            if isinstance(part, ast.keyword) and part.arg and part.arg != "device":  # there may be but one device here
                start, end = self.span(part)
                self.edits.append((self.span(before)[1] if before else start, end, ""))
        self.generic_visit(node)


def mutants(source: str) -> list[dict]:
    """Every mistake that can be planted in a source and is still Python, and a different program."""
    planter, found = Planter(source), {}
    original = ast.dump(ast.parse(source))
    for start, end, new in sorted(planter.edits):
        mutated = (planter.source[:start] + new.encode() + planter.source[end:]).decode()
        try:
            if ast.dump(ast.parse(mutated)) == original:
                continue
        except SyntaxError:
            continue
        first = planter.source.rfind(b"\n", 0, start) + 1
        last = planter.source.find(b"\n", end)
        was = " ".join(planter.text(first, last).split())
        becomes = " ".join((planter.text(first, start) + new + planter.text(end, last)).split())
        line = planter.source.count(b"\n", 0, start) + 1
        found.setdefault(mutated, {"line": line, "was": was, "becomes": becomes, "source": mutated})
    return list(found.values())
