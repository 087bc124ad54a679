r"""The indexer of top-k attention: a few small heads that look at every key and say which of them a query should read.

.. math:: I_{ts} = \sum_j w_{tj} \operatorname{ReLU}(q^I_{tj} \cdot k^I_s)

DeepSeek-AI 2025, arXiv:2512.02556, where it is called the lightning indexer. A choice has no gradient, so the indexer
has a loss of its own, the Kullback-Leibler divergence of softmax(I) from the weights that attention gives.

Lesson: `chapters/states.ipynb`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course.mechanism import Pluggable
from attention_course.support.autocast import wide
from attention_course.support.validation import validate_whole_number


def index_scores(query: Tensor, weight: Tensor, key: Tensor) -> Tensor:
    """The definition: how much each query wants each key, `(..., n_queries, n_keys)`.

    Args:
        query: `(..., n_index_heads, n_queries, d_index)`.
        weight: Of each head for each query, `(..., n_index_heads, n_queries, 1)`.
        key: One for all heads, `(..., 1, n_keys, d_index)`.
    """
    with torch.autocast(query.device.type, enabled=False):  # which would round, and so choose other keys
        return (weight * (query @ key.transpose(-2, -1)).relu()).sum(-3)


@torch.no_grad()
def choose(scores: Tensor, visible: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The `k` visible keys with the highest scores; of equal scores, the first keys.

    Args:
        scores: `(batch, n_queries, n_keys)`.
        visible: Boolean, of the same shape.
        k: How many, or all keys if there are fewer.

    Returns:
        Their places, ascending, `(batch, n_queries, k)`, and whether each is visible: where too few are, hidden ones
        fill up.
    """
    k = min(k, scores.size(-1))
    scores = scores.nan_to_num().masked_fill(~visible, -torch.inf)
    lowest = scores.topk(k).values[..., -1:]
    above, equal = scores > lowest, scores == lowest
    room = k - above.sum(-1, keepdim=True)
    chosen = above | (equal & (equal.cumsum(-1, dtype=torch.int32) <= room))  # k in each row
    place = chosen.nonzero()[:, -1].view(*scores.shape[:-1], k)
    return place, visible.gather(-1, place)


def index_loss(scores: Tensor, visible: Tensor, weights: Tensor) -> Tensor:
    """How far the indexer's distribution is from attention's own, summed over the queries.

    Args:
        scores: Of some keys, `(n_queries, n_keys)`.
        visible: Boolean, of the same shape.
        weights: What attention gives to these keys, `(n_queries, n_heads, n_keys)`; they get no gradient.
    """
    scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
    return F.kl_div(scores.log_softmax(-1), wide(weights.detach()).mean(1), reduction="sum")


class WithLoss(torch.autograd.Function):
    """`WithLoss.apply(output, loss)` is the output as it is; its backward pass starts that of the loss as well."""

    @staticmethod
    def forward(ctx, output, loss):
        """The output, in which autograd sees the loss as well."""
        return output.view_as(output)

    @staticmethod
    def backward(ctx, grad_output):
        """The output's gradient as it came, and 1 for the loss, whatever the output's was multiplied by."""
        return grad_output, grad_output.new_ones(())


class Indexer(Pluggable):
    """What the indexer makes of tokens, which get no gradient from it.

    In float32 at least, whatever the tokens are: coarser scores would choose other keys. (The report's are in FP8; it
    also turns some features of queries and keys by their positions, which is left out here.)

    Args:
        d_model: Width of the tokens.
        n_heads: Number of heads.
        d_head: Width of their queries, and of the keys.

    Raises:
        ValueError: If `n_heads` or `d_head` is no whole number of 1 or more.
    """

    def __init__(self, d_model: int, n_heads: int, d_head: int):
        super().__init__()
        validate_whole_number("n_index_heads", n_heads, at_least=1)
        validate_whole_number("d_index", d_head, at_least=1)
        self.n_heads = n_heads
        self.query_proj = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.weight_proj = nn.Linear(d_model, n_heads, bias=False)
        self.key_proj = nn.Linear(d_model, d_head, bias=False)

    def redraw(self) -> None:
        """Draw new weights for the projections."""
        for projection in self.children():
            projection.reset_parameters()

    def queries(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """From `(batch, n_queries, d_model)` the queries and weights, as `index_scores` takes them."""
        return self._heads(self.query_proj, tokens), self._heads(self.weight_proj, tokens)

    def keys(self, tokens: Tensor) -> Tensor:
        """From `(batch, n_keys, d_model)` the keys, `(batch, 1, n_keys, d_head)`."""
        return self._project(self.key_proj, tokens).unsqueeze(1)

    def _heads(self, projection: nn.Linear, tokens: Tensor) -> Tensor:
        return self._project(projection, tokens).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    @staticmethod
    def _project(projection: nn.Linear, tokens: Tensor) -> Tensor:
        with torch.autocast(tokens.device.type, enabled=False):
            return F.linear(wide(tokens.detach()), wide(projection.weight))
