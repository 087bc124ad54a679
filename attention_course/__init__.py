"""The package behind the course: each mechanism in plain PyTorch, one idea a file."""

import attention_course.moved  # noqa: F401  (from here on old paths are found)
from attention_course.attention import MultiHeadAttention, scaled_dot_product_attention
from attention_course.course.claims import claim
from attention_course.course.environment import setup
from attention_course.exercises import check
from attention_course.kv_cache import KVCache
from attention_course.masks import causal_mask, padding_mask, prefix_mask, sliding_window_mask
from attention_course.mechanism import Mechanism
from attention_course.scores import AdditiveAttention, LuongAttention

__all__ = [
    "AdditiveAttention",
    "KVCache",
    "LuongAttention",
    "Mechanism",
    "MultiHeadAttention",
    "causal_mask",
    "check",
    "claim",
    "padding_mask",
    "prefix_mask",
    "scaled_dot_product_attention",
    "setup",
    "sliding_window_mask",
]
