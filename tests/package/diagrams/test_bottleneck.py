import numpy as np
import pytest
import torch
from reading import drawn, parse, texts

from attention_course import diagrams


def test_both_machines_read_and_write_the_word():
    picture = diagrams.encoder_decoders()
    letters = [text for text in texts(picture) if len(text) == 1]
    assert sorted(letters) == sorted(2 * ("pots" + "stop"))
    assert "one vector" in texts(picture)
    widths = [float(path.get("data-value")) for path in parse(picture).iter() if path.get("class") == "course-weight"]
    assert len(widths) == 4 and sum(widths) == pytest.approx(1, abs=0.02)


def test_the_states_of_a_recurrent_network_are_drawn_as_they_are():
    states = torch.randn(4, 8, generator=torch.Generator().manual_seed(0))
    shown = drawn(diagrams.recurrent_network(states, "stop"))
    for letter, state in zip("stop", states, strict=True):
        np.testing.assert_allclose(shown[f"state after {letter}"][:, 0], state, rtol=1e-3)


@pytest.fixture
def step():
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(6, generator=generator).softmax(0)
    return torch.randn(64, generator=generator), torch.randn(6, 64, generator=generator), weights


def test_a_step_shows_states_weights_and_their_blend(step):
    state, states, weights = step
    picture = diagrams.attention_step("python", state, states, weights, "t", 4)
    shown = drawn(picture)
    np.testing.assert_allclose(shown["query"].flatten(), state, rtol=1e-3)
    np.testing.assert_allclose(shown["weights"][0], weights, rtol=1e-3)
    for place, letter in enumerate("python"):
        np.testing.assert_allclose(shown[f"state of {letter} at {place}"].flatten(), states[place], rtol=1e-3)
    blend = sum(weight * row for weight, row in zip(weights, states, strict=True))
    np.testing.assert_allclose(shown["context"].flatten(), blend, rtol=2e-3, atol=1e-4)
    assert "writes t" in texts(picture)


def test_each_stage_adds_to_the_one_before(step):
    stages = [set(drawn(diagrams.attention_step("python", *step, "t", stage))) for stage in (1, 2, 3, 4)]
    assert "weights" not in stages[0]
    assert stages[1] - stages[0] == {"weights"} and stages[2] - stages[1] == {"context"}
    assert "writes t" not in texts(diagrams.attention_step("python", *step, "t", 3))


def test_one_decoder_asks_before_its_step_and_the_other_after_it():
    shown = texts(diagrams.when_to_ask())
    order = [text for text in shown if text in ("attend", "step")]
    assert order == ["attend", "step", "step", "attend"]
    assert {"with the old state", "with the new state", "dashed: input feeding,"} <= set(shown)
