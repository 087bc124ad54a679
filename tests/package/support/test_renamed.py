"""Names of version 0.1 go on working: arguments, the last layer, and weights that were saved by its name."""

import pytest
import torch
from torch import nn

from attention_course import tasks
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.interpreting.circuits import repeated_sequences
from attention_course.language_model import CausalLanguageModel
from attention_course.seq2seq_rnn import GRUEncoderDecoder

MODELS = {
    "language model": lambda **size: CausalLanguageModel(**size, d_model=8, n_heads=2, n_layers=1),
    "translator": lambda **size: EncoderDecoder(**size, d_model=8, n_heads=2, n_layers=1, pad=0),
    "recurrent translator": lambda **size: GRUEncoderDecoder(**size, d_hidden=8),
}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_a_model_of_version_0_1_is_made_and_its_weights_load(make):
    with pytest.warns(DeprecationWarning, match="n_symbols is now vocab_size"):
        old = make(n_symbols=5)
    saved = {f"model.{name.replace('lm_head', 'logits')}": value for name, value in old.state_dict().items()}
    assert "model.logits.weight" in saved
    new = nn.ModuleDict({"model": make(vocab_size=5)})
    new.load_state_dict(saved)
    assert all(torch.equal(value, old.state_dict()[name]) for name, value in new["model"].state_dict().items())
    assert any(name.startswith("model.logits") for name in saved)  # a refused or accepted file is left as it was


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_the_last_layer_is_found_by_its_old_name(make):
    model = make(vocab_size=5)
    with pytest.warns(DeprecationWarning, match="logits is now lm_head"):
        assert model.logits is model.lm_head
    model.logits = other = nn.Linear(8, 3)
    assert model.lm_head is other and "logits" not in dict(model.named_children())


@pytest.mark.parametrize(
    "draw",
    [
        lambda **size: tasks.reversing(2, 3, **size, generator=torch.Generator().manual_seed(0)).source,
        lambda **size: tasks.sorting(2, 3, **size, generator=torch.Generator().manual_seed(0)).source,
        lambda **size: repeated_sequences(2, **size, period=3, length=6, generator=torch.Generator().manual_seed(0)),
    ],
)
def test_a_task_takes_both_names(draw):
    with pytest.warns(DeprecationWarning, match="n_symbols is now vocab_size"):
        old = draw(n_symbols=7)
    assert torch.equal(old, draw(vocab_size=7))


def test_an_argument_by_both_of_its_names_is_refused():
    with pytest.raises(TypeError, match="n_symbols is now vocab_size, and both came"):
        MODELS["language model"](vocab_size=5, n_symbols=6)
