"""Why does a model not learn? One file of plain PyTorch, made to be taken along: it imports nothing of the course."""

import copy
from collections import defaultdict, namedtuple
from collections.abc import Callable

import torch
from torch import Tensor, nn

TINY = 1e-4  # of the logits' spread: rounding moves them by far less, a cause by far more
VANISHED = 1e-6  # of the strongest gradient: the weakest of sound models is hundreds of times larger
RATES, STEPS, ROWS = (0.003, 0.0003, 0.03), 100, 8  # of learning by heart
# The name of a cause if it is wrong, else of the question; whether it is wrong; the number measured; what it means.
Finding = namedtuple("Finding", "name wrong number sentence")


class Report(list):
    """Findings, question by question; what is wrong comes last, and `cause` is its name."""

    cause: str | None = None

    def __str__(self) -> str:
        lines = [f"{'WRONG' if wrong else 'fine '} {name}: {sentence}" for name, wrong, _, sentence in self]
        return "\n".join(lines if self.cause else [*lines, "nothing found"])


class Run:
    """Copies of a model at work on one batch; the arguments are those of `examine`."""

    @torch.no_grad()
    def __init__(self, model, batch, loss, *, causal, mask=None, order=True, rate=None):
        inputs, self.targets = batch
        *self.others, self.tokens = inputs if isinstance(inputs, tuple | list) else (inputs,)
        self.loss, self.causal, self.mask, self.order = loss, causal, mask, order
        self.rates = RATES if rate is None else [rate]
        self.model, self.nudged = (copied(model).float().eval() for _ in range(2))
        for parameter in self.nudged.parameters():  # a layer that starts at zero would let nothing through
            if parameter.requires_grad:  # what is frozen may be a mask
                parameter.data += 0.02 * torch.randn_like(parameter)
        self.logits, self.before = self.call(self.model), self.call(self.nudged)
        self.even = loss(torch.zeros_like(self.logits), self.targets).item()
        self.frozen = [parameter.requires_grad for parameter in model.parameters()].count(False)
        self.spread = self.before.std().clamp_min(1e-12)
        self.per_token = self.logits.dim() > 2 and self.logits.size(1) == self.tokens.size(1)

    def call(self, model, *, tokens=None, mask=None, rows=slice(None)) -> Tensor:
        """The logits for some rows, perhaps for other tokens or under another mask, in the model's precision."""
        dtype = next((parameter.dtype for parameter in model.parameters() if parameter.is_floating_point()), None)
        mask = self.mask if mask is None else mask
        given = [*self.others, self.tokens if tokens is None else tokens, *([] if mask is None else [mask])]
        output = model(*((tensor.to(dtype) if tensor.is_floating_point() else tensor)[rows] for tensor in given))
        return output[0] if isinstance(output, tuple | list) else getattr(output, "logits", output)

    @torch.no_grad()
    def moved(self, *, places=..., rows=slice(None), before=None, **changed) -> float:
        """How far a change moves the nudged model's logits at some places of some rows, in units of their spread."""
        before = self.before if before is None else before
        moves = (self.call(self.nudged, rows=rows, **changed) - before[rows])[places]
        return (moves.abs().max() / self.spread).nan_to_num(torch.inf).item()

    @torch.no_grad()
    def walk(self, model) -> list[tuple[str, float, float]]:
        """Of each module, as it finishes: name, largest number returned, and the share of those that are not finite."""
        seen, watched = [], copy.deepcopy(model)  # no hook stays in the model itself
        for name, module in watched.named_modules():

            def hook(module, given, output, name=name or "the model"):
                output = output[0] if isinstance(output, tuple | list) else output
                if isinstance(output, Tensor) and output.is_floating_point():
                    seen.append((name, output.abs().max().item(), (~output.isfinite()).float().mean().item()))

            module.register_forward_hook(hook)
        self.call(watched)
        return seen


def copied(model: nn.Module) -> nn.Module:
    """A copy of a model, without the graph of what it keeps of its last pass: `deepcopy` alone refuses that."""
    memo, parts, met = {}, [vars(module) for module in model.modules()], set()
    for part in parts:  # grows while it is walked
        if id(part) in met:  # a list may contain itself
            continue
        met.add(id(part))
        for kept in part.values() if isinstance(part, dict) else part:
            if isinstance(kept, Tensor) and not kept.is_leaf:
                memo[id(kept)] = kept.detach().clone()
            elif isinstance(kept, dict | list | tuple):
                parts.append(kept)
    return copy.deepcopy(model, memo)


def by_heart(run: Run, rate: float) -> tuple[float, float]:
    """Learn a few rows, to half the loss of an even guess: the loss, and the first update by the weights."""
    model = copy.deepcopy(run.model).train()
    for module in filter(lambda module: isinstance(module, nn.Dropout), model.modules()):
        module.p = 0.0
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for step in range(STEPS):
        loss = run.loss(run.call(model, rows=slice(ROWS)), run.targets[:ROWS])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 0:
            start, end = (nn.utils.parameters_to_vector(each.parameters()).detach() for each in (run.model, model))
        if loss <= run.even / 2:
            break
    return loss.item(), ((end - start).norm() / start.norm()).item()


def gradients(model: nn.Module) -> dict[str, float]:
    """The norm of the gradient in each module with parameters of its own that a gradient reaches."""
    squares = defaultdict(float)
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            squares[name.rpartition(".")[0] or "the model"] += parameter.grad.norm().item() ** 2
    return {module: square**0.5 for module, square in squares.items()}


def ask_passes(run: Run) -> Finding:
    """Is a logit NaN or infinite, and which module returned one first? Do two passes in evaluation mode agree?"""
    bad = (~run.logits.isfinite()).float().mean().item()
    if bad:
        first = next((name for name, _, share in run.walk(run.model) if share), "none of them")
        return Finding("numbers", True, bad, f"{bad:.0%} of the logits are NaN or infinite; first module: {first}")
    moved = run.moved()
    return Finding("mode", moved > TINY, moved, f"between two passes in eval mode, logits move by {moved:.2g}")


def ask_start(run: Run) -> Finding:
    """Is the loss far above an even guess's, all logits 0? Or are the logits shares, and the loss does a softmax?"""
    loss, sums = run.loss(run.logits, run.targets).item(), run.logits.sum(-1)
    try:
        shifted = run.loss(run.logits + 1, run.targets).item()  # a softmax does not feel a constant
    except RuntimeError as error:  # a loss of probabilities refuses numbers above 1
        raise ValueError(f"loss must take logits, as cross_entropy does, and it raises {error}") from error
    if not 0 < run.even < torch.inf:  # as a loss of probabilities, or of their logarithms
        raise ValueError(f"loss must take logits, as cross_entropy does, and it is {run.even:g} where they all are 0")
    if run.targets.is_floating_point() and run.targets.numel() == run.logits.numel():
        hit, beyond = (run.loss(times * run.targets.view_as(run.logits), run.targets) for times in (1, 2))
        if hit == 0 < beyond:  # as mse_loss
            raise ValueError("loss must take logits, as cross_entropy does, and it is 0 where they are the targets")
    if abs(shifted - loss) < 1e-4 and (run.logits >= 0).all() and ((sums - 1).abs() < 1e-3).all():
        return Finding("softmax", True, sums.mean().item(), "each row of logits sums to 1: a softmax before the loss's")
    return Finding("start", loss > 1.5 * run.even, loss, f"loss {loss:.2f}, an even guess {run.even:.2f}")


def ask_rows(run: Run) -> Finding:
    """Does the model say the same to every row? Do the other rows have a say in the first one's logits?"""
    differ = ((run.before - run.before[:1]).abs().max() / run.spread).item()
    if differ <= TINY:
        return Finding("inputs", True, differ, f"logits of different rows differ by {differ:.2g}")
    moved = run.moved(rows=slice(1))
    return Finding("rows", moved > TINY, moved, f"without the other rows, logits of the first move by {moved:.2g}")


def ask_future(run: Run) -> Finding | None:
    """Do later tokens move earlier logits? Or are the targets tokens that their own logits have read?"""
    if not run.causal:
        return None
    if not run.per_token:
        raise ValueError(f"causal needs logits of each token, (batch, n, ...), got {tuple(run.logits.shape)}")
    n, turned = run.tokens.size(1), run.tokens.flip(1)
    for cut in (n // 2, n - 1):  # a leak inside chunks may end at the first one
        late = torch.cat([run.tokens[:, :cut], turned[:, cut:]], 1)
        moved = run.moved(tokens=late, places=(slice(None), slice(cut)))
        if moved > TINY:
            break
    if moved <= TINY and targets_read(run) and run.moved(tokens=turned, places=(slice(None), 0)) > TINY:
        return Finding("shift", True, 1.0, "100% of the targets are tokens that their own logits have read")
    return Finding("future", moved > TINY, moved, f"other tokens behind move earlier logits by {moved:.2g}")


def targets_read(run: Run) -> bool:
    """Whether the targets, but those below 0, are the tokens at their own place, or those at the place before."""
    if run.targets.shape != run.tokens.shape:
        return False
    ahead = run.targets[:, 1:], run.tokens[:, :-1]
    return any(bool((a == b)[a >= 0].all()) and bool((a >= 0).any()) for a, b in [(run.targets, run.tokens), ahead])


@torch.no_grad()
def ask_padding(run: Run) -> Finding | None:
    """Do pads move the logits of what is real, and if so, is the mask without effect, or the wrong way round?"""
    if run.mask is None or run.mask.all():
        return None
    rows = (~run.mask).any(1).nonzero()[:, 0]
    first = run.tokens[torch.arange(len(run.mask)), run.mask.int().argmax(1)]  # a real token of each row
    filled = run.tokens.clone()
    filled[~run.mask] = first[:, None].expand_as(filled)[~run.mask]
    where = {"tokens": filled, "rows": rows, "places": run.mask[rows] if run.per_token else ...}
    moved, name, cause = run.moved(**where), "padding", ""
    if moved > TINY and run.moved(mask=torch.ones_like(run.mask), rows=rows) <= TINY:
        name, cause = "mask", "; the mask has no effect"
    elif moved > TINY and run.moved(mask=~run.mask, before=run.call(run.nudged, mask=~run.mask), **where) <= TINY:
        name, cause = "inverted", "; under ~mask they do not"
    return Finding(name, moved > TINY, moved, f"other pads move the logits of what is real by {moved:.2g}{cause}")


def turned_round(run: Run, first: int) -> tuple[Tensor, list[int]]:
    """The tokens, in each row all real ones turned round from the `first` to the last but one, and where it ends."""
    turned, last = run.tokens.clone(), []
    for row in range(len(turned)):
        *earlier, end = range(turned.size(1)) if run.mask is None else run.mask[row].nonzero()[:, 0].tolist() or [0]
        turned[row, earlier[first:]] = run.tokens[row, earlier[first:][::-1]]
        last.append(end)
    return turned, last


def ask_order(run: Run) -> Finding | None:
    """Does another order of all real tokens but the last leave the answer, or the last token's logits, as they were?

    Then the first one stays, too: it may be a CLS token, of which alone the logits are made.
    """
    moved = None
    for first in (0, 1) if run.order else ():
        turned, last = turned_round(run, first)
        if not torch.equal(turned, run.tokens):
            number = run.moved(tokens=turned, places=(range(len(last)), last) if run.per_token else ...)
            moved = number if moved is None or number <= TINY else moved
    if moved is None:  # too few tokens
        return None
    meant = "" if moved > TINY else " (meant so, as in a bag of words? Then order=False)"
    return Finding("order", moved <= TINY, moved, f"another order of the tokens moves logits by {moved:.2g}{meant}")


@torch.no_grad()
def have_a_say(run: Run, names: list[str]) -> bool:
    """Whether parameters move the logits; a layer whose output is not used, such as a pooler, does not."""
    model = copy.deepcopy(run.nudged)
    for name in names:
        parameter = model.get_parameter(name)
        parameter += 0.02 * torch.randn_like(parameter)
    return ((run.call(model) - run.before).abs().max() / run.spread).item() > TINY


def ask_gradient(run: Run) -> Finding:
    """Does a gradient reach every parameter that is to be trained, and is none far weaker than the strongest?"""
    if run.frozen == len(list(run.model.parameters())):
        return Finding("frozen", True, run.frozen, f"all {run.frozen} parameters are frozen: requires_grad is False")
    model = copy.deepcopy(run.nudged).train()
    run.loss(run.call(model), run.targets).backward()
    dead = [name for name, parameter in model.named_parameters() if parameter.requires_grad and parameter.grad is None]
    if dead and have_a_say(run, dead):
        return Finding("gradient", True, len(dead), f"none reaches {len(dead)} parameters, the first is {dead[0]}")
    norms = gradients(model)
    weakest = min(norms, key=norms.get)
    ratio = norms[weakest] / max(norms.values())
    name, weak = ("vanishing", True) if ratio < VANISHED else ("gradient", False)
    idle = f"; {len(dead)} parameters have no say in the logits, the first is {dead[0]}" if dead else ""
    return Finding(name, weak, ratio, f"the weakest, in {weakest}, is {ratio:.1g} of the strongest{idle}")


def ask_learning(run: Run) -> Finding:
    """Can a few rows be learned by heart? If not: steps of a wrong size, or frozen parts?"""
    for rate in run.rates:
        loss, update = by_heart(run, rate)
        said = f"{ROWS} rows by heart: loss {loss:.2f}, an even guess {run.even:.2f}"
        if loss <= run.even / 2:
            return Finding("learning", False, loss, said)
    if len(run.rates) == 1 and not 1e-4 < update < 0.1:
        return Finding("rate", True, update, f"{said}; the first step at {rate:g} is {update:.1g} of the weights")
    sentence = f"{said}; frozen: {run.frozen} parameters"
    return Finding("frozen" if run.frozen else "learning", True, run.frozen or loss, sentence)


def ask_float16(run: Run) -> Finding | None:
    """Do numbers leave float16, which ends at 65,504?"""
    largest = max(row[1] for row in run.walk(run.model))
    said = f"the largest number that a module returns is {largest:.3g}"
    try:
        sick = [name for name, _, share in run.walk(copy.deepcopy(run.model).half()) if share]
    except RuntimeError as error:  # a number such as -1e9 is refused; or the model cannot compute in float16
        told = str(error).splitlines()[0]
        if "overflow" in str(error):
            return Finding("float16", True, 1.0, told)
        return Finding("float16", False, largest, f"{said}; not asked in float16: {told}")
    first = f"; NaN or infinity in float16: first in {sick[0]}" if sick else ""
    return Finding("float16", bool(sick), largest, said + first)


QUESTIONS = ask_passes, ask_start, ask_rows, ask_future, ask_padding, ask_order, ask_gradient, ask_learning, ask_float16


def examine(
    model: nn.Module, batch: tuple, loss: Callable, *, causal: bool, mask: Tensor | None = None, order=True, rate=None
) -> Report:
    """Ask a model one question after the other, until something is wrong. Works on copies.

    Args:
        model: Called as `model(inputs)` or `model(inputs, mask)`; returns logits, or a tuple that begins with them.
        batch: `(inputs, targets)`, two rows or more. Of several inputs the last is the sequence in question.
        loss: `loss(logits, targets)`, a mean.
        causal: Whether the future must have no say; the logits are then `(batch, n, ...)`.
        mask: Boolean `(batch, n)`, `True` = a real token.
        order: Whether the order of the tokens should matter; `False` for a bag of words.
        rate: Learning rate of your own, for Adam; without it, three are tried.

    Raises:
        TypeError: If the model is no module, or the mask not boolean.
        ValueError: If batch and mask do not fit, or the loss takes no logits, as one of regression.
    """
    tokens = batch[0][-1] if isinstance(batch[0], tuple | list) else batch[0]
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a module, got {type(model).__name__}")
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean, True = a real token, got {mask.dtype} of shape {tuple(mask.shape)}")
    if not len(tokens) == len(batch[1]) > 1 or (mask is not None and mask.shape != tokens.shape[:2]):
        got = f"{len(tokens)} and {len(batch[1])} rows, mask {None if mask is None else tuple(mask.shape)}"
        raise ValueError(f"batch must be two rows or more of inputs and targets, and mask (batch, n), got {got}")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        run, report = Run(model, batch, loss, causal=causal, mask=mask, order=order, rate=rate), Report()
        for question in QUESTIONS:
            report += filter(None, [question(run)])
            if report[-1].wrong:
                report.cause = report[-1].name
                break
    return report
