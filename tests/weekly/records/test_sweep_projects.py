import torch

from attention_course import recorded
from attention_course.tasks import dates, spelling


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("projects")
    assert record["settings"] == sweep.SETTINGS
    assert [(result["project"], result["seed"]) for result in record["results"]] == [
        *(("dates", seed) for seed in sweep.DATE_SEEDS),
        *(("digits", seed) for seed in sweep.DIGIT_SEEDS),
    ]


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    small = {
        "dates": sweep.SETTINGS["dates"] | {"n_train": 70, "n_test": 60, "steps": 4},
        "digits": sweep.SETTINGS["digits"] | {"steps": 4, "n_swaps": 1},
        "d_model": 8,
    }
    monkeypatch.setattr(sweep, "SETTINGS", sweep.SETTINGS | small)
    monkeypatch.setattr(sweep, "DATE_SEEDS", [0])
    monkeypatch.setattr(sweep, "DIGIT_SEEDS", [0])
    made, record = sweep.run()["results"], recorded.load("projects")["results"]
    assert [result.keys() for result in made] == [record[0].keys(), record[-1].keys()]
    assert [len(shares) for shares in made[1]["kept"].values()] == [len(name) for name in spelling.NAMES]


def test_no_date_of_the_test_is_trained_on(sweep):
    test, train = (dates.written_dates(n, torch.Generator().manual_seed(seed)) for n, seed in ((500, 0), (5000, 1)))
    met = {dates.to_text(source) for source in test.source}
    texts = [dates.to_text(source) for source in train.source]
    kept = [dates.to_text(source) for source in sweep.not_among(test, train).source]
    assert met.intersection(texts) and kept == [text for text in texts if text not in met]


def test_a_date_with_slashes_can_be_read_with_the_day_first(sweep):
    drawn = dates.written_dates(200, torch.Generator().manual_seed(0))
    two = sweep.two_readings(drawn.source)
    assert 0 < two.sum() < len(two)
    texts = [dates.to_text(source) for source in drawn.source[two]]
    for text, row in zip(texts, sweep.day_first(drawn[two]), strict=True):
        day, month, year = text.split("/")
        assert dates.to_text(row) == f"{year}-{int(month):02}-{int(day):02}"
        assert dates.to_text(row) in dates.readings(text)


def test_letters_that_need_no_image_are_all_kept(sweep):
    digits = spelling.spelled_digits()[1][:100]

    def from_memory(images, target):
        return torch.nn.functional.one_hot(target, len(spelling.VOCABULARY)).float(), None

    assert (sweep.kept_letters(from_memory, digits, torch.Generator().manual_seed(0)) == 1).all()
