"""What attention refuses, and in which words."""

import numpy as np
import pytest
import torch

from attention_course.support.validation import validate_dropout, validate_inputs, validate_mask, validate_whole_number

QUERY, KEY, VALUE = torch.zeros(2, 3, 4), torch.zeros(2, 5, 4), torch.zeros(2, 5, 6)


@pytest.mark.parametrize("shape", [(), (5,), (1, 5), (3, 1), (3, 5), (2, 3, 5), (1, 3, 5)])
def test_what_broadcasts_to_the_scores_is_let_in(shape):
    validate_inputs(QUERY, KEY, VALUE, torch.ones(shape, dtype=torch.bool), torch.zeros(shape))


@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 1, 3, 5), (3, 3, 5), (1, 2, 3, 5)])
def test_what_would_stretch_the_scores_is_refused(shape):
    message = r"must broadcast to the scores' shape \(2, 3, 5\), got "
    with pytest.raises(ValueError, match=f"mask {message}"):
        validate_inputs(QUERY, KEY, VALUE, torch.ones(shape, dtype=torch.bool))
    with pytest.raises(ValueError, match=f"bias {message}"):
        validate_inputs(QUERY, KEY, VALUE, None, torch.zeros(shape))


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.long])
def test_a_mask_is_boolean(dtype):
    mask = torch.ones(3, 5, dtype=dtype)
    for refuse in (lambda: validate_inputs(QUERY, KEY, VALUE, mask), lambda: validate_mask(mask, (3, 5))):
        with pytest.raises(TypeError, match=f"mask must be boolean with True = may attend, got {dtype}"):
            refuse()


@pytest.mark.parametrize(
    ("error", "message", "inputs"),
    [
        (ValueError, r"key must have shape \(..., tokens, features\), got \(4,\)", (QUERY, KEY[0, 0], VALUE)),
        (TypeError, "value in torch.float64 and query in torch.float32", (QUERY, KEY, VALUE.double())),
        (TypeError, "one floating dtype, got query in torch.int64", (QUERY.long(), KEY.long(), VALUE.long())),
        (TypeError, "bias must have the dtype of the query", (QUERY, KEY, VALUE, None, torch.zeros(5).half())),
        (ValueError, "query must have d_k 1 or more", (QUERY[..., :0], KEY[..., :0], VALUE)),
        (ValueError, "same d_k, got 4 in query and 3 in key", (QUERY, KEY[..., :3], VALUE)),
        (ValueError, "same n_keys, got 5 in key and 4 in value", (QUERY, KEY, VALUE[:, :4])),
        (ValueError, r"got \(2,\), \(1,\) and \(2,\)", (QUERY, KEY[:1], VALUE)),
        (ValueError, r"got \(2,\), \(2,\) and \(1,\)", (QUERY, KEY, VALUE[:1])),
    ],
)
def test_what_does_not_fit_together_is_named(error, message, inputs):
    with pytest.raises(error, match=message):
        validate_inputs(*inputs)


@pytest.mark.parametrize("dropout", [-3.0, -0.1, 1.0, 2.0, float("nan")])
def test_dropout_is_a_probability_below_one(dropout):
    for probability in (0.0, 0, 0.5):
        validate_dropout(probability)
    with pytest.raises(ValueError, match=r"dropout must lie in \[0, 1\), got "):
        validate_dropout(dropout)


@pytest.mark.parametrize("number", [1, -1, 2.0, 2.5, float("nan"), "3", None])
def test_a_whole_number_is_whole_and_large_enough(number):
    for whole in (2, 3, np.int64(2)):
        validate_whole_number("n_heads", whole, at_least=2)
    with pytest.raises(ValueError, match=f"n_heads must be a whole number, 2 or more, got {number}"):
        validate_whole_number("n_heads", number, at_least=2)
