"""What scripts measure is right where the answer is known beforehand."""

import pytest
import torch
import torch.nn.functional as F
from sweeps import load

from attention_course import checkpoints, tasks
from attention_course.decoding import beam_search, cut_after
from attention_course.language_model import CausalLanguageModel
from attention_course.tasks import spelling, translation


def test_bits_count_second_halves_only():
    def sure(symbols):
        """Knows the second half of a piece, and nothing of the first."""
        logits = torch.zeros(*symbols.shape, 3)
        logits[:, symbols.size(1) // 2 :, 1] = 100.0
        return logits, None

    assert load("exchanged").bits(sure, torch.ones(5000, dtype=torch.long), 16) == pytest.approx(0, abs=1e-5)


def test_one_that_knows_the_first_bit_is_right_everywhere_and_one_that_guesses_pays_a_bit():
    s = load("first_symbol")
    ones, zeros = ([float(number)] * len(s.SETTINGS["places"]) for number in (1, 0))
    knows = s.test(lambda bits: 100.0 * F.one_hot(bits[:, :1].expand_as(bits), 2))
    assert knows == {"accuracy": ones, "bits": zeros, "moved": ones}
    guessed = s.test(lambda bits: torch.zeros(*bits.shape, 2))
    assert (guessed["bits"], guessed["moved"]) == (ones, zeros)


def test_moved_is_one_for_a_model_that_knows_parity_and_nothing_for_one_that_guesses():
    moved, bits = load("formal_languages")._moved, torch.randint(2, (5, 8), generator=torch.Generator().manual_seed(0))
    assert moved(lambda read: 100.0 * F.one_hot(read.cumsum(1) % 2, 2), bits) == [1.0, 1.0]
    assert moved(lambda read: torch.zeros(*read.shape, 2), bits) == [0.0, 0.0]


def test_a_model_that_looks_back_scores_1_everywhere_and_one_that_repeats_scores_chance():
    def make(n_examples, length, generator):
        return tasks.looking_back(n_examples, length, 16, 4, generator)

    score = load("position_lengths").score
    looks_back = score(lambda symbols, mask=None: (F.one_hot(symbols.roll(4, dims=1), 17).float(), None), make)
    assert looks_back["accuracy"] == [1.0] * 32
    chance = score(lambda symbols, mask=None: (F.one_hot(symbols, 17).float(), None), make)["accuracy"]
    assert abs(sum(chance) / len(chance) - 1 / 16) < 0.01


def test_letters_that_need_no_image_are_all_kept():
    def from_memory(images, target):
        return F.one_hot(target, len(spelling.VOCABULARY)).float(), None

    digits = spelling.spelled_digits()[1][:100]
    assert (load("projects").kept_letters(from_memory, digits, torch.Generator().manual_seed(0)) == 1).all()


def test_rank_correlation_sees_the_order_alone():
    numbers, correlation = torch.randn(3, 16), load("spelling_seeds").rank_correlation
    assert correlation(numbers, numbers.exp()) == pytest.approx(1)
    assert correlation(numbers, -numbers) == pytest.approx(-1)


def test_taking_away_touches_one_token_only():
    s, series = load("pointing"), torch.randn(3, 128)
    assert s.without(2, 3).sum(1).tolist() == [15] * 3 and not s.without(2, 3)[:, 2].any()
    for taken in (s.blank(series, 2), s.swapped(series, 2)):
        assert (taken != series).any(0).nonzero()[:, 0].tolist() == list(range(16, 24))
    assert torch.equal(s.swapped(series, 2)[1, 16:24], series[0, 16:24])


def test_erasing_as_pixels_leaves_the_other_patches_alone():
    _, test = tasks.handwritten_digits()
    seen = []

    def model(images, mask=None):
        seen.append((images, mask))
        return torch.zeros(len(images), 10), None

    keep = torch.ones(len(test), 16, dtype=torch.bool)
    keep[:, 5] = False
    load("vision")._without_pixels(model, test, keep, 0)
    load("vision")._without_tokens(model, test, keep, 3)
    (painted, _), (whole, mask) = seen
    assert torch.equal(whole, test.images) and mask.sum(1).eq(18).all() and not mask[:, 8].any()
    assert not painted[:, 2:4, 2:4].any()
    painted[:, 2:4, 2:4] = test.images[:, 2:4, 2:4]
    assert torch.equal(painted, test.images)


# Heads that look back -------------------------------------------------------------------------------------------------


def test_the_sum_of_cosines_is_the_mean_score_of_all_queries_with_all_keys():
    s = load("length_remedies")
    turning, symbols = s.Turning(s.frequencies("as trained", 16, 32, 8)), torch.randint(5, (3, 12))
    model = CausalLanguageModel(5, 64, 4, 2, attention=turning)
    strength, score = s.score_by_distance(model, symbols, 6, 50)
    seen = []
    model.blocks[1].attention.attention.register_forward_pre_hook(lambda module, inputs: seen.extend(inputs[:2]))
    model(symbols)
    query, key = (tokens[:, 2, 1:].flatten(0, 1).detach() for tokens in seen)
    for distance in (0, 4, 49):
        mean = (turning.turn(query, torch.full((len(query),), distance)) @ key.T).mean() / 4
        torch.testing.assert_close(score[distance], mean, atol=1e-5, rtol=1e-4)
    assert strength.shape == (8,) and (strength > 0).all()


def test_the_head_found_is_the_one_that_looks_back():
    s, gold = load("length_remedies"), torch.zeros(2, 8, 256, 256)
    gold[:, 5] = torch.eye(256).roll(4, 0)
    gold[:, 3] = torch.eye(256).roll(3, 0)

    class Made:
        symbols = None

    def model(symbols, need_weights):
        return None, list(gold.split(4, dim=1))

    def make(n_examples, length, generator):
        return Made

    assert s.looking_head(model, make) == 5
    assert [s._by_distance(model, make, head, 160).argmax() for head in (5, 3)] == [4, 3]


# Judges of coins ------------------------------------------------------------------------------------------------------


def test_a_mask_for_each_block_is_the_models_own_where_all_are_equal_and_only_the_blocks_where_they_differ():
    s = load("interpretability")
    model, drawers = s.Judge(2), s._test_drawers()
    hidden = ~drawers.gold[:, None, None, :]
    both = s.masked(model, drawers.tokens, [hidden, hidden])
    torch.testing.assert_close(both, model(drawers.tokens, ~drawers.gold)[0])
    first = s.masked(model, drawers.tokens, [hidden, torch.ones_like(hidden)])
    states, _ = model.encoder.blocks[0](model.embedding(drawers.tokens), hidden)
    states, _ = model.encoder.blocks[1](states)
    torch.testing.assert_close(first, model.readout(model.encoder.norm(states)[:, -1])[:, 0])
    assert (first - both).abs().max() > 1e-3


def test_in_one_block_only_the_questions_row_counts_and_a_norm_hides_the_size_of_words():
    s = load("interpretability")
    torch.manual_seed(0)
    one, two = s.Judge(1), s.Judge(2)
    with torch.no_grad():
        for judge in (one, two):  # answers on both sides of 0, and coins that matter
            judge.readout.bias -= judge(s._test_drawers().tokens)[0].median()
    described = s.describe(one)
    assert described["others_blind"] == described["accuracy"]
    assert described["gradient_along_coin"] < 1e-3 < s.describe(two)["gradient_along_coin"]


def test_what_a_model_does_is_described_from_its_answers():
    """A judge whose last block is a stub: it says the same wherever it finds two crowns, and different elsewhere."""
    s = load("interpretability")

    class Stub(s.Judge):
        def read(self, x, mask=None):
            _, maps = super().read(x, mask)
            crowns = (x == self.embedding.weight[0]).all(-1).float()
            if mask is not None:
                crowns = crowns * mask.flatten(1)
            return crowns.sum(1) - 1.5 + 0 * x.sum((1, 2)), maps

    drawers, described = s._test_drawers(), s.describe(Stub(1))
    n_crowns = (drawers.tokens == 0).sum(1)
    assert described["accuracy"] == round(((n_crowns == 2) == drawers.same).float().mean().item(), 4)
    assert described["same_without_coins"] == 0 and described["things_that_turn_it"] == 0
    # Of two crowns each matters, of a crown and a ship only the ship, of two ships none.
    few = n_crowns[:100]
    assert described["coins_that_turn_nothing"] == ((few == 1) + 2 * (few == 0)).sum().item()


def test_the_baseline_is_the_average_thing_and_keeps_the_question():
    model = load("interpretability").Judge(1)
    drawers = tasks.two_coins(3, torch.Generator().manual_seed(0))
    baseline = load("interpretability").average_thing(model, drawers.tokens)
    torch.testing.assert_close(baseline[1, 4], model.embedding.weight[2:22].mean(0))
    assert torch.equal(baseline[:, -1], model.embedding.weight[-1].expand(3, -1))


def test_gaps_are_what_the_sums_of_integrated_gradients_miss(monkeypatch):
    """For the cube of a sum, whose slope in the middle of the way is known."""
    s = load("interpretability")
    torch.manual_seed(0)
    model = s.Judge(1)
    monkeypatch.setattr(s, "STEPS", [1, 400])
    monkeypatch.setattr(model, "read", lambda x, mask=None: (x[:, :-1].sum((1, 2)) ** 3, None))
    described = s.baseline_and_gaps(model)
    drawers = s._test_drawers()[:50]
    x, baseline = model.embedding(drawers.tokens).detach(), s.average_thing(model, drawers.tokens)
    end, start = x[:, :-1].sum((1, 2)), baseline[:, :-1].sum((1, 2))
    missed = (3 * ((end + start) / 2) ** 2 * (end - start) - (end**3 - start**3)).abs().mean()
    assert described["gap_1"] == pytest.approx((missed / (end**3 - start**3).abs().mean()).item(), rel=1e-3)
    assert described["gap_400"] < 1e-4 < described["gap_1"]
    assert described["baseline"] == pytest.approx((start**3).mean().item(), abs=0.015)


# Translators ----------------------------------------------------------------------------------------------------------


def test_nothing_is_likelier_than_the_likeliest():
    """Than what a beam of 32 finds, and than a period; and its score is that of the sentence."""
    model = checkpoints.load_translator(100)
    source = translation.from_text("a green dog never draws my old red horses.")
    beams, scores = beam_search(model, source, 13, width=32, end=translation.END, pad=translation.PAD)
    start = torch.tensor([translation.IDS["un"], translation.END] + 11 * [translation.PAD])
    best, log_p = load("translator_seeds").likeliest(model, source[0], start, -12.0)
    assert log_p >= scores[0].max().item() - 1e-4
    assert best.tolist()[0] == translation.END
    assert torch.equal(cut_after(best, translation.END, translation.PAD), best)


def test_a_token_of_the_memory_can_be_exchanged_in_one_layer_alone():
    """What the recorded translator does: its article depends on the noun as the first layer of the decoder reads it."""
    found = load("translator_seeds").patch_results(checkpoints.load_translator())
    assert found["article"]["noun, both"] > 0.9 and found["article"]["noun, layer 1"] > 0.9
    assert found["article"]["noun, layer 2"] < 0.1 and found["article"]["none"] == 0
    assert found["ne"]["verb, both"] > 0.9 and found["ne"]["all but the verb, both"] < 0.1
