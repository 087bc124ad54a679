from collections import Counter

import pytest
import torch
from seeding import seeded

from attention_course.tasks import negation


@pytest.fixture(scope="module", params=[False, True], ids=["near", "far"])
def far(request):
    return request.param


@pytest.fixture(scope="module")
def batch(far):
    return negation.reviews(2000, seeded(0), far=far)


@pytest.fixture(scope="module")
def many(far):
    return negation.reviews(20_000, seeded(1), far=far)


def clauses(words):
    """What a reader makes of a review: for each clause where it says "was", its adjective and its negations."""
    nouns = [i for i, word in enumerate(words) if word in negation.NOUNS]
    found = []
    for start, end in zip(nouns, [*nouns[1:], len(words)], strict=True):
        (adjective,) = [i for i in range(start, end) if words[i] in negation.GOOD + negation.BAD]
        negations = [i for i in range(start, end) if words[i] in negation.NEGATIONS]
        assert words[start + 1] == "was" and all(i < adjective for i in negations) and len(negations) < 2
        found.append((start + 1, adjective, negations))
    return found


def opinions(words):
    """Of each clause, whether it is good."""
    return [(words[adjective] in negation.GOOD) != bool(negations) for _, adjective, negations in clauses(words)]


def test_label_and_gold_are_what_a_reader_finds(batch):
    for row in range(len(batch)):
        words = batch.words(row)
        found = clauses(words)
        assert set(opinions(words)) == {bool(batch.label[row])}
        deciding = [place for _, adjective, negations in found for place in (*negations, adjective)]
        assert batch.gold[row].nonzero().flatten().tolist() == deciding
        negated = [bool(negations) for _, _, negations in found]
        assert bool(batch.mixed[row]) == (sorted(negated) == [False, True])


def test_the_words_of_a_mixed_review_do_not_tell_its_label(batch):
    """Exchanging the adjectives leaves the bag of words as it is and turns the label over."""
    for row in batch.mixed.nonzero().flatten().tolist():
        words = batch.words(row)
        (_, first, _), (_, second, _) = clauses(words)
        exchanged = list(words)
        exchanged[first], exchanged[second] = words[second], words[first]
        assert Counter(exchanged) == Counter(words)
        assert opinions(exchanged) == [not batch.label[row]] * 2


def test_in_mixed_reviews_no_word_goes_with_a_label(many):
    tokens, label = many.tokens[many.mixed], many.label[many.mixed]
    for index in range(1, len(negation.VOCABULARY)):
        is_good = label[(tokens == index).any(1)].float()
        assert len(is_good) and abs(is_good.mean() - 0.5) < 5 * 0.5 / len(is_good) ** 0.5, negation.VOCABULARY[index]


def test_clauses_and_negations_come_as_often_as_said(many):
    assert abs(many.mixed.float().mean() - 0.5 * 2 * (1 / 3) * (2 / 3)) < 0.02
    assert abs(many.label.float().mean() - 0.5) < 0.02


def test_the_words_that_decide_stand_as_far_apart_as_said(batch, far):
    apart = []
    for row in range(len(batch)):
        deciding = [place for _, adjective, negations in clauses(batch.words(row)) for place in (*negations, adjective)]
        apart += [later - earlier for earlier, later in zip(deciding, deciding[1:], strict=False)]
    assert min(apart) == (6 if far else 1)  # five words between are six places


def test_length_does_not_go_with_a_label(many, far):
    lengths = many.mask.sum(1).float()
    good, bad = lengths[many.label == 1], lengths[many.label == 0]
    assert abs(good.mean() - bad.mean()) < 5 * lengths.std() / 5000**0.5
    assert lengths.min() == (9 if far else 4) and lengths.max() >= (44 if far else 28)


def test_padding_is_behind_and_only_there(batch):
    lengths = batch.mask.sum(1)
    assert torch.equal(batch.mask, torch.arange(batch.tokens.size(1)) < lengths[:, None])
    assert lengths.max() == batch.tokens.size(1)
    assert not (batch.gold & ~batch.mask).any()


def test_no_word_plays_two_parts():
    parts = (negation.GOOD, negation.BAD, negation.NEGATIONS, negation.NOUNS)
    deciding = [word for part in parts for word in part]
    filling = {
        word
        for phrases in (
            negation.OPENINGS,
            negation.BEFORE,
            negation.AFTER,
            negation.CLOSINGS,
            negation.JOINTS,
            negation.FAR,
        )
        for phrase in phrases
        for word in phrase.split()
    }
    assert len(set(deciding)) == len(deciding) and not set(deciding) & filling


def test_a_sentence_is_encoded_and_a_strange_word_refused(batch):
    tokens = negation.encode(" ".join(batch.words(0)))
    assert torch.equal(tokens[0], batch.tokens[0][batch.mask[0]])
    with pytest.raises(ValueError, match=r"words of VOCABULARY, got \['dreadful'\]"):
        negation.encode("the film was dreadful")
    with pytest.raises(ValueError, match="got none"):
        negation.encode("")


def test_there_is_no_batch_of_no_reviews():
    with pytest.raises(ValueError, match="n_sentences must be a whole number, 1 or more, got 0"):
        negation.reviews(0, seeded(0))
