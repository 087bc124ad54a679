"""What every mechanism owes, whichever it is: the table of them stands in mechanisms.py.

torch.compile runs with its "aot_eager" backend: traced and differentiated as ever, without a C++ compiler's minute.
"""

from copy import deepcopy

import pytest
import torch
import torch.distributed as dist
from mechanisms import BATCH, BFLOAT16, CASES, D_HEAD, FLOAT16, FLOAT32, FLOAT64, LONGEST, N_HEADS, seeded
from torch import nn

from attention_course import KVCache, MultiHeadAttention, padding_mask
from attention_course.distributed import RingAttention
from attention_course.mechanism import Mechanism

EVERY = pytest.mark.parametrize("name", CASES)
MASKED = pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.masked])
CAUSAL = pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.causal and not case.leaks])
DRAWN = pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.draws])
MADE_FOR_LENGTH = "flash", "chunked", "ring", "window", "block-sparse", "linear", "Performer", "LSH", "Linformer"
ANY_NUMBER_OF_KEYS = "exact", "exact, with weights", "grouped", "flash", "chunked", "latent"
ANY_NUMBER_OF_KEYS += "linear", "Performer", "Linformer"
WEIGHTLESS = "window", "block-sparse", "linear", "Performer", "LSH", "Linformer"
DTYPES = pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32, BFLOAT16, FLOAT16], ids=lambda dtype: str(dtype)[6:])


@pytest.fixture(scope="module", autouse=True)
def end_of_the_ring():
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


def case_of(name, dtype):
    """The case, and a mechanism in that dtype."""
    case = CASES[name]
    if dtype not in case.errors:
        pytest.skip(f"not in {dtype}")
    attention = case.make()
    is_module = isinstance(attention, nn.Module) and not isinstance(attention, RingAttention)
    return case, attention.to(dtype) if is_module else attention


def tokens_of(case, n_tokens, dtype):
    """Query, key and value; the query is the key where they are shared."""
    drawn = torch.randn(3, BATCH, N_HEADS, n_tokens, D_HEAD, generator=seeded()).to(dtype)
    query, key, value = drawn.unbind()
    return [query, query if case.shared else key, value]


def to_differentiate(case, tokens):
    copies = [each.detach().clone().requires_grad_() for each in tokens]
    return [copies[0], copies[0], copies[2]] if case.shared else copies


def gradients_of(case, output, tokens, probe):
    """Of query, key and value; zeros where the output has nothing to do with one."""
    wanted = [tokens[0], tokens[2]] if case.shared else tokens
    return torch.autograd.grad(output, wanted, probe.to(output.dtype), materialize_grads=True)


def relative_error(result, expected):
    return ((result.double() - expected).norm() / expected.norm().clamp_min(1e-30)).item()


def some_hidden(n_tokens):
    """Padding at the end of one sequence, and holes everywhere: `(BATCH, 1, 1, n_tokens)`."""
    holes = torch.rand(BATCH, 1, 1, n_tokens, generator=seeded(3)) < 0.8
    return holes & padding_mask(torch.tensor([n_tokens, (n_tokens + 1) // 2]))


def enlarged(tokens, which, case, *, summed=False):
    """Tokens whose keys and values are large, of either sign, where `which` says so, `(..., tokens, 1)`."""
    dtype = tokens[0].dtype
    large = case.large * torch.finfo(dtype).max
    if summed and case.sums:
        large = min(large, case.large * torch.finfo(torch.promote_types(dtype, FLOAT32)).max ** 0.5)
    key, value = (torch.where(which, large * each.sign(), each) for each in tokens[1:])
    return [key if case.shared else tokens[0], key, value]


def assert_zero(*results):
    for result in results:
        assert (result == 0).all()


# (c), (g): results and gradients within a stated error of the definition, whatever the length -------------------------


@EVERY
@DTYPES
@pytest.mark.parametrize("n_tokens", [1, 2, 63, 64, 65, 130])
@pytest.mark.parametrize("masked", [False, True], ids=["all seen", "some hidden"])
def test_outputs_and_gradients_are_those_of_the_definition(name, dtype, n_tokens, masked):
    case, attention = case_of(name, dtype)
    if (case.even and n_tokens % 2) or (masked and not case.masked):
        pytest.skip("not what it takes")
    mask = some_hidden(n_tokens) if masked else None
    tokens = to_differentiate(case, tokens_of(case, n_tokens, dtype))
    exact = to_differentiate(case, [each.double() for each in tokens])
    output, expected = case.output(attention, tokens, mask), case.defined(attention, exact, mask)
    assert output.dtype == dtype and output.shape == expected.shape
    probe = torch.randn(output.shape, generator=seeded(1)).to(dtype)
    output_error, gradient_error = case.errors[dtype]
    assert relative_error(output, expected) < output_error
    ours, theirs = gradients_of(case, output, tokens, probe), gradients_of(case, expected, exact, probe.double())
    # A single key's weight is 1 whatever it is: what should be a gradient of zero is the rounding of larger numbers.
    least = 0.5 * max(its.norm() for its in theirs)
    for mine, its in zip(ours, theirs, strict=True):
        assert (mine.double() - its).norm() <= gradient_error * max(its.norm(), least)


@EVERY
@pytest.mark.parametrize("n_tokens", [255, 256, 257, 511, 512, 513])
@torch.no_grad()
def test_every_tile_is_as_the_definition_says(name, n_tokens):
    case, attention = case_of(name, FLOAT32)
    if case.even and n_tokens % 2:
        pytest.skip("even numbers only")
    tokens = tokens_of(case, n_tokens, FLOAT32)
    expected = case.defined(attention, [each.double() for each in tokens])
    assert relative_error(case.output(attention, tokens), expected) < case.errors[FLOAT32][0]


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(MADE_FOR_LENGTH)])
@torch.no_grad()
def test_long_sequences_in_the_narrowest_dtype(name):
    case = CASES[name]
    dtype = FLOAT16 if FLOAT16 in case.errors else FLOAT32
    case, attention = case_of(name, dtype)
    tokens = [each[:1, :1] for each in tokens_of(case, LONGEST, dtype)]
    expected = case.defined(attention, [each.double() for each in tokens])
    assert relative_error(case.output(attention, tokens), expected) < case.errors[dtype][0]


@EVERY
@torch.no_grad()
def test_it_does_not_matter_how_tokens_lie_in_memory(name):
    case, attention = case_of(name, FLOAT64)
    tokens = tokens_of(case, 66, FLOAT64)
    as_a_layer_splits_them = [each.transpose(1, 2).contiguous().transpose(1, 2) for each in tokens]
    by_feature = [each.transpose(-2, -1).contiguous().transpose(-2, -1) for each in tokens]
    every_other = [each.repeat_interleave(2, dim=-1)[..., ::2] for each in tokens]
    expected = case.output(attention, tokens)
    for given in (as_a_layer_splits_them, by_feature, every_other):
        assert not any(each.is_contiguous() for each in given)
        if case.shared:
            given[1] = given[0]
        torch.testing.assert_close(case.output(attention, given), expected, atol=1e-12, rtol=1e-12)


# (a): what is hidden does not exist -----------------------------------------------------------------------------------


@MASKED
@DTYPES
def test_hidden_keys_and_values_change_nothing_and_get_no_gradient(name, dtype):
    case, attention = case_of(name, dtype)
    n_tokens = 70
    mask = some_hidden(n_tokens)
    seen = mask.transpose(-2, -1)
    before = to_differentiate(case, tokens_of(case, n_tokens, dtype))
    after = to_differentiate(case, enlarged(before, ~seen, case))
    outputs = [case.output(attention, tokens, mask) for tokens in (before, after)]
    # Where keys are queries, a hidden token asks as another would: what it gets is its own affair.
    asked = seen.expand_as(outputs[0]) if case.shared else torch.ones_like(outputs[0], dtype=torch.bool)
    assert torch.equal(outputs[0][asked], outputs[1][asked])
    probe = torch.randn(outputs[0].shape, generator=seeded(1)).to(dtype) * asked
    gradients = [
        gradients_of(case, output, tokens, probe) for output, tokens in zip(outputs, (before, after), strict=True)
    ]
    for old, new in zip(*gradients, strict=True):
        assert torch.equal(old, new)
    for of_keys_or_values in gradients[1][-2:]:
        assert_zero(of_keys_or_values.masked_select(~seen))


@pytest.mark.parametrize("what", [float("inf"), float("nan")])
@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(WEIGHTLESS) and not CASES[name].shared])
@torch.no_grad()
def test_hidden_tokens_need_not_even_be_numbers(name, what):
    """For what has no weights of its own to hide: hidden keys and values are put aside first."""
    case, attention = case_of(name, FLOAT32)
    tokens, mask = tokens_of(case, 70, FLOAT32), some_hidden(70)
    query, key, value = tokens
    other = [query, *(each.masked_fill(~mask.transpose(-2, -1), what) for each in (key, value))]
    assert torch.equal(case.output(attention, tokens, mask), case.output(attention, other, mask))


@CAUSAL
@DTYPES
def test_the_future_changes_nothing_and_gets_no_gradient(name, dtype):
    case, attention = case_of(name, dtype)
    n_tokens, now = 140, 90
    later = (torch.arange(n_tokens) >= now)[:, None]
    tokens = tokens_of(case, n_tokens, dtype)
    outputs = [case.output(attention, each)[..., :now, :] for each in (tokens, enlarged(tokens, later, case))]
    assert torch.equal(*outputs)
    # Gradients of earlier outputs pass through none of the later ones; these ask with zeros, or PyTorch's kernel, which
    # computes their weights anew, would find that the rounding of their scores is beyond an exponential's range.
    tokens[0] = tokens[0].masked_fill(later, 0.0)
    before = to_differentiate(case, tokens)
    after = to_differentiate(case, enlarged(tokens, later, case, summed=True))
    outputs = [case.output(attention, each)[..., :now, :] for each in (before, after)]
    probe = torch.randn(outputs[0].shape, generator=seeded(1)).to(dtype)
    gradients = [
        gradients_of(case, output, tokens, probe) for output, tokens in zip(outputs, (before, after), strict=True)
    ]
    for old, new in zip(*gradients, strict=True):
        assert torch.equal(old, new)
        assert_zero(new[..., now:, :])


def test_causal_hashing_hides_the_future_too_where_all_meet():
    """Which earlier tokens it sees hangs on later ones, but not where one chunk holds all."""
    case, attention = case_of("LSH, causal", FLOAT32)
    before = tokens_of(case, 16, FLOAT32)
    after = enlarged(before, (torch.arange(16) >= 9)[:, None], case)
    outputs = [case.output(attention, tokens)[..., :9, :] for tokens in (before, after)]
    assert torch.equal(*outputs)


# (b): nothing seen gives zeros ----------------------------------------------------------------------------------------


@MASKED
@DTYPES
def test_where_nothing_is_seen_there_are_zeros_and_gradients_of_zero(name, dtype):
    case, attention = case_of(name, dtype)
    tokens = to_differentiate(case, tokens_of(case, 70, dtype))
    output = case.output(attention, tokens, padding_mask(torch.tensor([70, 0])))
    assert_zero(output[1])
    probe = torch.randn(output.shape, generator=seeded(1))
    for gradient in gradients_of(case, output, tokens, probe):
        assert_zero(gradient[1])
        assert gradient[0].isfinite().all()
    alone = case.output(attention, [each[:1] for each in tokens])
    error = relative_error(output[:1], alone.double())
    assert error < case.errors[dtype][0]


# (d), (e): what is refused, and what is empty -------------------------------------------------------------------------


@EVERY
def test_empty_sequences_give_empty_results(name):
    case, attention = case_of(name, FLOAT32)
    tokens = to_differentiate(case, tokens_of(case, 0, FLOAT32))
    output = case.output(attention, tokens)
    assert output.shape == (BATCH, N_HEADS, 0, D_HEAD)
    gradients = gradients_of(case, output, tokens, output.detach())
    assert all(gradient.shape == (BATCH, N_HEADS, 0, D_HEAD) for gradient in gradients)


@MASKED
def test_without_keys_there_are_zeros_or_a_clear_error(name):
    case, attention = case_of(name, FLOAT32)
    query = tokens_of(case, 3, FLOAT32)[0]
    tokens = [query, *tokens_of(case, 0, FLOAT32)[1:]]
    if name in ANY_NUMBER_OF_KEYS:
        assert torch.equal(case.output(attention, tokens), torch.zeros_like(query))
    else:  # the queries are tokens that the keys should be of, too
        with pytest.raises(ValueError, match="as many tokens|at least n_queries|same n_keys"):
            case.output(attention, tokens)


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(WEIGHTLESS)])
def test_what_it_cannot_do_is_refused(name):
    case, attention = case_of(name, FLOAT32)
    query, key, value = tokens_of(case, 10, FLOAT32)
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


@pytest.mark.parametrize("name", [f"{name}, causal" for name in WEIGHTLESS if name != "Linformer"])
def test_a_causal_one_needs_keys_of_the_same_tokens(name):
    case, attention = case_of(name, FLOAT32)
    query, key, value = tokens_of(case, 10, FLOAT32)
    with pytest.raises(ValueError, match="key must have as many tokens as query, 7, got 10"):
        attention(query[..., :7, :], key, value)


@MASKED
def test_a_refused_call_changes_nothing(name):
    case, attention = case_of(name, FLOAT32)
    tokens = tokens_of(case, 10, FLOAT32)
    copies = [each.clone() for each in tokens]
    before = case.output(attention, tokens)
    with pytest.raises(TypeError, match="mask must be boolean"):
        case.output(attention, tokens, torch.zeros(BATCH, 1, 1, 10))
    with pytest.raises(ValueError, match="mask"):
        case.output(attention, tokens, torch.ones(BATCH, 1, 1, 11, dtype=torch.bool))
    for each, copy in zip(tokens, copies, strict=True):
        assert torch.equal(each, copy)
    assert torch.equal(case.output(attention, tokens), before)


@pytest.mark.parametrize("name", ["exact", "flash", "chunked", "flex", "RoPE", "ALiBi", "Shaw", "latent"])
@torch.no_grad()
def test_a_refused_call_leaves_the_cache_as_it_was(name):
    attention = CASES[name].make()
    layer = attention if name == "latent" else MultiHeadAttention(N_HEADS * D_HEAD, N_HEADS, attention=attention)
    tokens = torch.randn(BATCH, 6, N_HEADS * D_HEAD, generator=seeded())
    cache, undisturbed = KVCache(), KVCache()
    layer(tokens[:, :5], cache=cache)
    layer(tokens[:, :5], cache=undisturbed)
    for refused in (torch.zeros(1, 6), torch.ones(BATCH, 1, 1, 5, dtype=torch.bool)):
        with pytest.raises((TypeError, ValueError), match="mask"):
            layer(tokens[:, 5:], mask=refused, cache=cache)
        assert len(cache) == 5
    output, expected = (layer(tokens[:, 5:], cache=each)[0] for each in (cache, undisturbed))
    assert torch.equal(output, expected)


# (f): what was drawn at random is kept, and each layer draws its own --------------------------------------------------


@DRAWN
@torch.no_grad()
def test_what_was_drawn_is_saved_and_loaded(name):
    case, attention = case_of(name, FLOAT32)
    tokens, other = tokens_of(case, 40, FLOAT32), case.make()
    other.redraw()
    assert not torch.equal(case.output(other, tokens), case.output(attention, tokens))
    other.load_state_dict(attention.state_dict())
    assert torch.equal(case.output(other, tokens), case.output(attention, tokens))


@EVERY
@torch.no_grad()
def test_a_copy_computes_the_same(name):
    case, attention = case_of(name, FLOAT32)
    if isinstance(attention, RingAttention):
        pytest.skip("a group of processes cannot be copied")
    tokens = tokens_of(case, 40, FLOAT32)
    assert torch.equal(case.output(deepcopy(attention), tokens), case.output(attention, tokens))


@EVERY
@torch.no_grad()
def test_a_fresh_one_draws_its_own_and_is_otherwise_the_same(name):
    case, attention = case_of(name, FLOAT32)
    if not isinstance(attention, Mechanism):
        pytest.skip("functions and layers keep nothing that layers could share")
    tokens = tokens_of(case, 40, FLOAT32)
    outputs = [case.output(each, tokens) for each in (attention, attention.fresh(), attention.fresh(), attention)]
    assert torch.equal(outputs[0], outputs[3])
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert torch.equal(outputs[i], outputs[j]) != case.draws


@EVERY
def test_compiled_it_computes_the_same(name):
    case, attention = case_of(name, FLOAT32)
    if isinstance(attention, RingAttention):
        pytest.skip("processes that wait for one another are not traced")
    torch.compiler.reset()
    compiled = torch.compile(attention, backend="aot_eager")
    if case.shared:  # its generator stays outside of what is compiled
        compiled.generator = attention.generator
    results = []
    for each in (attention, compiled):
        tokens = to_differentiate(case, tokens_of(case, 70, FLOAT32))
        output = case.output(each, tokens)
        results.append([output, *gradients_of(case, output, tokens, torch.ones_like(output))])
    for plain, traced in zip(*results, strict=True):
        torch.testing.assert_close(traced, plain, atol=1e-6, rtol=1e-5)
