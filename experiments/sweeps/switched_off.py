"""What the recorded character models lose on held-out text when one head or one block is switched off."""

from attention_course import tasks
from attention_course.course.checkpoints import load_character_model
from attention_course.interpreting.ablations import measure_switched_off

SETTINGS = {"length": 128, "n_pieces": 200}  # pieces that do not overlap, from the beginning of the held-out text


def run() -> dict:
    """Of each model, under the mask that it was trained with: `{"settings": ..., "models": {"causal": ..., ...}}`."""
    return {"settings": SETTINGS, "models": {name: _measure(name) for name in ("causal", "unmasked")}}


def _measure(name: str) -> dict:
    model, vocabulary = load_character_model(name)
    text = tasks.python_help()
    if text.vocabulary != vocabulary:
        raise ValueError("the help pages must be those of the Python that trained the model")
    pieces = text.validation.unfold(0, SETTINGS["length"] + 1, SETTINGS["length"])[: SETTINGS["n_pieces"]]
    result = measure_switched_off(model, pieces, masked=name == "causal")
    print(name, {key: value for key, value in result.items() if key != "means"}, flush=True)
    return result
