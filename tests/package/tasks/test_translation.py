import re

import pytest
import torch
from seeding import seeded

from attention_course import tasks
from attention_course.tasks import translation
from attention_course.tasks.translation import END, IDS, N_SOURCE, N_TARGET, PAD, from_text, to_text, to_words


@pytest.fixture(scope="module")
def batch():
    return tasks.translation_pairs(4000, seeded())


@pytest.fixture(scope="module")
def texts(batch):
    return [(to_text(source), to_text(target)) for source, target in zip(batch.source, batch.target, strict=True)]


# Translated by a person, not by the grammar: what the generator draws must agree wherever it draws one of these.
BY_HAND = {
    "the black cat does not see the red dogs.": "le chat noir ne voit pas les chiens rouges.",
    "a small bird loves an old tree.": "un petit oiseau aime un vieil arbre.",
    "my white geese never hear a bee.": "mes oies blanches n'entendent jamais d'abeille.",
    "these horses do not often find any new houses.": "ces chevaux ne trouvent pas souvent de nouvelles maisons.",
    "some beautiful mice always follow this squirrel.": "de belles souris suivent toujours cet écureuil.",
    "the ant avoids my island.": "la fourmi évite mon île.",
    "an old cow draws some green apples.": "une vieille vache dessine des pommes vertes.",
    "this goose watches a beautiful star.": "cette oie regarde une belle étoile.",
    "the squirrels never see the boats.": "les écureuils ne voient jamais les bateaux.",
}


@pytest.mark.parametrize("english", BY_HAND)
def test_translations_are_those_of_a_person(english, monkeypatch):
    monkeypatch.setattr(translation.random, "Random", lambda seed: Replay(english))
    pairs = tasks.translation_pairs(1, seeded())
    assert (to_text(pairs.source[0]), to_text(pairs.target[0])) == (english, BY_HAND[english])


class Replay:
    """Makes the choices that lead to one English sentence, in the order in which the grammar asks."""

    def __init__(self, english):
        self.words = english.rstrip(".").split()
        verb_at = next(i for i, word in enumerate(self.words) if word in {w for v in translation.VERBS for w in v[:2]})
        middle = [i for i, word in enumerate(self.words) if word in {"do", "does", "not", "never", "often", "always"}]
        self.phrases = [self.words[: min([*middle, verb_at])], self.words[verb_at + 1 :]]
        self.middle = self.words[min([*middle, verb_at]) : verb_at + 1]

    def choice(self, options):
        phrase = self.phrases[0]
        if isinstance(options[0], tuple) and options[0] in translation.NOUNS:
            return next(noun for noun in options if phrase[-1] in noun[:2])
        if isinstance(options[0], tuple):
            return next(verb for verb in options if self.middle[-1] in verb[:2])
        if options == tuple(translation.DETERMINERS):
            return {"an": "a", "some": "a", "any": "a", "these": "this"}.get(phrase[0], phrase[0])
        words = self.middle if set(options) & {"not", "often"} else phrase
        chosen = next((word for word in options if word in words), None)
        if set(options) & set(translation.COLOURS):
            self.phrases = self.phrases[1:]  # a phrase's last choice
        return chosen

    def random(self):
        plural = {noun[1] for noun in translation.NOUNS}
        return 0.0 if self.phrases[0][-1] in plural else 1.0


def test_a_sentence_ends_with_its_period_and_then_there_is_only_padding(batch):
    for symbols, length in ((batch.source, N_SOURCE), (batch.target, N_TARGET)):
        assert symbols.shape == (4000, length)
        ends = (symbols == END).int()
        assert (ends.sum(1) == 1).all()
        after = ends.cumsum(1) - ends > 0
        assert torch.equal(symbols == PAD, after)
        assert (symbols[:, -1] == END).any()  # the longest fills its row


def test_every_french_word_comes_from_english_words_and_padding_from_none(batch):
    assert torch.equal(batch.gold.any(-1), batch.target != PAD)
    assert not (batch.gold & (batch.source == PAD)[:, None, :]).any()
    # Every English word explains some French word, "do" and "does" together with the verb.
    assert torch.equal(batch.gold.any(1), batch.source != PAD)


def test_gold_links_words_that_translate_each_other(batch):
    dictionary = {".": {"."}, "ne": {"not", "never"}, "n'": {"not", "never"}, "pas": {"not"}, "jamais": {"never"}}
    for singular, plural, *french, _ in translation.NOUNS:
        for word, english in zip(french, (singular, plural), strict=True):
            dictionary.setdefault(word, set()).add(english)
    for english, forms in (*translation.SIZES.items(), *translation.COLOURS.items()):
        for form in forms:
            dictionary[form] = {english}
    for third_person, base, *french in translation.VERBS:
        for word, auxiliary in zip(french, ("does", "do"), strict=True):
            dictionary[word] = {third_person, base, auxiliary}
    for english, french in translation.ADVERBS.items():
        dictionary[french] = {english}
    for english, forms in translation.DETERMINERS.items():
        spelled = {"a": {"a", "an", "some", "any"}, "this": {"this", "these"}}.get(english, {english})
        for form in (*forms, *(("de", "d'") if english == "a" else ())):
            dictionary[form] = spelled
    for row in range(500):
        english = to_words(batch.source[row])
        for place, word in enumerate(to_words(batch.target[row])):
            origins = {english[i] for i in batch.gold[row, place].nonzero().flatten().tolist()}
            assert origins and origins <= dictionary[word], (word, origins)


def test_words_are_cut_before_vowels_and_only_there(texts):
    for _, french in texts:
        assert not re.search(r"\b(le|la|ne|de|ce|ma|beau|nouveau) [aeiouéî]", french), french
        assert not re.search(r"\b[lnd]'[^aeiouéî]", french), french


def test_negation_goes_around_the_verb_and_turns_articles_into_de(texts):
    for english, french in texts:
        negated = " not " in english or " never " in english
        assert bool(re.search(r"\b(ne |n')\w+ (pas|jamais)\b", french)) == negated
        if negated:
            assert not re.search(r"(pas|jamais)( \w+)? (un|une|des) ", french)


def test_an_adverb_may_stand_beside_not_and_none_stands_beside_never(texts):
    words = [set(english.rstrip(".").split()) for english, _ in texts]
    beside = [{"not", "never"} & one for one in words if translation.ADVERBS.keys() & one]
    assert set() in beside and {"not"} in beside and {"never"} not in beside


def test_verbs_agree_with_their_subjects_in_both_languages(texts):
    plural = {noun: number for forms in translation.NOUNS for number, noun in enumerate(forms[:2])}
    english_verbs = {verb: number for forms in translation.VERBS for number, verb in enumerate(forms[:2])}
    french_verbs = {verb: number for forms in translation.VERBS for number, verb in enumerate(forms[2:])}
    for english, french in texts:
        words = english.rstrip(".").split()
        subject = next(plural[word] for word in words if word in plural)
        assert subject == next(french_verbs[word] for word in re.split("[ ']", french) if word in french_verbs)
        verb = next(english_verbs[word] for word in words if word in english_verbs)
        assert verb == (1 if {"do", "does"} & set(words) else subject)  # "does not see": the base form
        assert ("do" if subject else "does") in words or not {"do", "does"} & set(words)


def test_sentences_hardly_ever_repeat(texts):
    assert len({english for english, _ in texts}) > 0.99 * len(texts)


def test_a_sentence_of_the_readers_own():
    symbols = from_text("the black cat sees an ant.")
    assert symbols.shape == (1, N_SOURCE)
    assert to_text(symbols[0]) == "the black cat sees an ant."
    assert symbols[0, 0] == IDS["the"]
    with pytest.raises(ValueError, match="sentence must have at most 13 words.*unknown: \\['yellow', 'zebra'\\]"):
        from_text("the yellow zebra sees an ant.")
