"""Attention over a sequence that is spread over several processes, on several machines if need be."""

from attention_course.distributed.ring import Ring, RingAttention
from attention_course.distributed.zigzag import zigzag_join, zigzag_split
from attention_course.efficient.tiles import attend_block, differentiate_block, merge

__all__ = ["Ring", "RingAttention", "attend_block", "differentiate_block", "merge", "zigzag_join", "zigzag_split"]
