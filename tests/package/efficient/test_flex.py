"""FlexAttention against dense attention with the same mask and bias."""

import pytest
import torch
from derivatives import assert_same
from refusing import refuses

from attention_course import causal_mask, padding_mask, scaled_dot_product_attention, sliding_window_mask
from attention_course.efficient import flex
from attention_course.efficient.flex import FlexAttention
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import ALiBiAttention, alibi_slopes

N_HEADS = 3


def alibi(n_heads):
    slopes = alibi_slopes(n_heads)
    return lambda score, batch, head, query, key: score - slopes[head] * (query - key).abs()


def near(batch, head, query, key):
    return (query - key).abs() <= 4


def later_than_three(batch, head, query, key):  # the first four queries see nothing
    return (query >= 4) & (key <= query)


def only_even_heads(batch, head, query, key):
    return (head % 2 == 0) | (key == query + batch)


CASES = {
    "nothing": (FlexAttention, lambda q, k: None),
    "window": (lambda: FlexAttention(mask_mod=near), lambda q, k: sliding_window_mask(q, 4, k)),
    "causal window": (
        lambda: FlexAttention(mask_mod=near, causal=True),
        lambda q, k: sliding_window_mask(q, 4, k, causal=True),
    ),
    "ALiBi": (lambda: FlexAttention(alibi(N_HEADS)), lambda q, k: None),
    "causal ALiBi": (lambda: FlexAttention(alibi(N_HEADS), causal=True), causal_mask),
    "empty rows": (
        lambda: FlexAttention(mask_mod=later_than_three),
        lambda q, k: causal_mask(q, k) & (torch.arange(k - q, k) >= 4)[:, None],
    ),
    "by head": (
        lambda: FlexAttention(mask_mod=only_even_heads),
        lambda q, k: (torch.arange(N_HEADS) % 2 == 0)[:, None, None]
        | (torch.arange(k - q, k)[:, None] + torch.arange(2)[:, None, None, None] == torch.arange(k)),
    ),
}  # fmt: skip


def inputs(n_queries, n_keys):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(2, N_HEADS, n, 8, generator=generator) for n in (n_queries, n_keys, n_keys)]


def expected_output(case, tokens, mask=None):
    dense = ALiBiAttention() if "ALiBi" in case else scaled_dot_product_attention
    own = CASES[case][1](tokens[0].size(-2), tokens[1].size(-2))
    if own is not None:
        mask = own if mask is None else own & mask
    return dense(*tokens, mask)[0]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("lengths", [(40, 40), (5, 40), (1, 40)])
def test_equals_dense_attention_forward_and_backward(case, lengths):
    tokens = [each.requires_grad_() for each in inputs(*lengths)]
    output, weights = CASES[case][0]()(*tokens)
    assert weights is None
    assert_same(output, expected_output(case, tokens), tokens, atol=1e-5, rtol=1e-5)


@pytest.mark.skipif(torch.__version__.startswith("2.5."), reason="PyTorch 2.5 asks for the mask beyond the last key")
@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("lengths", [(40, 40), (5, 40)])
@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_equals_pytorchs_own_by_the_same_functions(case, lengths):
    attention, tokens = CASES[case][0](), inputs(*lengths)
    mask = padding_mask(torch.tensor([40, 20]))
    for given in (None, mask):
        shape = (2, N_HEADS, *lengths)
        causal = attention.causal
        score, allowed = attention._functions(shape, given, causal)
        # As on a GPU, but not compiled; twice, as the block mask is kept.
        for _ in range(2):
            blocks = None if allowed is None else attention._blocks(allowed, shape, given, causal, tokens[0].device)
            expected = flex.flex_attention(*tokens, score_mod=score, block_mask=blocks)
            torch.testing.assert_close(attention(*tokens, given)[0], expected, atol=1e-5, rtol=1e-5)


def test_a_mask_joins_the_functions():
    tokens = inputs(40, 40)
    for mask in (padding_mask(torch.tensor([40, 20])), torch.rand(40, 40) < 0.5):
        for case in ("nothing", "causal window", "ALiBi"):
            output, _ = CASES[case][0]()(*tokens, mask)
            torch.testing.assert_close(output, expected_output(case, tokens, mask), atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_inside_a_language_model_it_hides_the_future_by_its_functions_and_decodes_with_a_cache(monkeypatch):
    mechanisms = FlexAttention(alibi(4), causal=True), FlexAttention(alibi(4)), ALiBiAttention()
    model, plain, dense = (
        CausalLanguageModel(11, 16, 4, 2, n_kv_heads=2, attention=attention).eval() for attention in mechanisms
    )
    symbols = torch.randint(11, (2, 9), generator=torch.Generator().manual_seed(0))
    expected, _ = dense(symbols)
    # Neither the model nor the layer makes a matrix for the future; the functions are asked.
    monkeypatch.setattr("attention_course.masks.causal_mask", lambda *sizes, device: pytest.fail("a mask was made"))
    for each in (model, plain):
        each.load_state_dict(dense.state_dict())
        caches = each.new_caches()
        parts = [each(part, caches=caches)[0] for part in symbols.split([4, 3, 1, 1], dim=1)]
        torch.testing.assert_close(torch.cat(parts, 1), expected, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(each(symbols)[0], expected, atol=1e-5, rtol=1e-5)


def test_what_a_mask_mod_reads_may_change_from_call_to_call():
    """As the numbers of documents do: blocks that are kept would hide what is new, in silence and on a GPU alone."""
    document = torch.tensor([0] * 128 + [1] * 128)
    attention = FlexAttention(mask_mod=lambda batch, head, query, key: document[query] == document[key])
    shape, shown = (1, 1, 256, 256), []
    for _ in range(2):
        blocks = attention._blocks(attention._functions(shape, None, False)[1], shape, None, False, document.device)
        shown.append(blocks.to_dense()[0, 0].tolist())
        document[:] = 0
    assert shown == [[[1, 0], [0, 1]], [[1, 1], [1, 1]]]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_a_score_mod_may_compute_in_float32(dtype):
    tokens, attention = [each.to(dtype) for each in inputs(9, 9)], FlexAttention(alibi(N_HEADS))
    output, _ = attention(*tokens)
    expected, _ = attention(*(each.double() for each in tokens))
    assert output.dtype == dtype
    torch.testing.assert_close(output.double(), expected, atol=0.05, rtol=0.05)


def test_a_score_mod_may_hide_all_that_a_query_sees():
    def from_the_second(score, batch, head, query, key):
        return torch.where(query > 0, score, -torch.inf)

    query, key, value = (each.requires_grad_() for each in inputs(4, 4))
    output, _ = FlexAttention(from_the_second)(query, key, value)
    assert output[..., 0, :].eq(0).all()
    expected, _ = FlexAttention()(query, key, value)
    torch.testing.assert_close(output[..., 1:, :], expected[..., 1:, :])
    assert torch.autograd.grad(output.sum(), query)[0].isfinite().all()


def test_the_block_mask_that_is_kept_is_of_the_same_call():
    attention, tokens = FlexAttention(), inputs(40, 40)
    shape, device = (2, N_HEADS, 40, 40), tokens[0].device
    allowed = attention._functions(shape, None, True)[1]
    kept = attention._blocks(allowed, shape, None, True, device)
    assert attention._blocks(allowed, shape, None, True, device) is kept
    attention.mask_mod = near
    assert attention._blocks(attention._functions(shape, None, False)[1], shape, None, False, device) is not kept


@pytest.mark.parametrize("attention", [FlexAttention(), FlexAttention(mask_mod=near)])
def test_long_vectors_in_float16(attention):
    query, key, value = (each.half() for each in inputs(40, 40))
    query, key = 120 * query.sign(), 120 * key.sign()
    assert (query.double() @ key.double().mT).max() > torch.finfo(torch.float16).max
    expected, _ = attention(query.double(), key.double(), value.double())
    torch.testing.assert_close(attention(query, key, value)[0].double(), expected, atol=0.01, rtol=0.01)


def test_only_cuda_takes_the_compiled_kernel(monkeypatch):
    monkeypatch.setattr(flex, "_compiled", lambda: pytest.fail("the kernel was compiled"))
    elsewhere = [each.to("meta") for each in inputs(40, 40)]  # no CPU either, as Apple's GPUs are none
    assert FlexAttention(causal=True)(*elsewhere)[0].shape == (2, N_HEADS, 40, 8)


test_bad_input_is_named = refuses(
    ("need_weights must be False", lambda: FlexAttention()(*inputs(3, 3), need_weights=True)),
    ("dropout 0, got False and 0.1", lambda: FlexAttention()(*inputs(3, 3), dropout=0.1)),
    ("as many tokens as query, 4, got 3", lambda: FlexAttention()(*inputs(4, 3))),
    ("batch, heads, tokens, d_head", lambda: FlexAttention()(*(each[0] for each in inputs(3, 3)))),
    ("mask must broadcast", lambda: FlexAttention()(*inputs(3, 3), torch.ones(4, 3).bool())),
)


def test_a_pytorch_without_it_is_named(monkeypatch):
    monkeypatch.setattr(flex, "flex_attention", None)
    with pytest.raises(ImportError, match="needs PyTorch 2.5 or later, got"):
        FlexAttention()
