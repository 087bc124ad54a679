import pytest
import torch
from seeding import seeded

from attention_course import tasks

SIZES = {"n_people": 5, "n_names": 7, "n_letters": 3, "n_relations": 2}


def make(n_examples=50, **changes):
    return tasks.related_letters(n_examples, **(SIZES | changes), generator=seeded())


def test_a_target_is_the_letter_of_the_person_asked_about():
    people = make()
    assert len(people) == 50 and people.asked.shape == people.target.shape == (50, 5, 2)
    groups = zip(people.name, people.letter, people.asked, people.target, strict=True)
    for name, letter, asked, target in groups:
        holds = dict(zip(name.tolist(), letter.tolist(), strict=True))
        assert len(holds) == 5  # no name twice
        assert target.tolist() == [[holds[who] for who in row] for row in asked.tolist()]


def test_gold_marks_exactly_the_person_asked_about():
    people = make()
    assert people.gold.shape == (50, 2, 5, 5) and people.gold.dtype == torch.bool
    for group in range(50):
        for relation in range(2):
            for person in range(5):
                marked = people.name[group][people.gold[group, relation, person]]
                assert marked.tolist() == [people.asked[group, person, relation].item()]


def test_nobody_asks_about_themselves_or_twice_about_the_same_person():
    people = make(n_relations=4)  # of five people: everybody else, in random order
    for name, asked in zip(people.name.tolist(), people.asked.tolist(), strict=True):
        for own, others in zip(name, asked, strict=True):
            assert sorted([own, *others]) == sorted(name)


def test_places_and_letters_are_uniform():
    people = make(n_examples=4000)
    assert people.gold.float().mean((0, 2)).sub(0.2).abs().max() < 0.02
    shares = torch.bincount(people.target.flatten(), minlength=3) / people.target.numel()
    assert shares.sub(1 / 3).abs().max() < 0.02


def test_the_answers_to_the_two_questions_are_independent():
    target = make(n_examples=4000).target.flatten(0, 1)
    together = torch.zeros(3, 3).index_put_(tuple(target.T), torch.ones(len(target)), accumulate=True)
    assert (together / together.sum()).sub(1 / 9).abs().max() < 0.01


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_names": 4}, "n_names must be at least n_people = 5, got 4"),
        ({"n_relations": 5}, r"n_relations must lie in 1\.\.4 \(n_people - 1\), got 5"),
        ({"n_relations": 0}, "n_relations must lie in"),
    ],
)
def test_impossible_sizes_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        make(**changes)
