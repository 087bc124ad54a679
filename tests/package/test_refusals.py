"""What every mechanism refuses, and what it makes of nothing: the table of them stands in mechanisms.py."""

import pytest
import torch
from contract import (
    EVERY,
    MASKED,
    PLAIN,
    case_of,
    end_of_the_ring,  # noqa: F401
    gradients_of,
    to_differentiate,
    tokens_of,
)
from mechanisms import BATCH, CASES, D_HEAD, N_HEADS


@EVERY
def test_empty_sequences_give_empty_results(name):
    case, attention = case_of(name, PLAIN)
    tokens = to_differentiate(case, tokens_of(case, 0, PLAIN))
    output = case.output(attention, tokens)
    assert output.shape == (BATCH, N_HEADS, 0, D_HEAD)
    gradients = gradients_of(case, output, tokens, output.detach())
    assert all(gradient.shape == (BATCH, N_HEADS, 0, D_HEAD) for gradient in gradients)


@MASKED
def test_without_keys_there_are_zeros_or_a_clear_error(name):
    case, attention = case_of(name, PLAIN)
    query = tokens_of(case, 3, PLAIN)[0]
    tokens = [query, *tokens_of(case, 0, PLAIN)[1:]]
    if case.other_keys and not case.causal:
        assert torch.equal(case.output(attention, tokens), torch.zeros_like(query))
    else:  # the queries are tokens that the keys should be of, too
        with pytest.raises(ValueError, match="as many tokens|at least n_queries|same n_keys"):
            case.output(attention, tokens)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.weightless])
def test_what_it_cannot_do_is_refused(name):
    case, attention = case_of(name, PLAIN)
    query, key, value = tokens_of(case, 10, PLAIN)
    with pytest.raises(ValueError, match="need_weights must be False"):
        attention(query, key, value, need_weights=True)
    with pytest.raises(ValueError, match="dropout must be 0, got 0.1"):
        attention(query, key, value, dropout=0.1)
    for mask in (torch.ones(10, 10, dtype=torch.bool), torch.tensor(True)):
        with pytest.raises(ValueError, match="mask must be the same for all queries"):
            attention(query, key, value, mask)
    with pytest.raises(ValueError, match="batch, heads, tokens, d_head"):
        attention(query[0], key[0], value[0])
    with pytest.raises(ValueError, match="same n_keys, got 10 in key and 9 in value"):
        attention(query, key, value[..., :9, :])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.weightless and case.causal])
def test_a_causal_one_needs_keys_of_the_same_tokens(name):
    case, attention = case_of(name, PLAIN)
    query, key, value = tokens_of(case, 10, PLAIN)
    with pytest.raises(ValueError, match="key must have as many tokens as query, 7, got 10"):
        attention(query[..., :7, :], key, value)


@MASKED
def test_a_refused_call_changes_nothing(name):
    case, attention = case_of(name, PLAIN)
    tokens = tokens_of(case, 10, PLAIN)
    copies = [each.clone() for each in tokens]
    before = case.output(attention, tokens)
    with pytest.raises(TypeError, match="mask must be boolean"):
        case.output(attention, tokens, torch.zeros(BATCH, 1, 1, 10))
    with pytest.raises(ValueError, match="mask"):
        case.output(attention, tokens, torch.ones(BATCH, 1, 1, 11, dtype=torch.bool))
    for each, copy in zip(tokens, copies, strict=True):
        assert torch.equal(each, copy)
    assert torch.equal(case.output(attention, tokens), before)
