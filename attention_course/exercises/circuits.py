"""Exercises of the page "What do single heads do?"."""

import torch

from attention_course.attention import scaled_dot_product_attention
from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal
from attention_course.interpreting.circuits import induction_score

# --- the induction score of a head ----------------------------------------------------------------


def induction(weights, period):
    return induction_score(weights, period)


def _induction_inputs(size, generator):
    period = integer(3, size + 3, generator)
    n = period + integer(3, size + 3, generator)
    hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
    return normal(generator, n, n).masked_fill(hidden, -torch.inf).softmax(-1), period


def _diagonal(weights, offset, skipped):
    return weights.diagonal(offset)[skipped:].mean()


INDUCTION = Exercise(
    "circuits.induction",
    induction,
    _induction_inputs,
    (
        Misconception(
            "the same symbol",
            lambda weights, period: _diagonal(weights, -period, 0),
            "This is the weight on the query's own symbol, one period back. The answer is the symbol that followed it.",
        ),
        Misconception(
            "one too far",
            lambda weights, period: _diagonal(weights, -period - 1, 0),
            "This is the weight on the token before the query's symbol. The answer came after it.",
        ),
        Misconception(
            "one query too many",
            lambda weights, period: _diagonal(weights, 1 - period, 0),
            "The diagonal is the right one. But its first query is the last token of the first period: its symbol has "
            "not come before.",
        ),
        Misconception(
            "all queries counted",
            lambda weights, period: weights.diagonal(1 - period)[1:].sum() / len(weights),
            "You divided by the number of all queries. Those of the first period have nothing to find: leave them out.",
        ),
        Misconception(
            "queries and keys exchanged",
            lambda weights, period: _diagonal(weights, period - 1, 1),
            "You read the upper half of the weights, where a causal mask leaves only zeros. Rows are queries.",
        ),
        Misconception(
            "previous token",
            lambda weights, period: _diagonal(weights, -1, 0),
            "This is the previous-token score. The induction score looks almost a whole period back.",
        ),
        Misconception(
            "sum",
            lambda weights, period: weights.diagonal(1 - period)[1:].sum(),
            "This is the sum over the queries. Take the mean.",
        ),
    ),
)

# --- an ablation ----------------------------------------------------------------------------------


def remove(weight, head, n_heads):
    width = len(weight) // n_heads
    kept = weight.clone()
    kept[:, head * width : (head + 1) * width] = 0
    return kept


def _rows(weight, head, n_heads):
    return remove(weight.T, head, n_heads).T


def _remove_inputs(size, generator):
    d_model = size * integer(2, 4, generator)
    return normal(generator, d_model, d_model), integer(0, size - 1, generator), size


def _in_place(weight, head, n_heads):
    width = len(weight) // n_heads
    weight[:, head * width : (head + 1) * width] = 0
    return weight


def _one_column(weight, head, n_heads):
    kept = weight.clone()
    kept[:, head] = 0
    return kept


def _only(weight, head, n_heads):
    return weight - remove(weight, head, n_heads)


REMOVE = Exercise(
    "circuits.remove",
    remove,
    _remove_inputs,
    (
        Misconception(
            "one column",
            _one_column,
            "This takes away one number of one head. A head is as wide as d_model divided by the number of heads.",
        ),
        Misconception(
            "in place",
            _in_place,
            "You wrote into the layer's own weight, so that the head could not come back: change a copy. (.detach(), "
            ".data and .numpy() make none: they give the same numbers another name.)",
        ),
        Misconception(
            "kept instead of removed",
            _only,
            "This keeps the head and removes all the others.",
        ),
        Misconception(
            "counted from 1",
            lambda weight, head, n_heads: remove(weight, head - 1, n_heads),
            "This removes the head before it: the first head is number 0.",
        ),
        Misconception(
            "interleaved",
            lambda weight, head, n_heads: weight * (torch.arange(len(weight)) % n_heads != head),
            "You took every n_heads-th column. The heads' answers are laid side by side, one after the other.",
        ),
    ),
    given=_rows,
    kept=("weight",),
)

# --- a patch --------------------------------------------------------------------------------------


def patch(heads, output, clean, corrupted, head, place):
    patched = heads(corrupted)
    patched[place, head] = heads(clean)[place, head]
    return corrupted + patched.flatten(1) @ output.T


def _heads(query, key, value):
    """From a stream `(n, d_model)` to what the heads of a layer return, `(n, n_heads, d_head)`."""

    def run(stream):
        parts = (stream @ matrix for matrix in (query, key, value))
        return scaled_dot_product_attention(*parts, causal=True)[0].transpose(0, 1)

    return run


def _patch_inputs(size, generator):
    n_heads, d_head, n = size, integer(2, 4, generator), size + 3
    d_model = n_heads * d_head
    heads = _heads(*(normal(generator, n_heads, d_model, d_head) / d_model**0.5 for _ in range(3)))
    output, clean, corrupted = (normal(generator, rows, d_model) for rows in (d_model, n, n))
    head, place = integer(0, n_heads - 1, generator), integer(0, n - 1, generator)
    return heads, output / d_model**0.5, clean, corrupted, head, place


def _behind(stream, outputs, output):
    return stream + outputs.flatten(1) @ output.T


def _put(outputs, others, where):
    """The outputs with those of others at these places and heads."""
    patched = outputs.clone()
    patched[where] = others[where]
    return patched


def _patch_where(where):
    return lambda heads, output, clean, corrupted, head, place: _behind(
        corrupted, _put(heads(corrupted), heads(clean), where(head, place)), output
    )


def _behind_the_matrix(heads, output, clean, corrupted, head, place):
    added, other = ((heads(stream).flatten(1) @ output.T).view(heads(stream).shape) for stream in (corrupted, clean))
    return corrupted + _put(added, other, (place, head)).flatten(1)


def _into_the_stream(heads, output, clean, corrupted, head, place):
    corrupted += _put(heads(corrupted), heads(clean), (place, head)).flatten(1) @ output.T
    return corrupted


PATCH = Exercise(
    "circuits.patch",
    patch,
    _patch_inputs,
    (
        Misconception(
            "all places",
            _patch_where(lambda head, place: (slice(None), head)),
            "You took this head's output from the clean run at every place. Then nobody can say at which place it "
            "matters.",
        ),
        Misconception(
            "all heads",
            _patch_where(lambda head, place: place),
            "All heads come from the clean run at this place. A row of what W_O returns is a sum over all of them, so "
            "take one head before W_O.",
        ),
        Misconception(
            "behind the output matrix",
            _behind_the_matrix,
            "You patched a slice of what W_O returns. W_O has mixed the heads there: their outputs lie side by side "
            "only before it.",
        ),
        Misconception(
            "the other way round",
            lambda heads, output, clean, corrupted, head, place: _behind(
                clean, _put(heads(clean), heads(corrupted), (place, head)), output
            ),
            "You put the corrupted output into the clean run. That asks what is needed; here it is asked what is "
            "enough to bring the answer back.",
        ),
        Misconception(
            "the clean stream",
            lambda heads, output, clean, corrupted, head, place: _behind(
                clean, _put(heads(corrupted), heads(clean), (place, head)), output
            ),
            "The head outputs are right, but you added them to the clean stream, which brings all of the clean run "
            "along.",
        ),
        Misconception(
            "what is read",
            lambda heads, output, clean, corrupted, head, place: _behind(
                corrupted, heads(_put(corrupted, clean, place)), output
            ),
            "You exchanged what the heads read at this place. Every head then sees the clean row, and queries at later "
            "places do, too. Exchange what one head returns.",
        ),
        Misconception(
            "in place",
            _into_the_stream,
            "You wrote into the stream of a run. The next patch would begin with a run that is patched already: "
            "`x = x + y` makes a new tensor, `x += y` does not.",
        ),
        Misconception(
            "without the stream",
            lambda heads, output, clean, corrupted, head, place: (
                patch(heads, output, clean, corrupted, head, place) - corrupted
            ),
            "This is what the block adds. Asked is the stream behind it.",
        ),
        Misconception(
            "weight as it is kept",
            lambda heads, output, clean, corrupted, head, place: patch(
                heads, output.T, clean, corrupted, head, place
            ),
            "PyTorch keeps the weight of a linear layer so that it computes `x @ weight.T`.",
        ),
    ),
    kept=("clean", "corrupted"),
)

# --- does a head copy? ----------------------------------------------------------------------------


def _circuit(symbol, value, output, logits):
    return symbol @ value.T @ output.T @ logits.T


def copying(symbol, value, output, logits):
    circuit = _circuit(symbol, value, output, logits)
    return (circuit.argmax(-1) == torch.arange(len(circuit))).float().mean()


def _copying_inputs(size, generator):
    n_symbols, d_model, d_head = 3 * size + 4, size + 5, size + 3
    symbol = normal(generator, n_symbols, d_model)
    value = normal(generator, d_head, d_model)
    output = torch.linalg.pinv(value) + 0.1 * normal(generator, d_model, d_head)
    logits = symbol + 0.4 * normal(generator, n_symbols, d_model)
    return symbol, value, output, logits


COPYING = Exercise(
    "circuits.copying",
    copying,
    _copying_inputs,
    (
        Misconception(
            "positive diagonal",
            lambda *parts: (_circuit(*parts).diagonal() > 0).float().mean(),
            "This counts symbols whose own logit rises. It is to rise more than every other logit.",
        ),
        Misconception(
            "columns",
            lambda *parts: (_circuit(*parts).argmax(0) == torch.arange(len(parts[0]))).float().mean(),
            "You searched the columns: which symbol helps this logit most. Search the rows: which logit this symbol "
            "helps most.",
        ),
        Misconception(
            "mean of the diagonal",
            lambda *parts: _circuit(*parts).diagonal().mean(),
            "This is how much the own logit rises. Asked is the share of symbols for which it rises most.",
        ),
        Misconception(
            "count",
            lambda *parts: copying(*parts) * len(parts[0]),
            "This is the number of symbols. Divide it by how many there are.",
        ),
        Misconception(
            "absolute values",
            lambda *parts: (_circuit(*parts).abs().argmax(-1) == torch.arange(len(parts[0]))).float().mean(),
            "You took the logit that changes most in either direction. A logit that falls is not copied.",
        ),
        Misconception(
            "without the head",
            lambda symbol, value, output, logits: (
                ((symbol @ logits.T).argmax(-1) == torch.arange(len(symbol))).float().mean()
            ),
            "The head's two matrices are missing: this is what the symbol itself says without any attention.",
        ),
    ),
)

EXERCISES = (INDUCTION, REMOVE, PATCH, COPYING)
