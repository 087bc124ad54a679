import torch
import torch.nn.functional as F

from attention_course import recorded

RECORD = recorded.load("efficient_times")


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    assert RECORD["settings"] == sweep.SETTINGS
    made = [(run["mechanism"], run["n_tokens"]) for run in RECORD["results"]]
    assert made == [(name, n) for n in sweep.LENGTHS for name in sweep.MECHANISMS if n <= sweep.LONGEST.get(name, n)]


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    threads = torch.get_num_threads()
    monkeypatch.setattr(sweep, "LENGTHS", [128])
    monkeypatch.setattr(sweep, "MANY", 1)
    results = sweep.run()["results"]
    torch.set_num_threads(threads)
    assert [run["mechanism"] for run in results] == sweep.MECHANISMS
    for run in results:
        assert run.keys() == RECORD["results"][0].keys()
        assert run["ms"] > 0 and run["MiB"] > 0


@torch.no_grad()
def test_exact_ones_are_exact(sweep):
    inputs = torch.randn(3, 1, 8, 200, 64).unbind()
    expected = F.scaled_dot_product_attention(*inputs)
    for name in ("exact", "weights stored"):
        assert torch.allclose(sweep.make_call(name, 200)(*inputs), expected, atol=1e-5)
