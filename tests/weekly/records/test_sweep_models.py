"""The models that scripts define for themselves are what their records say of them."""

import pytest
import torch
import torch.nn.functional as F
from sweeps import load
from torch import nn

from attention_course import MultiHeadAttention, scaled_dot_product_attention
from attention_course.classifiers import Classifier
from attention_course.efficient.linear import elu_plus_one
from attention_course.exercises.smaller_caches import pool
from attention_course.positions import RotaryAttention, SinusoidalPositions, rotate
from attention_course.seq2seq_rnn import GRUEncoderDecoder
from attention_course.tasks.negation import PAD, VOCABULARY, reviews


def language_models():
    """Every causal model that reads up to 50 symbols."""
    for name in load("decay").MECHANISMS:
        yield f"decay: {name}", load("decay").make_model(name, 50, rotated=True)
    for name in load("fine_tuned").MECHANISMS:
        yield f"fine_tuned: {name}", load("fine_tuned").make_model(name, 50)
    for name in load("states").MECHANISMS:
        for positions in load("states").POSITIONS:
            yield f"states: {name}, {positions}", load("states").make_language_model(name, 50, positions)
    yield "formal_languages: Transformer", load("formal_languages").Transformer(50, 2, 2, True)
    yield "formal_languages: GRU", load("formal_languages").Recurrent(50, 2)


@torch.no_grad()
def test_no_language_model_sees_the_future():
    symbols = torch.randint(50, (2, 40), generator=torch.Generator().manual_seed(0))
    changed = symbols.clone()
    changed[:, 20:] = (changed[:, 20:] + 1) % 50
    for name, model in language_models():
        found = []
        for read in (symbols, changed):
            torch.manual_seed(1)  # of what is drawn anew in each call
            logits = model.eval()(read)
            found.append((logits[0] if isinstance(logits, tuple) else logits)[:, :20])
        assert (found[0] - found[1]).abs().max() < 1e-4, name


@torch.no_grad()
def test_exact_attention_is_exact():
    inputs = torch.randn(3, 1, 8, 200, 64).unbind()
    expected = F.scaled_dot_product_attention(*inputs)
    assert torch.allclose(load("efficient_times").make_call("exact")(*inputs), expected, atol=1e-5)


@torch.no_grad()
def test_the_decoded_token_follows_all_others_and_is_forgotten_again():
    s = load("layer_costs")
    width, tokens = s.SETTINGS["d_model"], torch.randn(1, 150, s.SETTINGS["d_model"])
    for name in s.MECHANISMS.keys() - s.WITHOUT_CACHE:
        layer = s.MECHANISMS[name](width, s.SETTINGS["n_heads"])
        cache = s.filled_cache(layer, tokens)
        torch.manual_seed(1)
        decode = s.decode(layer, cache)
        torch.manual_seed(1)
        newest = torch.randn(1, 1, width)
        expected = layer(torch.cat([tokens, newest], dim=1), causal=True)[0][:, -1:]
        before = cache.nbytes
        for _ in range(3):
            assert torch.allclose(decode(), expected, atol=1e-4), name
        assert len(cache) == 150 and cache.nbytes == before


def depends_on_distance(scores):
    torch.testing.assert_close(scores[..., 1:, 1:], scores[..., :-1, :-1], atol=1e-4, rtol=1e-4)
    return (scores[..., 0, :].std(-1) > 1e-3).all()  # of each head


@torch.no_grad()
def test_where_positions_are_rotated_their_distance_alone_counts():
    s = load("states")
    tokens = torch.randn(1, 1, 64).expand(-1, 30, -1)  # one token at all places: what differs is where it stands
    model = s.make_language_model("softmax", 50, "rotated").eval()
    first, second = (block.attention.query_proj.weight for block in model.blocks)
    assert not torch.equal(first, second)  # each block has drawn its own
    layer = model.blocks[0].attention
    query, key = (proj(tokens).unflatten(-1, (4, 16)).transpose(1, 2) for proj in (layer.query_proj, layer.key_proj))
    assert depends_on_distance(query @ key.mT)
    indexer = s.with_positions(s.make_layer("top-k"), "rotated").indexer
    assert depends_on_distance(indexer.queries(tokens)[0] @ indexer.keys(tokens).mT)


@torch.no_grad()
def test_the_features_of_linear_attention_are_rotated_and_what_it_divides_by_is_not():
    layer = load("states").with_positions(load("states").make_layer("linear"), "rotated")
    query, key, value = torch.randn(3, 1, 4, 30, 16, dtype=torch.float64)
    output, _ = layer.attention(query, key, value)
    query, key, position = elu_plus_one(query), elu_plus_one(key), torch.arange(30)
    weights = (rotate(query, position) @ rotate(key, position).mT).tril()
    total = (query @ key.mT).tril().sum(-1, keepdim=True)
    torch.testing.assert_close(output, weights / total @ value)


@torch.no_grad()
def test_the_sum_is_linear_attention_without_its_features_and_its_normaliser():
    layer, tokens = load("states").make_layer("sum"), torch.randn(2, 100, 64, dtype=torch.float64)
    output, _ = layer.double()(tokens)
    projections = (layer.query_proj, layer.key_proj, layer.value_proj)
    query, key, value = (proj(tokens).unflatten(-1, (4, 16)).transpose(1, 2) for proj in projections)
    summed = (query / 4 @ key.mT).tril() @ value
    torch.testing.assert_close(output, layer.out_proj(summed.transpose(1, 2).flatten(2)))


def test_without_what_is_added_the_decoder_is_the_packages():
    mine, theirs = load("luong_inputs").LuongWriter(9, 8, "concat", "summary"), GRUEncoderDecoder(9, 8, "concat")
    weights = {
        name.removesuffix("_l0") if name.startswith("decoder") else name: value
        for name, value in theirs.state_dict().items()
    }
    # Zeros where the extra vector enters.
    weights["decoder.weight_ih"] = torch.cat([weights["decoder.weight_ih"], torch.zeros(24, 8)], 1)
    mine.load_state_dict(weights)
    source, target = torch.randint(9, (2, 4, 6))
    torch.testing.assert_close(mine(source, target), theirs(source, target))


def test_scaling_the_query_scales_the_scores():
    query, memory = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    found = load("scale_rates").ScaledDotAttention(8, 8, "dot")(query, memory, memory)
    torch.testing.assert_close(found, scaled_dot_product_attention(query, memory, memory))


def test_tokens_that_read_nobody_do_not_hear_of_each_other(monkeypatch):
    s = load("pointing")
    monkeypatch.setattr(s, "SETTINGS", s.SETTINGS | {"steps": 4})
    alone = s.train(1, "attention", False, peak_lr=0.01, seed=0).eval()
    s = load("tables")
    without = s._train("no attention", *s.sensors(20, 0), 0, peak_lr=0.01, steps=4).eval()
    for encoder, tokens in ((alone.encoder, torch.randn(3, 16, 32)), (without.encoder, torch.randn(3, 5, 16))):
        changed = tokens.clone()
        changed[:, 4] += 1
        one, other = (encoder(each)[0] for each in (tokens, changed))
        assert (one != other).any(-1).any(0).nonzero().flatten().tolist() == [4]
    weights = alone(torch.randn(3, 128), need_weights=True)[1].blocks[0]
    assert torch.equal(weights[0, 0], torch.eye(16))


def test_what_is_left_out_of_a_block_is_missing_and_rivals_have_as_many_parameters():
    s = load("leave_out")

    def count(model, kind):
        return sum(isinstance(module, kind) for module in model.modules())

    whole = s.Stack()
    for name, change in s.CHANGES.items():
        without, stack = change.get("without"), s.Stack(**change)
        n_blocks = len(stack.blocks)
        assert count(stack, MultiHeadAttention) == (0 if without == "attention" else n_blocks)
        assert count(stack, nn.GELU) == (0 if without == "feed-forward" else n_blocks)
        assert count(stack, RotaryAttention) == (0 if without in ("attention", "positions") else n_blocks)
        layers = sum(len(block.layers) for block in stack.blocks)
        assert count(stack, nn.LayerNorm) == (0 if without == "norms" else layers + 1)
        assert all(block.residuals == (without != "residuals") for block in stack.blocks)
        if name in ("feed-forward, wider", "feed-forward, more blocks"):
            blocks, all_of_it = s._size(stack.blocks) / s._size(whole.blocks), s._size(stack) / s._size(whole)
            assert abs(blocks - 1) < 0.03 and abs(all_of_it - 1) < 0.12


@torch.no_grad()
def test_its_mean_and_its_query_are_the_packages():
    s, symbols = load("poolings"), reviews(10, torch.Generator().manual_seed(0)).tokens
    width = s.SETTINGS["d_model"]
    for how, name in (("mean", "mean"), ("query", "attention")):
        mine, positions = s.Pooled(how, causal=False), SinusoidalPositions(width)
        nn.init.normal_(mine.query)
        theirs = Classifier(mine.embedding, 2, width, s.SETTINGS["n_heads"], 2, pooling=name, positions=positions)
        theirs.encoder.blocks, theirs.encoder.norm, theirs.logits = mine.blocks, mine.norm, mine.logits
        if how == "query":
            theirs.pooling.score.weight.copy_(mine.query[None])
        torch.testing.assert_close(mine(symbols)[0], theirs(symbols, symbols != PAD)[0], atol=1e-5, rtol=0)


@torch.no_grad()
def test_padding_does_not_vote():
    s = load("poolings")
    for how, causal in (("mean", False), ("max", False), ("query", False), ("cls", False), ("last", True)):
        model, symbols = s.Pooled(how, causal), torch.randint(1, s.CLS, (3, 6))
        logits, shares = model(symbols)
        padded, longer = model(F.pad(symbols, (0, 5)))
        torch.testing.assert_close(padded, logits, atol=1e-5, rtol=0)
        torch.testing.assert_close(longer[:, : shares.size(1)], shares, atol=1e-5, rtol=0)
        torch.testing.assert_close(shares.sum(1), torch.ones(3))


@torch.no_grad()
def test_of_the_rivals_on_reviews_one_averages_what_it_sees_and_one_sees_no_order():
    s, value = load("far_reviews"), torch.randn(1, 2, 5, 4)
    seen = torch.tensor([True, False, True, True, False])
    output, _ = s.even_weights(torch.randn(1, 2, 5, 4), torch.randn(1, 2, 5, 4), value, seen)
    torch.testing.assert_close(output, value[:, :, seen].mean(2, keepdim=True).expand_as(output))

    model, symbols = s.make_model("mean of word vectors"), torch.randint(1, s.poolings.CLS, (3, 6))
    turned = F.pad(symbols.flip(1), (0, 4))
    torch.testing.assert_close(model(turned)[0], model(symbols)[0], atol=1e-6, rtol=0)
    even, attends = s.make_model("even weights"), s.make_model("attention")
    attends.load_state_dict(even.state_dict())
    for block in attends.blocks:
        block.attention.query_proj.weight.zero_(), block.attention.query_proj.bias.zero_()
    torch.testing.assert_close(even(symbols)[0], attends(symbols)[0], atol=1e-5, rtol=0)


@torch.no_grad()
@pytest.mark.parametrize("name", ["one-way GRU", "dilated convolutions"])
def test_of_the_rivals_on_reviews_these_read_in_order_as_far_as_the_pads(name):
    model, symbols = load("far_reviews").make_model(name), torch.randint(1, len(VOCABULARY), (3, 20))
    logits, _ = model(symbols)
    torch.testing.assert_close(model(F.pad(symbols, (0, 9)))[0], logits, atol=1e-5, rtol=0)
    assert ((model(symbols.flip(1))[0] - logits).abs().amax(1) > 1e-4).all()


def test_ordered_pairs_are_each_word_before_each_later_one():
    found = load("far_reviews").ordered_pairs("not so bad so")
    assert set(found) == {("not", "so"), ("not", "bad"), ("so", "bad"), ("so", "so"), ("bad", "so")}


@pytest.mark.parametrize("way", ["mean", "first", "random"])
def test_a_model_that_shares_has_the_numbers_of_the_trained_one(way):
    model = load("uptraining").make_model(20, 8)
    given, made = model.state_dict(), load("uptraining").shared(model, way).state_dict()
    for name, numbers in made.items():
        if ".key_proj." not in name and ".value_proj." not in name:
            assert torch.equal(numbers, given[name]), name
        elif name.endswith("weight") and way == "mean":
            torch.testing.assert_close(numbers, pool(given[name], 8, 2))
        elif way == "first":
            assert torch.equal(numbers.chunk(2)[1], given[name].chunk(8)[4]), name
        else:
            assert numbers.shape[0] == given[name].shape[0] // 4
