"""Models that the course has trained and recorded: minutes of training, loaded in a moment."""

from torch import nn

from attention_course.course import recorded
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import RotaryAttention
from attention_course.support import float16_weights
from attention_course.tasks import translation


def load_character_model(trained: str = "causal") -> tuple[CausalLanguageModel, str]:
    """A model of the characters of Python's help pages, with rotary positions.

    `recorded.load("character_model")["models"][trained]` says what it was trained with, and its loss on held-out text:
    in bits a character as it was trained, `bits`, and under the other mask, `bits_otherwise`.

    Args:
        trained: `causal`; or `unmasked`, which saw while training the characters that it was to predict.

    Returns:
        The model, in evaluation mode, and its vocabulary: symbol i is the i-th character. It is that of the Python that
        trained it; the help pages of another may hold a character more.

    Raises:
        ValueError: If there is no such model.
    """
    models = recorded.load("character_model")["models"]
    if trained not in models:
        raise ValueError(f"trained must be one of {list(models)}, got {trained!r}")
    record = models[trained]
    model = make_character_model(len(record["vocabulary"]), record["settings"])
    float16_weights.unpack(record, model)
    return model.eval(), record["vocabulary"]


def make_character_model(vocab_size: int, settings: dict) -> CausalLanguageModel:
    """The same, untrained.

    Args:
        vocab_size: Size of the vocabulary.
        settings: `d_model`, `n_heads` and `n_layers`; what else there is has to do with the training.
    """
    sizes = [settings[name] for name in ("d_model", "n_heads", "n_layers")]
    return CausalLanguageModel(vocab_size, *sizes, attention=RotaryAttention())


def load_translator(steps: int = 300) -> EncoderDecoder:
    """A translator of the sentences of `tasks.translation`, with two blocks in its encoder and two in its decoder.

    `recorded.load("translator")["settings"]` says how it was trained, and `["models"][str(steps)]` its loss on held-out
    sentences, in nats a word, and the share of them that it translates without a mistake.

    Args:
        steps: 300, the end of its training; or 100, where the same training had come when a third of it was over.

    Returns:
        The model, in evaluation mode. Its symbols are those of `translation.VOCABULARY`.

    Raises:
        ValueError: If there is no record after so many steps.
    """
    record = recorded.load("translator")
    known = [int(recorded_steps) for recorded_steps in record["models"]]
    if steps not in known:
        raise ValueError(f"steps must be one of {known}, got {steps!r}")
    model = make_translator(record["settings"])
    float16_weights.unpack(record["models"][str(steps)], translator_parts(model))
    return model.eval()


def make_translator(settings: dict) -> EncoderDecoder:
    """The same, untrained.

    Args:
        settings: `d_model`, `n_heads` and `n_layers`; what else there is has to do with the training.
    """
    sizes = [settings[name] for name in ("d_model", "n_heads", "n_layers")]
    return EncoderDecoder(len(translation.VOCABULARY), *sizes, pad=translation.PAD)


def translator_parts(model: EncoderDecoder) -> nn.ModuleList:
    """All that it learns, once: in the model itself the one embedding has two names."""
    return nn.ModuleList([model.embedding, model.encoder, model.decoder, model.lm_head])
