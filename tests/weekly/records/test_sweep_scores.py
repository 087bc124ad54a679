"""What scripts measure is right where the answer is known beforehand, and their data are what they say."""

import pytest
import torch
import torch.nn.functional as F
from sweeps import load

from attention_course import tasks
from attention_course.course import checkpoints
from attention_course.decoding import beam_search, cut_after
from attention_course.tasks import translation


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_bits_count_second_halves_only():
    def sure(symbols):
        """Knows the second half of a piece, and nothing of the first."""
        logits = torch.zeros(*symbols.shape, 3)
        logits[:, symbols.size(1) // 2 :, 1] = 100.0
        return logits, None

    assert load("fine_tuned")._text.bits(sure, torch.ones(5000, dtype=torch.long), 16) == pytest.approx(0, abs=1e-5)


def test_one_that_knows_the_first_bit_is_right_everywhere_and_one_that_guesses_pays_a_bit():
    s = load("first_symbol")
    ones, zeros = ([float(number)] * len(s.SETTINGS["places"]) for number in (1, 0))
    knows = s.test(lambda bits: 100.0 * F.one_hot(bits[:, :1].expand_as(bits), 2))
    assert knows == {"accuracy": ones, "bits": zeros, "moved": ones}
    guessed = s.test(lambda bits: torch.zeros(*bits.shape, 2))
    assert (guessed["bits"], guessed["moved"]) == (ones, zeros)


def test_moved_is_one_for_a_model_that_knows_parity_and_nothing_for_one_that_guesses():
    moved, bits = load("formal_languages")._moved, torch.randint(2, (5, 8), generator=seeded())
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
    load("vision")._without_pixels(model, test, keep)
    load("vision")._without_tokens(model, test, keep)
    (painted, _), (whole, mask) = seen
    assert torch.equal(whole, test.images) and torch.equal(mask, keep)
    assert not painted[:, 2:4, 2:4].any()
    painted[:, 2:4, 2:4] = test.images[:, 2:4, 2:4]
    assert torch.equal(painted, test.images)


def test_a_shuffle_is_the_same_for_all_pictures_and_loses_no_pixel():
    s, numbered = load("vision"), torch.arange(64.0).view(1, 8, 8).repeat(2, 1, 1)
    for what in ("patches", "pixels"):
        first, second = s.shuffle(numbered, what, 3)
        assert torch.equal(first, second) and not torch.equal(first, numbered[0])
        assert torch.equal(first.flatten().sort().values, numbered[0].flatten())
    whole = {tuple(patch.tolist()) for patch in s.cut(numbered[:1])[0]}
    assert {tuple(patch.tolist()) for patch in s.cut(s.shuffle(numbered, "patches", 3)[:1])[0]} == whole


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


# The data that scripts make for themselves ----------------------------------------------------------------------------


def test_the_answer_is_the_first_bit_at_every_place():
    bits, first = load("first_symbol").texts(20, 9, seeded())
    assert first.tolist() == [[row[0]] * 9 for row in bits.tolist()]


def test_parity_is_that_of_the_ones_so_far():
    bits, odd = load("formal_languages").parity(20, 12, seeded())
    assert odd.tolist() == [[sum(row[: place + 1]) % 2 for place in range(12)] for row in bits.tolist()]


def test_brackets_are_well_nested_and_the_answer_is_the_innermost():
    symbols, answers = load("formal_languages").brackets(50, 20, seeded())
    for text, asked in zip(symbols.tolist(), answers.tolist(), strict=True):
        left = ""
        for symbol, answer in zip(text, asked, strict=True):
            left = (left + "([)]"[symbol]).replace("()", "").replace("[]", "")
            assert set(left) <= set("([")
            assert answer == (0 if not left else 1 + "([".index(left[-1]))


def test_the_column_says_which_sensor_counts():
    sensors = load("tables").sensors
    x, answer = sensors(200, 3)
    assert x.shape == (200, 8) and x[:, :4].sum(0).min() > 0 and x[:, :4].sum(1).eq(1).all()
    for row, right in zip(x, answer, strict=True):
        assert (row[4 + row[:4].argmax()] > 0) == right.bool()
    assert torch.equal(sensors(200, 3)[0], x) and not torch.equal(sensors(200, 4)[0], x)


def test_a_withheld_pair_is_an_adjective_with_its_noun_in_one_phrase():
    # The first noun goes without the first size and the first colour.
    withheld = ["the small cat sees a dog.", "a dog sees the black cats."]
    withheld += ["the small white cat sees a dog.", "the big black cat sees a dog."]
    others = ["the cat sees a small black dog.", "the small dog sees a cat.", "the big white cat sees a dog."]
    has = load("translation").has_withheld_pair
    assert [has(translation.from_text(text)).item() for text in withheld + others] == [True] * 4 + [False] * 3


def test_sentences_are_all_of_the_kind_that_was_asked_for():
    for kind in (True, False):
        pairs = load("translation").sentences(50, seeded(), withheld=kind)
        assert len(pairs) == 50
        assert load("translation").has_withheld_pair(pairs.source).tolist() == [kind] * 50
