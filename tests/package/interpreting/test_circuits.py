import pytest
import torch

from attention_course import MultiHeadAttention
from attention_course.interpreting import circuits
from attention_course.language_model import CausalLanguageModel
from attention_course.transformer import Encoder

N_SYMBOLS, LENGTH, PERIOD = 8, 12, 5


def shifted(n, back):
    """A head that looks `back` tokens back, and at the first token where there is none so far back."""
    weights = torch.zeros(n, n)
    weights[range(n), [max(0, query - back) for query in range(n)]] = 1
    return weights


def test_sequences_repeat_and_hold_no_symbol_twice_in_a_period():
    symbols = circuits.repeated_sequences(50, N_SYMBOLS, PERIOD, LENGTH, torch.Generator().manual_seed(0))
    assert symbols.shape == (50, LENGTH)
    assert torch.equal(symbols[:, PERIOD:], symbols[:, :-PERIOD])
    assert all(len(set(row)) == PERIOD for row in symbols[:, :PERIOD].tolist())
    assert symbols.unique().tolist() == list(range(N_SYMBOLS))


@pytest.mark.parametrize("period", [0, 9])
def test_a_period_without_symbols_or_longer_than_the_vocabulary_is_refused(period):
    with pytest.raises(ValueError, match=rf"period must lie in 1..8 \(vocab_size\), got {period}"):
        circuits.repeated_sequences(1, N_SYMBOLS, period, LENGTH, torch.Generator())


def test_each_score_is_1_for_the_head_it_looks_for_and_0_for_another():
    previous, induction, sink = shifted(LENGTH, 1), shifted(LENGTH, PERIOD - 1), shifted(LENGTH, LENGTH)
    broadcast = torch.zeros(LENGTH, LENGTH)
    broadcast[:, 3] = 1
    weights = torch.stack([previous, induction, sink, broadcast])
    assert circuits.previous_token_score(weights).tolist() == pytest.approx([1, 1 / 11, 1 / 11, 1 / 11])
    assert circuits.induction_score(weights, PERIOD).tolist() == pytest.approx([0, 1, 0, 1 / 7])
    assert circuits.sink_score(weights).tolist() == [0, 0, 1, 0]
    assert circuits.broadcast_score(weights).tolist() == pytest.approx([1 / 6, 1 / 6, 0, 1])
    assert circuits.broadcast_score(broadcast.roll(-2, 1)) == 1  # the second token is the first that counts
    assert circuits.induction_score(previous, 2) == 1  # the shortest period there is


@pytest.mark.parametrize("period", [1, LENGTH])
def test_a_period_without_a_second_one_is_refused(period):
    with pytest.raises(ValueError, match=f"period must lie in 2..11 for 12 tokens, got {period}"):
        circuits.induction_score(torch.rand(LENGTH, LENGTH), period)


def test_the_control_gives_all_visible_tokens_the_same():
    weights = circuits.uniform_causal_weights(4)
    assert weights.tolist() == [
        pytest.approx([1 / (query + 1) if key <= query else 0 for key in range(4)]) for query in range(4)
    ]


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return MultiHeadAttention(12, 3, bias=False).double()


@pytest.mark.parametrize("n_kv_heads", [4, 2, 1])
def test_the_two_circuits_give_the_weights_and_the_output_of_the_layer(n_kv_heads):
    torch.manual_seed(0)
    layer = MultiHeadAttention(12, 4, n_kv_heads, bias=False).double()
    tokens = torch.randn(1, 5, 12, dtype=torch.float64)
    output, weights = layer(tokens, causal=True, need_weights=True)
    hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
    added = 0
    for head in range(4):
        scores = tokens[0] @ circuits.query_key(layer, head) @ tokens[0].T
        expected = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        assert torch.allclose(expected, weights[0, head], atol=1e-12)
        added = added + expected @ tokens[0] @ circuits.output_value(layer, head)
    assert torch.allclose(added, output[0], atol=1e-12)


def test_without_heads_leaves_what_the_others_add_and_restores_the_layer(layer):
    tokens = torch.randn(2, 5, 12, dtype=torch.float64)
    whole, weights = layer(tokens, causal=True, need_weights=True)
    alone = weights[:, 1] @ tokens @ circuits.output_value(layer, 1)
    with circuits.without_heads([layer], [(0, 0), (0, 2)]):
        assert torch.allclose(layer(tokens, causal=True)[0], alone, atol=1e-12)
    assert torch.equal(layer(tokens, causal=True, need_weights=True)[0], whole)
    removed = circuits.without_heads([layer], [(0, 1), (0, 3)])
    with pytest.raises(IndexError, match=r"head must lie in 0..2, got 3"), removed:
        pass
    assert torch.equal(layer(tokens, causal=True, need_weights=True)[0], whole)


def test_a_loss_without_heads_has_its_gradient(layer):
    """Also where it is asked for behind the `with`, as by attribution."""
    tokens = torch.randn(2, 5, 12, dtype=torch.float64, requires_grad=True)
    with circuits.without_heads([layer], [(0, 0), (0, 2)]):
        removed, weights = layer(tokens, causal=True, need_weights=True)
    (found,) = torch.autograd.grad(removed.square().sum(), tokens, retain_graph=True)
    alone = weights[:, 1] @ tokens @ circuits.output_value(layer, 1)
    (expected,) = torch.autograd.grad(alone.square().sum(), tokens)
    torch.testing.assert_close(found, expected)


def test_a_head_is_replaced_by_its_average_and_comes_back():
    torch.manual_seed(0)
    layer = MultiHeadAttention(6, 3).double()
    x = torch.randn(2, 4, 6, dtype=torch.float64)
    heads = []
    hook = layer.out_proj.register_forward_pre_hook(lambda module, inputs: heads.append(inputs[0].clone()))
    whole, _ = layer(x)
    hook.remove()
    (joined,) = heads
    joined[..., 2:4] = joined[..., 2:4].mean((0, 1))
    expected = layer.out_proj(joined)  # outside, where no head is taken away
    with circuits.averaged_head(layer, 1):
        torch.testing.assert_close(layer(x)[0], expected)
    assert torch.equal(layer(x)[0], whole)


def test_a_head_comes_back_after_an_error_and_a_head_that_is_not_there_is_refused(layer):
    x = torch.randn(2, 4, 12, dtype=torch.float64)
    whole, _ = layer(x)
    with pytest.raises(RuntimeError, match="in between"), circuits.averaged_head(layer, 1):
        raise RuntimeError("in between")
    for head in (3, -1):
        for matrix in (circuits.output_value, circuits.query_key):
            with pytest.raises(IndexError, match=f"head must lie in 0..2, got {head}"):
                matrix(layer, head)
        with pytest.raises(IndexError, match="got"), circuits.averaged_head(layer, head):
            pass
    assert torch.equal(layer(x)[0], whole)


def test_head_ablation_takes_the_heads_in_order():
    torch.manual_seed(0)
    encoder = Encoder(8, 2, 3)
    x = torch.randn(4, 5, 8)
    layers = [block.attention for block in encoder.blocks]

    def answer():
        return encoder(x)[0][:, -1, 0]

    lost = circuits.head_ablation(answer, layers)
    assert lost.shape == (4, 3, 2)
    with torch.no_grad():
        for number, layer in enumerate(layers):
            for head in range(2):
                with circuits.averaged_head(layer, head):
                    without = answer()
                torch.testing.assert_close(lost[:, number, head], answer() - without)
    assert lost.abs().amax(0).min() > 1e-4


def test_the_attention_layers_of_a_model_come_in_order():
    model = CausalLanguageModel(5, 8, 2, 3)
    assert circuits.attention_layers(model) == [block.attention for block in model.blocks]


def test_the_share_on_the_diagonal_counts_rows():
    table = torch.tensor([[2.0, 1.0, 3.0], [0.0, 1.0, 0.0], [-3.0, -2.0, -1.0]])
    assert circuits.share_on_diagonal(table) == pytest.approx(2 / 3)
    assert circuits.share_on_diagonal(table.T) == pytest.approx(1 / 3)
