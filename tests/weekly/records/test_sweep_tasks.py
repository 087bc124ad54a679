"""The data that scripts make for themselves are what they say."""

import torch
from sweeps import load

from attention_course.tasks import dates, translation


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


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


def test_no_date_of_the_test_is_trained_on():
    test, train = (dates.written_dates(n, seeded(seed)) for n, seed in ((500, 0), (5000, 1)))
    met = {dates.to_text(source) for source in test.source}
    texts = [dates.to_text(source) for source in train.source]
    kept = [dates.to_text(source) for source in load("projects").not_among(test, train).source]
    assert met.intersection(texts) and kept == [text for text in texts if text not in met]


def test_a_date_with_slashes_can_be_read_with_the_day_first():
    script, drawn = load("projects"), dates.written_dates(200, seeded())
    two = script.two_readings(drawn.source)
    assert 0 < two.sum() < len(two)
    texts = [dates.to_text(source) for source in drawn.source[two]]
    for text, row in zip(texts, script.day_first(drawn[two]), strict=True):
        day, month, year = text.split("/")
        assert dates.to_text(row) == f"{year}-{int(month):02}-{int(day):02}"
        assert dates.to_text(row) in dates.readings(text)


def test_only_the_first_symbol_can_be_asked_for():
    symbols = load("recall").draw(50, seeded())
    assert symbols.shape == (50, load("recall").SETTINGS["n_tokens"])
    assert set(symbols[:, 0].tolist()) == set(range(8))
    assert set(symbols[:, 1:].flatten().tolist()) == set(range(8, 16))


def test_the_column_says_which_sensor_counts():
    sensors = load("tables").sensors
    x, answer = sensors(200, 3)
    assert x.shape == (200, 5) and sorted(x[:, 0].unique().tolist()) == [-1.5, -0.5, 0.5, 1.5]
    for row, right in zip(x, answer, strict=True):
        assert (row[1 + int(row[0] + 1.5)] > 0) == right.bool()
    assert torch.equal(sensors(200, 3)[0], x) and not torch.equal(sensors(200, 4)[0], x)


def test_the_book_answers_for_a_letter_and_the_one_before():
    source, target = load("transformer_parts").code_book(200, 8, 4, seeded())
    answers = {}
    for symbols, told in zip(source.tolist(), target.tolist(), strict=True):
        for place in range(8):
            pair = symbols[place - 1], symbols[place]
            assert answers.setdefault(pair, told[place]) == told[place]
    assert len(answers) == 16 and any(answers[a, b] != answers[b, a] for a, b in answers)


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
