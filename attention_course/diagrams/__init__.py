"""Schematics of the lessons, drawn from a run where there is a model: one file a lesson, on the kit in `diagram.py`."""

from attention_course.diagrams.alignment import exchanged_memory
from attention_course.diagrams.bottleneck import attention_step, encoder_decoders, recurrent_network, when_to_ask
from attention_course.diagrams.built_so_far import built_so_far
from attention_course.diagrams.cache import growing_cache
from attention_course.diagrams.circuits import came_back, head_scores, induction_circuit, patched, score_paths
from attention_course.diagrams.classifiers import five_poolings, review_answer
from attention_course.diagrams.cross_attention import three_attentions
from attention_course.diagrams.depth import norm_places, warm_up_table
from attention_course.diagrams.diagram import Area, Diagram
from attention_course.diagrams.efficient import two_orders
from attention_course.diagrams.flash import two_memories
from attention_course.diagrams.generation import beam_tree, cut_distribution
from attention_course.diagrams.interpretability import found, methods
from attention_course.diagrams.language_model import next_symbols, while_it_learns
from attention_course.diagrams.machine import machine
from attention_course.diagrams.many_devices import four_cuts, ring
from attention_course.diagrams.mask_numbers import empty_rows
from attention_course.diagrams.masking import combined, corners, masks, one_mask, reaches
from attention_course.diagrams.memory import retrieval
from attention_course.diagrams.modern_block import modern_block
from attention_course.diagrams.multi_head import cuts, multi_head, sum_of_embeddings
from attention_course.diagrams.positions import looked_up, where_positions_enter
from attention_course.diagrams.primer import training_loop
from attention_course.diagrams.scale import rate_table, score_spread
from attention_course.diagrams.scaled_dot_product import attention_matrices, scaled_dot_product, softmax_directions
from attention_course.diagrams.self_attention import in_the_plane, one_token, paths
from attention_course.diagrams.shared_heads import shared_heads
from attention_course.diagrams.speculative import drafted_calls
from attention_course.diagrams.theory import Lookup, by_hand
from attention_course.diagrams.transformer import residual_stream, transformer_block

__all__ = [
    "Area",
    "Diagram",
    "Lookup",
    "attention_matrices",
    "attention_step",
    "beam_tree",
    "built_so_far",
    "by_hand",
    "came_back",
    "combined",
    "corners",
    "cut_distribution",
    "cuts",
    "drafted_calls",
    "empty_rows",
    "encoder_decoders",
    "exchanged_memory",
    "five_poolings",
    "found",
    "four_cuts",
    "growing_cache",
    "head_scores",
    "in_the_plane",
    "induction_circuit",
    "machine",
    "masks",
    "methods",
    "modern_block",
    "looked_up",
    "multi_head",
    "next_symbols",
    "norm_places",
    "one_mask",
    "one_token",
    "patched",
    "paths",
    "rate_table",
    "reaches",
    "recurrent_network",
    "residual_stream",
    "retrieval",
    "review_answer",
    "ring",
    "scaled_dot_product",
    "score_paths",
    "score_spread",
    "shared_heads",
    "softmax_directions",
    "sum_of_embeddings",
    "three_attentions",
    "training_loop",
    "transformer_block",
    "two_memories",
    "two_orders",
    "warm_up_table",
    "when_to_ask",
    "where_positions_enter",
    "while_it_learns",
]
