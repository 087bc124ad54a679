"""What is hidden does not exist, for every mechanism: the table of them stands in mechanisms.py."""

import pytest
import torch
from contract import (
    CAUSAL,
    IN_ALL,
    MASKED,
    PLAIN,
    assert_zero,
    case_of,
    end_of_the_ring,  # noqa: F401
    enlarged,
    gradients_of,
    relative_error,
    some_hidden,
    to_differentiate,
    tokens_of,
)
from mechanisms import BATCH, CASES
from seeding import seeded

from attention_course import padding_mask


def same_gradients(case, outputs, inputs, probe):
    """Those of two runs, which have to be the same; returned once."""
    before, after = (gradients_of(case, *each, probe) for each in zip(outputs, inputs, strict=True))
    for old, new in zip(before, after, strict=True):
        assert torch.equal(old, new)
    return after


MASKED_BY_QUERY = pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if case.masked and not case.one_mask]
)


@MASKED
@IN_ALL
def test_hidden_keys_and_values_change_nothing_and_get_no_gradient(name, precision):
    case, attention = case_of(name, precision)
    n_tokens = 70
    mask = some_hidden(n_tokens)
    seen = mask.transpose(-2, -1)
    before = to_differentiate(case, tokens_of(case, n_tokens, precision))
    after = to_differentiate(case, enlarged(before, ~seen, case, precision))
    outputs = [precision.output(case, attention, tokens, mask) for tokens in (before, after)]
    # Where keys are queries, a hidden token asks as another would: what it gets is its own affair.
    asked = seen.expand_as(outputs[0]) if case.shared else torch.ones_like(outputs[0], dtype=torch.bool)
    assert torch.equal(outputs[0][asked], outputs[1][asked])
    probe = torch.randn(outputs[0].shape, generator=seeded(1)).to(precision.result) * asked
    for of_keys_or_values in same_gradients(case, outputs, (before, after), probe)[-2:]:
        assert_zero(of_keys_or_values.masked_select(~seen))


@pytest.mark.parametrize("what", [float("inf"), float("nan")])
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.weightless and not case.shared])
@torch.no_grad()
def test_hidden_tokens_need_not_even_be_numbers(name, what):
    """For what has no weights of its own to hide: hidden keys and values are put aside first."""
    case, attention = case_of(name, PLAIN)
    tokens, mask = tokens_of(case, 70, PLAIN), some_hidden(70)
    query, key, value = tokens
    other = [query, *(each.masked_fill(~mask.transpose(-2, -1), what) for each in (key, value))]
    assert torch.equal(case.output(attention, tokens, mask), case.output(attention, other, mask))


@MASKED_BY_QUERY
@IN_ALL
def test_what_is_hidden_from_one_query_may_be_seen_by_others(name, precision):
    case, attention = case_of(name, precision)
    n_tokens, column = 70, torch.arange(70)[:, None] == 20
    mask = torch.rand(BATCH, 1, n_tokens, n_tokens, generator=seeded(3)) < 0.6
    mask[0, :, 33] = False
    sees_it = mask[..., 20:21]
    tokens = tokens_of(case, n_tokens, precision)
    changed = enlarged(tokens, column, case, precision, seen=True)
    before, after = (precision.output(case, attention, each, mask) for each in (tokens, changed))
    assert torch.equal(before.where(~sees_it, 0.0), after.where(~sees_it, 0.0))
    assert_zero(before[0, :, 33], after[0, :, 33])
    # Who sees it asks with zeros, as below, and is not asked: what it gets is its own affair.
    tokens[0] = tokens[0].where(~sees_it, 0.0)
    before = to_differentiate(case, tokens)
    after = to_differentiate(case, enlarged(tokens, column, case, precision, seen=True))
    outputs = [precision.output(case, attention, each, mask) for each in (before, after)]
    probe = torch.randn(outputs[0].shape, generator=seeded(1)).to(precision.result).where(~sees_it, 0.0)
    gradients = same_gradients(case, outputs, (before, after), probe)
    assert all(gradient.isfinite().all() for gradient in gradients)
    for of_keys_or_values in gradients[1:]:
        assert_zero(of_keys_or_values[..., 20, :])


@CAUSAL
@IN_ALL
def test_the_future_changes_nothing_and_gets_no_gradient(name, precision):
    case, attention = case_of(name, precision)
    n_tokens, now = 140, 90
    later = (torch.arange(n_tokens) >= now)[:, None]
    tokens = tokens_of(case, n_tokens, precision)
    changed = enlarged(tokens, later, case, precision, seen=True)
    outputs = [precision.output(case, attention, each)[..., :now, :] for each in (tokens, changed)]
    assert torch.equal(*outputs)
    # Gradients of earlier outputs pass through none of the later ones; these ask with zeros, or PyTorch's kernel, which
    # computes their weights anew, would find that the rounding of their scores is beyond an exponential's range.
    tokens[0] = tokens[0].masked_fill(later, 0.0)
    before = to_differentiate(case, tokens)
    after = to_differentiate(case, enlarged(tokens, later, case, precision, seen=True))
    outputs = [precision.output(case, attention, each)[..., :now, :] for each in (before, after)]
    probe = torch.randn(outputs[0].shape, generator=seeded(1)).to(precision.result)
    for gradient in same_gradients(case, outputs, (before, after), probe):
        assert_zero(gradient[..., now:, :])


def test_causal_hashing_hides_the_future_too_where_all_meet():
    """Which earlier tokens it sees depends on later ones, but not where one chunk holds all."""
    case, attention = case_of("LSH, causal", PLAIN)
    before = tokens_of(case, 16, PLAIN)
    after = enlarged(before, (torch.arange(16) >= 9)[:, None], case, PLAIN)
    outputs = [case.output(attention, tokens)[..., :9, :] for tokens in (before, after)]
    assert torch.equal(*outputs)


@MASKED
@IN_ALL
def test_where_nothing_is_seen_there_are_zeros_and_gradients_of_zero(name, precision):
    case, attention = case_of(name, precision)
    tokens = to_differentiate(case, tokens_of(case, 70, precision))
    output = precision.output(case, attention, tokens, padding_mask(torch.tensor([70, 0])))
    assert_zero(output[1])
    probe = torch.randn(output.shape, generator=seeded(1))
    for gradient in gradients_of(case, output, tokens, probe):
        assert_zero(gradient[1])
        assert gradient[0].isfinite().all()
    alone = precision.output(case, attention, [each[:1] for each in tokens])
    error = relative_error(output[:1], alone.double())
    assert error < precision.errors(case)[0]
