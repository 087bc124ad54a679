"""Where MiniLM's heads look, after Clark et al. 2019, arXiv:1906.04341."""

import math

import torch
from _models import BATCH, Models, rounded, untrained
from _texts import pieces
from torch import Tensor

LENGTH = 62  # between [CLS] and [SEP]


@torch.no_grad()
def mean_weights(models: Models, encoder, symbols: Tensor) -> dict[str, Tensor]:
    """Of every head, `(blocks, heads)`: mean weight on the last token, on those before and behind; mean entropy."""
    totals = dict.fromkeys(("last", "before", "behind", "entropy"), 0.0)
    for some in symbols.split(BATCH):
        _, maps = encoder(models.embeddings(input_ids=some), need_weights=True)
        weights = torch.stack(maps)  # (blocks, batch, heads, n, n)
        found = {
            "last": weights[..., -1].mean(-1),
            "before": weights.diagonal(-1, -2, -1).mean(-1),
            "behind": weights.diagonal(1, -2, -1).mean(-1),
            "entropy": torch.special.entr(weights).sum(-1).mean(-1),
        }
        totals = {name: totals[name] + of.sum(1) for name, of in found.items()}
    return {name: total / len(symbols) for name, total in totals.items()}


def run(models: Models) -> dict:
    """The finding."""
    tokenizer = models.bert_tokenizer
    _, texts = pieces(models.encode_for_bert, LENGTH)
    ends = [texts.new_full((len(texts), 1), end) for end in (tokenizer.cls_token_id, tokenizer.sep_token_id)]
    texts = torch.cat([ends[0], texts, ends[1]], 1)
    with_stop = texts.clone()
    (with_stop[:, -1],) = models.encode_for_bert(".")
    found, stopped = (mean_weights(models, models.encoder, symbols) for symbols in (texts, with_stop))
    random = mean_weights(models, untrained(models.encoder), texts)
    by_block = found["last"].mean(1)
    return {
        "clark": {
            "sep": by_block.max().item(),
            "before": found["before"].max().item(),
            "behind": found["behind"].max().item(),
            "broad": found["entropy"][:2].max().item() / math.log(texts.size(1)),
            "untrained": max(random["last"].mean(1).max(), random["before"].max(), random["behind"].max()).item(),
            "uniform": 1 / texts.size(1),
            "full_stop": stopped["last"].mean(1).max().item(),
            "sep_by_block": rounded(by_block),
            "before_scores": rounded(found["before"]),
            "behind_scores": rounded(found["behind"]),
            "last_scores": rounded(found["last"]),
        }
    }
