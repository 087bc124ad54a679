"""Whether the course's own blocks compute what `transformers` computes with the same weights, and in which precision.

The tolerance, 5e-5, is on the length of a difference of two rows as a share of the row's own length, for the worst row
(a token's stream, its logits). Numbers of 32 bits have steps of 1.2e-7, and there are 30 blocks; the largest difference
seen was 1.1e-5, in the logits. (A share of the largest number would say less: the first token's stream has numbers
beside which every other token's are small.)
"""

import ast
import json
from collections import Counter
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import MultiHeadAttention, real_models
from attention_course.positions import RotaryAttention
from attention_course.pretrained import encoder_from_bert, language_model_from_llama

TOLERANCE = 5e-5
TEXT = "When Mary and John went to the store, John gave a drink to"
LESSON = Path(__file__).parents[2] / "chapters" / "modern_block.ipynb"
OF_THE_LESSON = {"RMSNorm", "SwiGLU", "make_norm", "make_feed_forward", "ModernBlock"}


def off(ours: Tensor, theirs: Tensor) -> float:
    """The length of the difference as a share of the row's, of the worst row."""
    return ((ours - theirs).norm(dim=-1) / theirs.norm(dim=-1)).max().item()


def streams(model, symbols: Tensor) -> tuple[Tensor, list[Tensor]]:
    """The logits, and what enters each block, and the tokens behind the last norm."""
    kept = []
    hooks = [block.register_forward_pre_hook(lambda _, given: kept.append(given[0])) for block in model.blocks]
    hooks.append(model.norm.register_forward_hook(lambda _, given, out: kept.append(out)))
    logits, _ = model(symbols)
    for hook in hooks:
        hook.remove()
    return logits, kept


def from_the_lesson(d_model: int, n_heads: int) -> nn.Module:
    """The block that the lesson on today's blocks has its reader write, with its norm and its gate.

    (The block of the lesson on a language model cannot carry it: its norm takes off the mean, and its feed-forward
    layer has no gate.)
    """
    scope = {"torch": torch, "nn": nn, "F": F, "MultiHeadAttention": MultiHeadAttention}
    scope["RotaryAttention"] = RotaryAttention
    for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and "subprocess" not in source:
            tree = ast.parse(source)
            kept = [node for node in tree.body if getattr(node, "name", None) in OF_THE_LESSON]
            exec(compile(ast.Module(kept, type_ignores=[]), str(LESSON), "exec"), scope)
    return scope["ModernBlock"](d_model, n_heads, rms=True, gated=True, bias=False)


def carry(block, lessons: nn.Module) -> None:
    """Give a lesson's block the weights of one of ours.

    Its heads do not share keys and values: each gets its own copy of what it reads. Its rotary positions turn at the
    usual speeds, and its norms add the usual epsilon: both are set.
    """
    ours, theirs = block.attention, lessons.attention
    copies = ours.n_heads // ours.n_kv_heads
    for name in ("key_proj", "value_proj"):
        pairs = getattr(ours, name).weight.unflatten(0, (ours.n_kv_heads, ours.d_head))
        getattr(theirs, name).weight.copy_(pairs.repeat_interleave(copies, 0).flatten(0, 1))
    for name in ("query_proj", "out_proj"):
        getattr(theirs, name).load_state_dict(getattr(ours, name).state_dict())
    theirs.attention.base = ours.attention.base
    lessons.feed_forward.load_state_dict(block.feed_forward.state_dict())
    for name in ("attention_norm", "feed_forward_norm"):
        getattr(lessons, name).gain.copy_(getattr(block, name).weight)
        getattr(lessons, name).eps = getattr(block, name).eps


def unpacked_by_hand(name: str) -> tuple[Tensor, dict[str, int]]:
    """A matrix of SmolLM2's file by the format's definition, and how many numbers the file holds in which format.

    Q4_1: for 32 numbers a scale and an offset of 16 bits each, then 16 bytes; their low halves are the first 16
    numbers, their high halves the others. A number is scale * half + offset.
    """
    import gguf

    with real_models.files(real_models.SMOLLM2) as folder:
        tensors = gguf.GGUFReader(folder / real_models.SMOLLM2.file).tensors
        formats = Counter()
        for tensor in tensors:
            formats[tensor.tensor_type.name] += int(tensor.n_elements)
        (packed,) = (tensor for tensor in tensors if tensor.name == name)
        blocks = torch.from_numpy(packed.data.reshape(-1, 20).copy())
    scale, offset = blocks[:, :4].contiguous().view(torch.float16).float().split(1, 1)
    halves = torch.cat([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], 1)
    return (scale * halves + offset).view(*packed.shape[::-1].tolist()), dict(formats)


@torch.no_grad()
def run() -> dict:
    """How far the two are apart, everywhere."""
    tokenizer, llama = real_models.load_smollm2()
    model = language_model_from_llama(llama)
    symbols = tokenizer(TEXT, return_tensors="pt").input_ids
    expected = llama(symbols, output_hidden_states=True)
    logits, kept = streams(model, symbols)
    caches, held, with_caches = model.new_caches(), None, []
    for some in symbols.split([8, 1, symbols.size(1) - 9], 1):
        theirs = llama(some, past_key_values=held, use_cache=True)
        held = theirs.past_key_values
        with_caches.append(off(model(some, caches=caches)[0], theirs.logits))
    block = model.blocks[15]
    lessons = from_the_lesson(block.attention.d_model, block.attention.n_heads)
    carry(block, lessons)
    by_hand, formats = unpacked_by_hand("blk.15.ffn_down.weight")
    likeliest = logits[0, -1].softmax(-1).topk(3)
    errors = {
        "logits": off(logits, expected.logits),
        "streams": [off(ours, theirs) for ours, theirs in zip(kept, expected.hidden_states, strict=True)],
        "with caches": with_caches,
        "a block in the lesson's class": off(lessons(kept[15]), kept[16]),
        "a matrix unpacked by hand": off(block.feed_forward.down.weight, by_hand),
    }
    bert_tokenizer, bert = real_models.load_minilm()
    batch = bert_tokenizer([TEXT, "the bank of the river was steep"], padding=True, return_tensors="pt")
    seen = batch["attention_mask"].bool()
    expected = bert(**batch).last_hidden_state
    first = bert.embeddings(input_ids=batch["input_ids"], token_type_ids=batch["token_type_ids"])
    errors["encoder"] = off(encoder_from_bert(bert)(first, seen[:, None, None])[0][seen], expected[seen])
    worst = max(torch.tensor([each]).max().item() for each in errors.values())
    return {
        "tolerance": TOLERANCE,
        "within": worst <= TOLERANCE,
        "errors": errors,
        "numbers_by_format": formats,
        "next": {tokenizer.decode(at): share.item() for share, at in zip(*likeliest, strict=True)},
    }
