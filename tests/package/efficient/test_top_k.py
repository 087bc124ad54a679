"""Top-k attention: a choice of keys, exact attention to them, and an indexer that learns to choose."""

import pytest
import torch
from refusing import refuses
from seeding import seeded

from attention_course import KVCache, MultiHeadAttention, causal_mask, padding_mask
from attention_course.efficient import top_k
from attention_course.efficient.indexer import choose, index_scores
from attention_course.efficient.top_k import TopKAttention, lookup

D_MODEL, N_HEADS, K = 24, 3, 5
ATTENTION = "query_proj", "key_proj", "value_proj", "out_proj"


def top_k_layer(k=K, dtype=torch.float64):
    torch.manual_seed(0)
    return TopKAttention(D_MODEL, N_HEADS, k).to(dtype)


def tokens_of(n, batch=2, seed=0):
    return torch.randn(batch, n, D_MODEL, generator=seeded(seed), dtype=torch.float64)


def some_mask(n_queries, n_keys):
    """Different for each query; one sees nothing, and some fewer than k keys."""
    mask = torch.rand(2, 1, n_queries, n_keys, generator=seeded(3)) < 0.3
    mask[0, :, n_queries // 2] = False
    return mask


# The choice -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 4, 12, 20])
def test_the_highest_visible_scores_are_chosen_each_once_and_of_equals_the_first(k):
    scores = torch.randint(-2, 3, (3, 40, 12), generator=seeded()).float()  # many are equal
    visible = torch.rand(3, 40, 12, generator=seeded(1)) < 0.5
    visible[0, 0] = False
    place, seen = choose(scores, visible, k)
    assert place.shape == seen.shape == (3, 40, min(k, 12))
    for row in range(3):
        for query in range(40):
            candidates = [j for j in range(12) if visible[row, query, j]]
            best = sorted(candidates, key=lambda j: (-scores[row, query, j].item(), j))[:k]
            assert place[row, query][seen[row, query]].tolist() == sorted(best)
            assert len(set(place[row, query].tolist())) == min(k, 12)


def test_what_is_chosen_does_not_depend_on_hidden_keys_or_how_many_they_are():
    scores = torch.randint(-2, 3, (1, 9, 30), generator=seeded()).float()
    visible = torch.arange(30).expand(1, 9, 30) < 20
    place, _ = choose(scores, visible, 6)
    for hidden in (7.0, -7.0, torch.inf, -torch.inf, torch.nan):
        assert torch.equal(choose(scores.where(visible, hidden), visible, 6)[0], place)
    assert torch.equal(choose(scores[..., :20], visible[..., :20], 6)[0], place)


def test_scores_beyond_all_numbers_can_be_chosen_from():
    scores = torch.tensor([[[1.0, torch.inf, torch.nan, -torch.inf, 0.5]]])
    place, _ = choose(scores, torch.ones(1, 1, 5, dtype=torch.bool), 2)
    assert place.tolist() == [[[0, 1]]]


def test_scores_are_the_reports_formula():
    query, weight, key = (
        torch.randn(shape, generator=seeded()) for shape in ((2, 3, 4, 5), (2, 3, 4, 1), (2, 1, 6, 5))
    )
    scores = index_scores(query, weight, key)
    for t in range(4):
        for s in range(6):
            expected = sum(weight[:, j, t, 0] * (query[:, j, t] * key[:, 0, s]).sum(-1).relu() for j in range(3))
            torch.testing.assert_close(scores[:, t, s], expected)


@pytest.mark.parametrize("in_one_piece", [True, False])
def test_keys_are_looked_up_each_sequence_in_its_own(in_one_piece):
    tokens = torch.randn(3, 1, 9, 4, generator=seeded())
    given = tokens if in_one_piece else torch.cat([tokens, tokens], dim=2)[:, :, :9]
    assert given.is_contiguous() == in_one_piece
    place = torch.randint(9, (3, 5, 2), generator=seeded())
    expected = torch.stack([tokens[row, 0, place[row]] for row in range(3)])
    assert torch.equal(lookup(given, place), expected)


# Attention to the chosen ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("n_queries", "k"), [(20, 20), (20, 50), (1, 20), (7, 20)])
@pytest.mark.parametrize("masked", [False, True])
def test_with_k_keys_or_fewer_it_is_dense_attention(causal, n_queries, k, masked):
    layer, full = top_k_layer(k), MultiHeadAttention(D_MODEL, N_HEADS, bias=False).double()
    full.load_state_dict({name: each for name, each in layer.state_dict().items() if "indexer" not in name})
    mask = some_mask(n_queries, 20) if masked else None
    results = []
    for each in (layer, full):
        queries, keys = tokens_of(n_queries).requires_grad_(), tokens_of(20, seed=1).requires_grad_()
        output, weights = each(queries, keys, mask=mask, causal=causal, need_weights=True)
        fused, none = each.eval()(queries, keys, mask=mask, causal=causal)
        assert none is None
        wanted = [queries, keys, *(getattr(each, name).weight for name in ATTENTION)]
        results.append([output, fused, weights, *torch.autograd.grad(output.square().sum(), wanted)])
    for chosen, dense in zip(*results, strict=True):
        torch.testing.assert_close(chosen, dense)


@torch.no_grad()
def test_weights_are_those_of_the_chosen_keys():
    layer, tokens = top_k_layer(), tokens_of(30)
    output, weights = layer(tokens, causal=True, need_weights=True)
    assert weights.shape == (2, N_HEADS, 30, 30)
    n_seen = torch.arange(30).clamp(max=K - 1) + 1
    assert torch.equal((weights > 0).sum(-1), n_seen.expand(2, N_HEADS, 30))
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, N_HEADS, 30, dtype=torch.float64))
    values = layer.value_proj(tokens).unflatten(-1, (N_HEADS, -1)).transpose(1, 2)
    torch.testing.assert_close(output, layer.out_proj((weights @ values).transpose(1, 2).flatten(2)))


@pytest.mark.parametrize("causal", [False, True])
def test_any_number_of_queries_at_a_time_gives_the_same(causal, monkeypatch):
    layer, mask, results = top_k_layer(), some_mask(30, 30), []
    for numbers in (2**20, 3 * 2 * K * 2 * D_MODEL, 1):  # all queries, 3 and 1 at a time
        monkeypatch.setattr(top_k, "NUMBERS", numbers)
        tokens = tokens_of(30).requires_grad_()
        output, weights = layer(tokens, mask=mask, causal=causal, need_weights=True)
        gradients = torch.autograd.grad(output.square().sum(), [tokens, *layer.parameters()])
        results.append([output, weights, *gradients])
    for whole, threes, ones in zip(*results, strict=True):
        torch.testing.assert_close(threes, whole)
        torch.testing.assert_close(ones, whole)


def test_no_more_than_a_blocks_keys_are_held(monkeypatch):
    """Neither while they are read, nor for the backward pass."""
    monkeypatch.setattr(top_k, "NUMBERS", 2**14)
    layer, looked_up, saved = top_k_layer(), [], {}
    monkeypatch.setattr(top_k, "lookup", lambda *given: looked_up.append(lookup(*given)) or looked_up[-1])
    tokens = tokens_of(200).requires_grad_()

    def keep(tensor):
        saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        output, _ = layer(tokens, causal=True)
    output.sum().backward()
    assert max(each.numel() for each in looked_up) <= 2**14
    assert sum(each.numel() for each in looked_up) > 2 * 2 * 200 * K * 2 * D_MODEL  # forward, and again backward
    assert sum(saved.values()) < 2 * 200 * K * 2 * D_MODEL * 8


def test_a_batch_of_nothing_is_no_error():
    assert top_k_layer()(tokens_of(3, batch=0), causal=True)[0].shape == (0, 3, D_MODEL)


def test_large_numbers_that_are_seen_are_no_error():
    layer, tokens = top_k_layer(dtype=torch.float32), 1e38 * tokens_of(30).float().sign()
    assert layer(tokens, causal=True)[0].shape == tokens.shape


def test_autocast_and_half_precision_choose_the_same_keys():
    layer, tokens = top_k_layer(dtype=torch.bfloat16), tokens_of(60).bfloat16()
    with torch.no_grad():
        exact = layer.double()(tokens.double(), causal=True, need_weights=True)[1] > 0
        half = layer.bfloat16()(tokens, causal=True, need_weights=True)[1] > 0
        with torch.autocast("cpu", torch.bfloat16):
            cast = layer.float()(tokens.float(), causal=True, need_weights=True)[1] > 0
    assert torch.equal(half, exact)
    assert torch.equal(cast, exact)


# The indexer learns ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("masked", [False, True])
def test_the_indexers_gradient_is_that_of_its_divergence_whatever_the_outputs(masked):
    layer, tokens = top_k_layer(), tokens_of(20).requires_grad_()
    mask = some_mask(20, 20) & causal_mask(20) if masked else causal_mask(20)[None, None]
    output, weights = layer(tokens, mask=mask, need_weights=True)
    scores = index_scores(*layer.indexer.queries(tokens), layer.indexer.keys(tokens))
    loss = 0.0
    for row in range(2):
        for query in range(20):
            chosen = weights[row, 0, query].nonzero().flatten()
            attended = weights[row, :, query, chosen].mean(0).detach()
            if len(chosen):
                loss = loss + (attended * (attended.log() - scores[row, query, chosen].log_softmax(-1))).sum() / 40
    expected = torch.autograd.grad(loss, list(layer.indexer.parameters()))
    for factor in (1, 100):
        gradients = torch.autograd.grad(factor * output.sum(), list(layer.indexer.parameters()), retain_graph=True)
        for mine, its in zip(gradients, expected, strict=True):
            torch.testing.assert_close(mine, its)
            assert its.abs().sum() > 0


def test_the_indexers_loss_is_a_mean_over_tokens_even_of_a_single_one():
    layer, query, key = top_k_layer(), tokens_of(1, batch=1), tokens_of(20, batch=1, seed=1)
    gradients = []
    for copies in (1, 2):
        output, _ = layer(query.repeat(copies, 1, 1), key.repeat(copies, 1, 1))
        gradients.append(torch.autograd.grad(output.sum(), list(layer.indexer.parameters())))
    for one, two in zip(*gradients, strict=True):
        torch.testing.assert_close(one, two)
        assert one.abs().sum() > 0


def test_the_indexers_loss_is_scaled_as_its_trainer_says():
    """By as much as the main loss: the gradients of both are divided by the same number afterwards."""
    layer, tokens, gradients = top_k_layer(), tokens_of(12), []
    for scale in (1.0, 65_536.0):
        layer.loss_scale = scale
        output, _ = layer(tokens, causal=True)
        gradients.append(torch.autograd.grad((scale * output).sum(), list(layer.parameters())))
    for one, scaled in zip(*gradients, strict=True):
        torch.testing.assert_close(scaled / 65_536, one)


def test_hidden_tokens_that_are_no_numbers_leave_the_indexer_its_gradient():
    layer, tokens = top_k_layer(), tokens_of(12)
    mask = (torch.arange(12) < 3)[None, None, None]  # fewer than are chosen: hidden places fill the choice up
    gradients = []
    for hidden in (0.0, torch.nan):
        keys = tokens.where(mask.mT[0, 0], hidden)
        output, _ = layer(tokens, keys, mask=mask)
        asks = [layer.indexer.query_proj.weight, layer.indexer.weight_proj.weight]
        gradients.append(torch.autograd.grad(output.sum(), asks))
    for one, two in zip(*gradients, strict=True):
        torch.testing.assert_close(one, two)


def test_the_indexer_changes_no_other_gradient_and_learns_in_training_alone():
    layer, gradients = top_k_layer(), []
    others = [parameter for name, parameter in layer.named_parameters() if "indexer" not in name]
    for train in (True, False):
        tokens = tokens_of(20).requires_grad_()
        layer.zero_grad()
        output, _ = layer.train(train)(tokens, causal=True)
        output.square().sum().backward()
        gradients.append([tokens.grad, *(parameter.grad for parameter in others)])
        assert all((parameter.grad is not None) == train for parameter in layer.indexer.parameters())
    for learning, not_learning in zip(*gradients, strict=True):
        torch.testing.assert_close(learning, not_learning)


# Decoding -------------------------------------------------------------------------------------------------------------


def decoded(layer, tokens, sizes, cache, mask=None):
    outputs = []
    for part in tokens.split(sizes, dim=1):
        seen = None if mask is None else mask[..., : len(cache) + part.size(1)]
        outputs.append(layer(part, mask=seen, causal=True, cache=cache)[0])
    return torch.cat(outputs, dim=1)


@pytest.mark.parametrize("sizes", [1, 7, 40, [20, *[1] * 20]])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("plain", [False, True])
@torch.no_grad()
def test_pieces_are_the_whole(sizes, masked, plain):
    layer, tokens = top_k_layer(), tokens_of(40)
    mask = padding_mask(torch.tensor([40, 28])).flip(-1) if masked else None
    cache = KVCache() if plain else layer.cache()
    output = decoded(layer, tokens, sizes, cache, mask)
    torch.testing.assert_close(output, layer(tokens, mask=mask, causal=True)[0])
    assert len(cache) == 40


@torch.no_grad()
def test_the_cache_grows_by_keys_values_and_the_indexers_keys():
    layer, nbytes = top_k_layer(), {}
    cache = layer.cache()
    assert cache.nbytes == 0
    for n_tokens in (64, 4096):
        layer(tokens_of(n_tokens - len(cache), batch=1), causal=True, cache=cache)
        nbytes[len(cache)] = cache.nbytes
    assert nbytes == {n: n * (2 * D_MODEL + 16) * 8 for n in (64, 4096)}


test_bad_input_is_named = refuses(
    ("n_heads must divide d_model = 24, got 5", lambda: TopKAttention(24, 5, 8)),
    ("k must be a whole number, 1 or more, got 0", lambda: TopKAttention(24, 3, 0)),
    ("n_index_heads must be a whole number", lambda: TopKAttention(24, 3, 4, n_index_heads=0)),
    ("d_index must be a whole number", lambda: TopKAttention(24, 3, 4, d_index=1.5)),
    ("value came without key", lambda: top_k_layer()(tokens_of(3), value=tokens_of(3))),
    ("as many tokens as query, 4, got 3", lambda: top_k_layer()(tokens_of(4), tokens_of(3), causal=True)),
    ("same for all heads, which share one choice, got .3, 4, 4.",
     lambda: top_k_layer()(tokens_of(4), mask=torch.ones(3, 4, 4, dtype=torch.bool))),
)  # fmt: skip
