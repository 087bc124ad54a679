"""What order is without positions, and what it is worth with them."""

import torch
import torch.nn.functional as F
from _models import BATCH, Models, bits, token_bits
from _texts import pieces, shuffled
from torch import Tensor

from attention_course.interpreting.ablations import switched_off

LENGTH, BEFORE = 48, 32


@torch.no_grad()
def means(models: Models, symbols: Tensor) -> Tensor:
    """The mean of MiniLM's output for symbols between [CLS] and [SEP]: `(n_texts, d_model)`."""
    tokenizer, found = models.bert_tokenizer, []
    for some in symbols.split(BATCH):
        ends = (some.new_full((len(some), 1), end) for end in (tokenizer.cls_token_id, tokenizer.sep_token_id))
        first, last = ends
        whole = torch.cat([first, some, last], 1)
        found.append(models.encoder(models.embeddings(input_ids=whole))[0].mean(1))
    return torch.cat(found)


def run(models: Models) -> dict:
    """The finding."""
    _, of_bert = pieces(models.encode_for_bert, LENGTH)
    positions = models.embeddings.position_embeddings.weight
    learned = positions.clone()
    near = {}
    for name, table in (("with", learned), ("same", torch.zeros_like(learned))):
        positions.copy_(table)
        near[name] = F.cosine_similarity(means(models, of_bert), means(models, shuffled(of_bert)))
    positions.copy_(learned)

    model = models.model
    _, texts = pieces(models.encode, LENGTH)
    before, behind = texts.split([BEFORE, LENGTH - BEFORE], 1)

    def with_before(context: Tensor) -> float:
        return token_bits(model, torch.cat([context, behind], 1))[:, BEFORE - 1 :].mean().item()

    whole = bits(model, texts)
    with switched_off(model, positions=True):
        without = bits(model, texts)
    return {
        "order": {
            "same": near["same"].min().item(),
            "with": near["with"].mean().item(),
            "bits": whole,
            "without": without,
            "ordered": with_before(before),
            "shuffled": with_before(shuffled(before)),
            "foreign": with_before(before.roll(1, 0)),
        }
    }
