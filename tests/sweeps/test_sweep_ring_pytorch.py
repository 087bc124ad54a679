from attention_course import recorded


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("ring_pytorch")
    assert record["settings"] == {"n_processes": sweep.N_PROCESSES, "cases": sweep.CASES}
    assert [{name: result[name] for name in sweep.CASES[0]} for result in record["results"]] == sweep.CASES


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    quick = [case for case in sweep.CASES if case["backend"] == "MATH"]  # the default takes half a minute a shape
    monkeypatch.setattr(sweep, "CASES", quick)
    results = sweep.run()["results"]
    recorded_results = recorded.load("ring_pytorch")["results"]
    assert [result.keys() for result in results] == [
        result.keys() for result in recorded_results if result["backend"] == "MATH"
    ]
    assert all(result["error"] < 1e-5 for result in results if "error" in result)
