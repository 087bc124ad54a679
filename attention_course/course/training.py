"""One small training loop, and the two scores that sequence chapters report."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from attention_course.support.validation import validate_whole_number


def train(
    model: nn.Module,
    next_batch: Callable[[], object],
    loss: Callable[[nn.Module, object], Tensor],
    *,
    steps: int,
    peak_lr: float,
    evaluate: Callable[[nn.Module], dict[str, float]] | None = None,
    every: int = 100,
    stop_when: Callable[[dict[str, float]], bool] | None = None,
) -> list[dict[str, float]]:
    """Train with AdamW, a one-cycle learning rate and gradients clipped to norm 1.

    The cycle is that of `torch.optim.lr_scheduler.OneCycleLR`: while the rate rises, AdamW's beta 1 falls from 0.95 to
    0.85, and rises again as the rate falls.

    Args:
        model: Trained in place.
        next_batch: Makes the next training batch.
        loss: Its mean loss under the model, a scalar to differentiate.
        steps: Number of updates, at most; 1 or more.
        peak_lr: Highest learning rate, reached after 30% of the steps.
        evaluate: Called on the model in evaluation mode, without gradients; its numbers join the record.
        every: Steps between two records, 1 or more. The first record is made before training.
        stop_when: Ends training after a record for which it returns `True`.

    Returns:
        The records, oldest first: `{"step": ..., "loss": ..., **evaluate(model)}`. The loss is
        averaged over the steps since the last record (for the first: that of the first batch).

    Raises:
        ValueError: If `steps` or `every` is no whole number of 1 or more. The model is not trained then.
    """
    validate_whole_number("steps", steps, at_least=1)
    validate_whole_number("every", every, at_least=1)
    # One kernel for all parameters: small models spend as long on the update as on the model.
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak_lr, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, peak_lr, total_steps=steps)
    model.train()
    history = [_record(model, 0, loss(model, next_batch()).item(), evaluate)]
    since_record = []
    # A bar redrawn ten times a second would fill a log file; once in two seconds is enough.
    progress = tqdm(range(1, steps + 1), desc="training", mininterval=2.0)
    for step in progress:
        batch_loss = loss(model, next_batch())
        optimizer.zero_grad()
        batch_loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        since_record.append(batch_loss.detach())
        if step % every == 0 or step == steps:
            record = _record(model, step, torch.stack(since_record).mean().item(), evaluate)
            since_record = []
            history.append(record)
            progress.set_postfix({name: f"{number:.3f}" for name, number in record.items() if name != "step"})
            if stop_when is not None and stop_when(record):
                break
    model.eval()
    return history


def _record(model, step, loss, evaluate) -> dict[str, float]:
    record = {"step": step, "loss": loss}
    if evaluate is not None:
        model.eval()
        with torch.no_grad():
            record |= evaluate(model)
        model.train()
    return record


def sequence_loss(model: nn.Module, pairs, *, pad: int | None = None) -> Tensor:
    """Mean cross-entropy in nats of the target symbols, the true ones before them given.

    Args:
        model: Returns `(logits, weights)` for `(source, target)`.
        pairs: A `SequencePairs`.
        pad: The symbol that fills up short targets and does not count; `None` if there is none.
    """
    logits, _ = model(pairs.source, pairs.target)
    counts = {} if pad is None else {"ignore_index": pad}
    return F.cross_entropy(logits.flatten(0, 1), pairs.target.flatten(), **counts)


def accuracy(written: Tensor, target: Tensor) -> dict[str, float]:
    """Share of symbols, and share of whole sequences, that were written correctly.

    Args:
        written: Integers `(batch, n_target)`.
        target: Integers of the same shape.

    Raises:
        ValueError: If the shapes differ.
    """
    if written.shape != target.shape:
        raise ValueError(f"written must have the target's shape {tuple(target.shape)}, got {tuple(written.shape)}")
    right = written == target
    return {"symbols": right.float().mean().item(), "sequences": right.all(-1).float().mean().item()}


def alignment_error(weights: Tensor, gold: Tensor) -> float:
    """Share of the target tokens whose largest weight misses the gold source tokens.

    0 is perfect, and chance is near 1 minus the share of gold. Where each target token has one gold source token, this
    is the alignment error rate of Och & Ney 2003 (doi:10.1162/089120103321337421), which elsewhere counts missing links
    too.

    Args:
        weights: `(..., n_target, n_source)`.
        gold: Boolean, of the same shape; `True` where a target token may align.

    Raises:
        ValueError: If the shapes differ.
    """
    if weights.shape != gold.shape:
        raise ValueError(f"gold must have the weights' shape {tuple(weights.shape)}, got {tuple(gold.shape)}")
    hit = gold.gather(-1, weights.argmax(-1, keepdim=True))
    return 1 - hit.float().mean().item()
