from seeding import seeded

from attention_course import tasks
from attention_course.tasks.coins import FACES, N_TOKENS, QUESTION, THINGS, VOCABULARY


def drawers(n=200):
    return tasks.two_coins(n, seeded())


def test_a_drawer_holds_two_coins_ten_things_and_the_question():
    batch = drawers()
    for row in range(len(batch)):
        words = batch.words(row)
        assert len(words) == N_TOKENS and words[-1] == QUESTION
        assert sum(word in FACES for word in words) == 2
        assert sum(word in THINGS for word in words) == 10


def test_the_label_and_gold_are_those_of_the_coins():
    batch = drawers()
    for row in range(len(batch)):
        places = [place for place, word in enumerate(batch.words(row)) if word in FACES]
        assert batch.gold[row].nonzero().flatten().tolist() == places
        first, second = (batch.words(row)[place] for place in places)
        assert batch.same[row].item() == (first == second)


def test_every_place_face_and_thing_occurs():
    batch = drawers(2000)
    assert batch.gold[:, :-1].any(0).all() and not batch.gold[:, -1].any()
    assert batch.tokens.unique().tolist() == list(range(len(VOCABULARY)))
    assert abs(batch.same.float().mean() - 0.5) < 0.05
    assert len(set(VOCABULARY)) == len(VOCABULARY)
