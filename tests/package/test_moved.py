"""Notebooks of version 0.1 were handed out, and run as they are: what they import is found, and old paths lead on."""

import sys
from importlib import import_module

import pytest

from attention_course.moved import MOVED, PACKAGE

# Everything that the pages of version 0.1 imported, as a cell.
OF_0_1 = """\
import attention_course.diagrams
import attention_course.tasks
from attention_course import AdditiveAttention, KVCache, LuongAttention, MultiHeadAttention, causal_mask, check
from attention_course import checkpoints, claim, classifiers, compare_interpretations, diagrams, interpret, measure
from attention_course import padding_mask, palette, patients, plots, positions, prefix_mask, recorded
from attention_course import scaled_dot_product_attention, setup, sliding_window_mask, tasks, training
from attention_course.checkpoints import load_character_model, load_translator
from attention_course.circuits import attention_layers, broadcast_score, induction_score, output_value
from attention_course.circuits import previous_token_score, query_key, repeated_sequences, share_on_diagonal
from attention_course.circuits import sink_score, uniform_causal_weights, without_heads
from attention_course.classifiers import Classifier
from attention_course.decoding import beam_search, continue_with_beam, cut_after
from attention_course.diagnose import diagnose
from attention_course.diagrams import Diagram, Lookup, by_hand
from attention_course.diagrams.depth import follow
from attention_course.diagrams.tables import table_tokens
from attention_course.diagrams.troubleshooting import chart
from attention_course.diagrams.vision import picture_tokens
from attention_course.distributed import Ring, RingAttention, attend_block, differentiate_block, merge, zigzag_split
from attention_course.efficient import flash_triton
from attention_course.efficient.block_sparse import BlockSparseAttention, bigbird_layout
from attention_course.efficient.flash import FlashAttention, flash_attention
from attention_course.efficient.gated_delta import GatedDeltaNet
from attention_course.efficient.gated_linear import GatedLinearAttention
from attention_course.efficient.latent import LatentAttention
from attention_course.efficient.linear import LinearAttention
from attention_course.efficient.linformer import LinformerAttention
from attention_course.efficient.longformer import LongformerAttention
from attention_course.efficient.performer import PerformerAttention
from attention_course.efficient.reformer import LSHAttention
from attention_course.efficient.retention import MultiScaleRetention
from attention_course.efficient.sinks import SinkAttention
from attention_course.efficient.top_k import TopKAttention
from attention_course.embeddings import FeatureTokens, ImagePatches
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.examine import examine
from attention_course.exercises.projects import grade_dates, grade_names, grade_pairs
from attention_course.explore import explore_attention, explore_frames, explore_heads, explore_model
from attention_course.explore import explore_sorting, explore_state, explore_steps
from attention_course.grouped import grouped_query_attention
from attention_course.language_model import CausalLanguageModel
from attention_course.masks import sliding_window_mask
from attention_course.mechanism import Mechanism, as_mechanism
from attention_course.patients import BROKEN, Changed, NoResidual, per_token
from attention_course.positions import ALiBiAttention, LearnedPositions, RotaryAttention, ShawAttention
from attention_course.positions import SinusoidalPositions, alibi_slopes, rotate, sinusoidal_encoding
from attention_course.pretrained import encoder_from_bert, language_model_from_gpt2, load_bert, load_gpt2
from attention_course.recurrent import GRUEncoderDecoder
from attention_course.t5_bias import T5Attention, t5_bucket
from attention_course.tasks import dates, senses, spelling, translation
from attention_course.tasks.anomalies import anomalous_series
from attention_course.tasks.coins import FACES, THINGS, VOCABULARY
from attention_course.tasks.negation import BAD, GOOD, LABELS, PAD, VOCABULARY, encode, reviews
from attention_course.transformer import Block, DecoderBlock, Encoder, FeedForward
course = setup()
"""


@pytest.mark.filterwarnings("ignore:.* is now")
def test_a_notebook_of_version_0_1_finds_all_that_it_imports():
    exec(OF_0_1, {})


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_an_old_path_leads_to_the_module_and_says_where_it_stands(old, new, monkeypatch):
    monkeypatch.delitem(sys.modules, PACKAGE + old, raising=False)
    with pytest.warns(DeprecationWarning, match=f"{PACKAGE}{old} is now {new}$"):
        found = import_module(PACKAGE + old)
    assert found is import_module(new)
    assert found.__name__ == found.__spec__.name == new


def test_a_path_that_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError, match="attention_course.nowhere"):
        import_module("attention_course.nowhere")
