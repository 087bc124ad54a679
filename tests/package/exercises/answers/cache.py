import torch
import torch.nn.functional as F

from attention_course import causal_mask
from attention_course.exercises.cache import step, write


def _growing(model, prompt, n, choose=lambda logits: logits.argmax(-1)):
    """Reads what the cache lacks: it holds an entry for each symbol."""
    symbols, cache = prompt, []
    for _ in range(n):
        newest = choose(model(symbols[:, len(cache) :], cache)[:, -1])
        symbols = torch.cat([symbols, newest[:, None]], dim=1)
    return symbols


def _prompt_symbol_by_symbol(model, prompt, n):
    cache = []
    for symbol in prompt.T:
        logits = model(symbol[:, None], cache)
    written = []
    for _ in range(n):
        written.append(logits[:, -1].argmax(-1))
        logits = model(written[-1][:, None], cache)
    return torch.cat([prompt, torch.stack(written, dim=1)], dim=1)


def _text_by_text(model, prompt, n):
    """Each with a cache of its own."""
    return torch.cat([write(model, text[None], n) for text in prompt])


WRONG = {
    "cache.write": {
        "the least likely": lambda model, prompt, n: _growing(model, prompt, n, lambda logits: logits.argmin(-1)),
        "one row for all": lambda model, prompt, n: write(model, prompt, n)[:1].expand(len(prompt) + 1, -1),
    },
    "cache.step": {
        "squeezed": lambda *arguments: step(*arguments).squeeze(),
        "one new token": lambda query, *rest: step(query, *rest)[:, :, :1].expand_as(query),
        "no scaling": lambda query, *rest: step(query * query.size(-1) ** 0.5, *rest),
    },
}

RIGHT = {
    "cache.write": {
        "what the cache lacks": _growing,
        "text by text": _text_by_text,
        "the prompt symbol by symbol": _prompt_symbol_by_symbol,
    },
    "cache.step": {
        "the course's mask": lambda query, key, value, held_key, held_value: F.scaled_dot_product_attention(
            query,
            torch.cat([held_key, key], dim=-2),
            torch.cat([held_value, value], dim=-2),
            attn_mask=causal_mask(query.size(-2), key.size(-2) + held_key.size(-2)),
        ),
    },
}
