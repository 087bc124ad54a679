import pytest
from seeding import seeded

from attention_course import tasks
from attention_course.tasks import senses


@pytest.fixture(scope="module", params=(1, 2))
def batch(request):
    return tasks.sense_sentences(3000, seeded(0), n_ambiguous=request.param)


def nouns_of(words):
    """What a reader knows of a sentence: each ambiguous word, with its deciding words and their senses."""
    return {
        word: [(decider, sense) for sense in (0, 1) for decider in senses.SENSES[word][sense] if decider in words]
        for word in words
        if word in senses.SENSES
    }


def test_the_gold_word_alone_decides_and_decides_rightly(batch):
    for row in range(len(batch)):
        words = batch.words(row)
        deciders = nouns_of(words)
        assert len(deciders) == batch.asked.size(1)
        for asked, sense, gold in zip(batch.asked[row].tolist(), batch.sense[row], batch.gold[row], strict=True):
            assert deciders[words[asked]] == [(words[gold.int().argmax()], sense)]
            assert gold.sum() == 1


def test_a_sentence_is_one_of_the_templates_with_nouns_in_the_gaps(batch):
    nouns = {*senses.SENSES, *senses.NEUTRAL, *(w for both in senses.SENSES.values() for one in both for w in one)}
    for row in range(200):
        words = batch.words(row)
        gapped = [senses.GAP if word in nouns else word for word in words]
        assert gapped in senses.TEMPLATES
        filled = [word for word in words if word in nouns]
        assert len(set(filled)) == senses.N_NOUNS


def test_every_template_has_the_same_length_and_no_noun_of_its_own():
    assert {(len(words), words.count(senses.GAP)) for words in senses.TEMPLATES} == {(senses.N_TOKENS, senses.N_NOUNS)}
    listed = [*senses.SENSES, *senses.NEUTRAL, *(w for both in senses.SENSES.values() for one in both for w in one)]
    assert len(set(listed)) == len(listed)
    assert not set(listed) & {word for words in senses.TEMPLATES for word in words}


def test_both_words_stand_anywhere(batch):
    gaps = {i for words in senses.TEMPLATES for i, word in enumerate(words) if word == senses.GAP}
    decided_at = batch.gold.int().argmax(-1)
    assert set(batch.asked.unique().tolist()) == set(decided_at.unique().tolist()) == gaps
    before = (decided_at < batch.asked).float().mean()
    assert 0.45 < before < 0.55
    assert (batch.asked.diff(dim=1) > 0).all()


def test_only_its_own_deciding_words_tell_of_a_sense():
    batch = tasks.sense_sentences(60_000, seeded(1))
    for number, word in enumerate(senses.SENSES):
        row, column = (batch.tokens.gather(1, batch.asked) == senses.IDS[word]).nonzero(as_tuple=True)
        tokens, sense = batch.tokens[row], batch.sense[row, column]
        for other, index in senses.IDS.items():
            made = sense[(tokens == index).any(1)].float()
            if other in senses.SENSES[word][0]:
                assert made.max() == 0
            elif other in senses.SENSES[word][1]:
                assert made.min() == 1
            else:
                assert abs(made.mean() - 0.5) < 5 * 0.5 / len(made) ** 0.5, (number, word, other)


def test_too_many_ambiguous_words_are_refused():
    with pytest.raises(ValueError, match="n_ambiguous must be 1 or 2, got 3"):
        tasks.sense_sentences(5, seeded(0), n_ambiguous=3)
