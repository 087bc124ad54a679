"""Looking for a likely sequence when each symbol depends on those before it.

Lesson: `chapters/search.ipynb`.
"""

import torch
from torch import Tensor

from attention_course.encoder_decoder import EncoderDecoder
from attention_course.language_model import CausalLanguageModel
from attention_course.support.autocast import wide
from attention_course.support.validation import validate_whole_number


@torch.no_grad()
def beam_search(
    model: EncoderDecoder, source: Tensor, n_symbols: int, *, width: int, end: int, pad: int
) -> tuple[Tensor, Tensor]:
    """Keep the `width` likeliest beginnings at every step, where greedy decoding keeps one.

    Graves 2012, arXiv:1211.3711; Sutskever et al. 2014, arXiv:1409.3215. Nothing corrects for length here: of two
    sequences the longer is the product of more probabilities.

    Args:
        model: In evaluation mode.
        source: As for the model.
        n_symbols: How many to write, at most; 1 or more.
        width: Beginnings that are kept. It may exceed the number of symbols, and even of sequences that there are.
        end: The symbol after which a sequence is complete.
        pad: What follows it, at no cost.

    Returns:
        Symbols `(batch, width, n_symbols)`, the likeliest sequence first, and their log-probabilities
        `(batch, width)` in nats. Where a beam is wider than there are sequences, what stands behind them is none, and
        its log-probability -inf.

    Raises:
        ValueError: If `width` or `n_symbols` is no whole number of 1 or more, or `end` or `pad` is no symbol.
    """
    validate_whole_number("width", width, at_least=1)
    validate_whole_number("n_symbols", n_symbols, at_least=1)
    for name, symbol in (("end", end), ("pad", pad)):
        if not 0 <= symbol < model.start_symbol:
            raise ValueError(f"{name} must be a symbol, 0..{model.start_symbol - 1}, got {symbol}")
    memory, memory_mask = model.encode(source)
    memory = memory.repeat_interleave(width, dim=0)  # (batch * width, n_source, d_model)
    if memory_mask is not None:
        memory_mask = memory_mask.repeat_interleave(width, dim=0)
    beams = torch.full((len(source), width, 1), model.start_symbol, device=memory.device)
    # All beams begin alike: only the first counts, or the best continuation would be found `width` times.
    scores = torch.full((len(source), width), -torch.inf, device=memory.device)
    scores[:, 0] = 0
    for _ in range(n_symbols):
        logits, _ = model.decode(beams.flatten(0, 1), memory, memory_mask)
        gain = _log_probabilities(logits).unflatten(0, (len(source), width))  # (batch, width, vocabulary)
        complete = (beams == end).any(-1, keepdim=True)
        gain = torch.where(complete, _only(pad, gain), gain)
        scores, parent, newest = _likeliest(scores, gain)
        beginnings = beams.gather(1, parent.unsqueeze(-1).expand(-1, -1, beams.size(-1)))
        beams = torch.cat([beginnings, newest.unsqueeze(-1)], dim=-1)
    return beams[..., 1:], scores


@torch.no_grad()
def continue_with_beam(
    model: CausalLanguageModel, prompt: Tensor, n_symbols: int, *, width: int
) -> tuple[Tensor, Tensor]:
    """Continue a prompt with the likeliest symbols that a beam finds, where `generate` draws.

    Args:
        model: In evaluation mode, of blocks with caches.
        prompt: Integers `(batch, n_prompt)`, at least one a sequence.
        n_symbols: How many to write, 1 or more.
        width: Beginnings that are kept, at most as many as there are symbols in the vocabulary.

    Returns:
        The prompt and what follows, `(batch, width, n_prompt + n_symbols)`, the likeliest first, and the
        log-probabilities of what follows, `(batch, width)` in nats.

    Raises:
        ValueError: If `width` or `n_symbols` is no whole number of 1 or more, `width` is above the size of the
            vocabulary, or the prompt is empty.
    """
    validate_whole_number("width", width, at_least=1)
    validate_whole_number("n_symbols", n_symbols, at_least=1)
    if prompt.dim() != 2 or prompt.size(1) == 0:
        raise ValueError(f"prompt must have shape (batch, n_prompt), n_prompt 1 or more, got {tuple(prompt.shape)}")
    if width > model.embedding.num_embeddings:
        raise ValueError(f"width must be at most {model.embedding.num_embeddings}, all symbols there are, got {width}")
    caches = model.new_caches()
    logits, _ = model(prompt, caches=caches)
    scores, newest = _log_probabilities(logits).topk(width)
    first = torch.arange(len(prompt), device=prompt.device).unsqueeze(-1)  # (batch, 1)
    parent = first.expand(-1, width).flatten()
    symbols = prompt
    for step in range(n_symbols):
        for cache in caches:
            cache.select(parent)
        symbols = torch.cat([symbols[parent], newest.reshape(-1, 1)], dim=1)
        if step < n_symbols - 1:
            logits, _ = model(symbols[:, -1:], caches=caches)
            gain = _log_probabilities(logits).unflatten(0, (len(prompt), width))
            scores, parent, newest = _likeliest(scores, gain)
            parent = (first * width + parent).flatten()  # among the rows of all beams
    return symbols.unflatten(0, (len(prompt), width)), scores


def _log_probabilities(logits: Tensor) -> Tensor:
    """Of the symbol that comes next, `(rows, vocab_size)`: a sum of many needs more digits than half precision has."""
    return wide(logits[:, -1]).log_softmax(-1)


def _likeliest(scores: Tensor, gain: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Of all beginnings and symbols: the scores, beginnings and symbols `(batch, width)` of the likeliest, in order."""
    scores, best = (scores.unsqueeze(-1) + gain).flatten(1).topk(scores.size(1))
    return scores, best // gain.size(-1), best % gain.size(-1)


def _only(symbol: int, gain: Tensor) -> Tensor:
    """Log-probabilities under which that symbol is certain."""
    certain = torch.full_like(gain[:1, :1], -torch.inf)
    certain[..., symbol] = 0
    return certain


def cut_after(symbols: Tensor, end: int, pad: int) -> Tensor:
    """Replace all that follows the first `end` by `pad`.

    Args:
        symbols: Integers `(..., n_symbols)`.
        end: The symbol after which a sequence is complete.
        pad: What takes the place of the rest.

    Returns:
        Integers of the same shape.
    """
    is_end = symbols == end
    seen_before = is_end.cumsum(-1) - is_end.long() > 0
    return symbols.masked_fill(seen_before, pad)
