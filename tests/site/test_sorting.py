"""The sorter that runs in the reader's browser: its arithmetic beside PyTorch's, and what a reader can do with it."""

import json

import numpy as np
import pytest
import torch
from explorer_pages import Mounted

from attention_course import tasks
from attention_course.course import training
from attention_course.explore import explore_sorting
from attention_course.seq2seq_rnn import GRUEncoderDecoder

NUMBERS = [31, 4, 15, 9, 26, 40]


@pytest.fixture(scope="module")
def sorter() -> GRUEncoderDecoder:
    """A small sorter, trained a little: its weights are neither random nor saturated."""
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    model = GRUEncoderDecoder(n_symbols=50, d_hidden=16, attention="concat")
    batches = (tasks.sorting(128, 6, 50, generator) for _ in range(1000))
    training.train(model, lambda: next(batches), training.sequence_loss, steps=250, peak_lr=0.02)
    return model


@pytest.fixture
def page(show, sorter):
    """A page with the explorer of the sorter."""
    return show(explore_sorting(sorter, NUMBERS, alt="A sorter."))


def rounded(model: GRUEncoderDecoder) -> GRUEncoderDecoder:
    """The model with the parameters that the browser is given, in float64."""
    copy = GRUEncoderDecoder(n_symbols=50, d_hidden=16, attention="concat").double()
    copy.load_state_dict({name: value.half().double() for name, value in model.state_dict().items()})
    return copy


def run_in_python(model: GRUEncoderDecoder, numbers: list[int], temperature: float) -> dict:
    """Every intermediate result of the network, by PyTorch's own modules, one step at a time."""
    memory, _, state = model.encode(torch.tensor([numbers]))
    additive, symbol, steps = model.attention.additive, torch.tensor([[model.start_symbol]]), []
    for _ in numbers:
        output, state = model.decoder(model.embedding(symbol), state)
        hidden = additive.query_proj(output)[:, :, None] + additive.key_proj(memory)[:, None]
        scores = additive.energy(hidden.tanh()).squeeze(-1)
        weights = (scores / temperature).softmax(-1)
        context = weights @ memory
        logits = model.logits(model.readout(torch.cat([output, context], -1)).tanh())
        symbol = logits.argmax(-1)
        named = {"state": output, "scores": scores, "weights": weights, "context": context, "logits": logits}
        steps.append({name: value.flatten().tolist() for name, value in named.items()} | {"symbol": symbol.item()})
    return {"memory": memory[0].tolist(), "steps": steps}


def test_the_browser_computes_what_pytorch_computes(page, sorter):
    """Every intermediate result, to 12 digits, on 100 inputs at five temperatures; nothing is compared rounded."""
    model = rounded(sorter)
    inputs = torch.randint(50, (100, 6), generator=torch.Generator().manual_seed(1)).tolist()
    inputs += [[7] * 6, [0, 1, 2, 3, 4, 5], [49, 48, 47, 2, 1, 0]]
    cases = [(numbers, (0.05, 0.5, 1.0, 3.0, 10.0)[i % 5]) for i, numbers in enumerate(inputs)]
    view = page.locator(".course-explorer-view")
    runs = view.evaluate("(view, cases) => cases.map(([numbers, t]) => view.explorer.run(numbers, t))", cases)
    with torch.no_grad():
        for run, (numbers, temperature) in zip(runs, cases, strict=True):
            expected = run_in_python(model, numbers, temperature)
            np.testing.assert_allclose(run["memory"], expected["memory"], rtol=0, atol=1e-12)
            for step, expected_step in zip(run["steps"], expected["steps"], strict=True):
                assert step["symbol"] == expected_step["symbol"]
                for name in ("state", "scores", "weights", "context", "logits"):
                    np.testing.assert_allclose(step[name], expected_step[name], rtol=1e-9, atol=1e-11, err_msg=name)


def test_at_temperature_one_it_is_the_model_itself(page, sorter):
    """What is on show is what `generate` returns."""
    written, weights = rounded(sorter).generate(torch.tensor([NUMBERS]), 6)
    explorer = Mounted(page)
    assert explorer.state == {"temperature": 1, "numbers": NUMBERS, "written": written[0].tolist()}
    np.testing.assert_allclose(explorer.weights, weights, atol=1e-12)


def test_numbers_are_sorted_as_they_are_typed(page, sorter):
    """A new number changes what is written; one that the network does not know changes nothing, and says so."""
    explorer = Mounted(page)
    inputs = explorer.view.locator("input")
    inputs.nth(1).fill("33")
    typed = [31, 33, 15, 9, 26, 40]
    assert explorer.state["numbers"] == typed
    assert explorer.state["written"] == rounded(sorter).generate(torch.tensor([typed]), 6)[0][0].tolist()
    for wrong in ("50", "", "-1", "x"):
        inputs.nth(1).fill(wrong)
        assert explorer.state["numbers"] == typed
        assert inputs.nth(1).get_attribute("aria-invalid") == "true"
        explorer.press("temperature", "ArrowRight")
        assert "from 0 to 49" in explorer.view.locator(".course-sorter-said").inner_text()
    inputs.nth(1).fill("0")
    assert "It writes" in explorer.view.locator(".course-sorter-said").inner_text()
    assert explorer.state["numbers"] == [31, 0, 15, 9, 26, 40]
    assert page.errors == []


def test_what_is_seen_is_what_was_computed(page):
    """The heads of the rows, the frames and the words beside the map, for numbers of which two are equal."""
    explorer = Mounted(page)
    explorer.view.locator("input").nth(0).fill("4")
    explorer.press("temperature", "End")
    numbers, written = [4, 4, 15, 9, 26, 40], explorer.state["written"]
    right = sorted(numbers)
    marks = [str(n) if n == r else f"✗ {n}" for n, r in zip(written, right, strict=True)]
    assert explorer.view.locator("tbody th").all_inner_texts() == marks
    assert written != right  # this hot, it errs
    frames = explorer.view.locator("tbody td div").evaluate_all(
        "cells => cells.map((cell) => cell.classList.contains('course-sorter-gold'))"
    )
    assert (np.reshape(frames, (6, 6)) == (np.array(right)[:, None] == numbers)).all()
    cells = explorer.view.locator("tbody td div").evaluate_all("cells => cells.map((cell) => cell.ariaLabel)")
    shown = [json.loads(text.rstrip("%")) for text in cells]
    np.testing.assert_allclose(np.reshape(shown, (1, 6, 6)), 100 * explorer.weights, atol=0.5)


def test_other_numbers_are_offered(page):
    """The button draws six numbers that the network knows."""
    explorer = Mounted(page)
    explorer.view.get_by_role("button", name="Other numbers").click()
    numbers = explorer.state["numbers"]
    assert numbers != NUMBERS and len(numbers) == 6 and all(0 <= number < 50 for number in numbers)
    typed = explorer.view.locator("input").evaluate_all("inputs => inputs.map((input) => Number(input.value))")
    assert typed == numbers


def test_what_it_cannot_run_is_refused(sorter):
    """Another attention has other parameters, and another number has no embedding."""
    with pytest.raises(TypeError, match="concat"):
        explore_sorting(GRUEncoderDecoder(50, 16, "dot"), NUMBERS, alt="A sorter.")
    for numbers in ([], [50], [-1], [1.5]):
        with pytest.raises(ValueError, match=r"0\.\.49"):
            explore_sorting(sorter, numbers, alt="A sorter.")
