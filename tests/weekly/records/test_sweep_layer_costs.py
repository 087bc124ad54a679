import pytest
import torch

from attention_course import KVCache, recorded

KINDS = ["forward", "forward + backward", "decoded token"]


def test_the_record_was_made_with_the_settings_of_the_script(sweep):
    record = recorded.load("layer_costs")
    assert record["settings"] == sweep.SETTINGS
    made = [(run["mechanism"], run["n_tokens"]) for run in record["results"]]
    assert made == [(name, n_tokens) for n_tokens in sweep.LENGTHS for name in sweep.MECHANISMS]
    for run in record["results"]:
        assert list(run) == ["mechanism", "n_tokens", *KINDS, "cache bytes"]


def test_the_record_holds_the_bytes_of_these_caches(sweep):
    """32-bit numbers: keys and values of all tokens, or of those in sight; a matrix a head; and the indexer's keys."""
    bytes_held = {
        (run["mechanism"], run["n_tokens"]): run["cache bytes"] for run in recorded.load("layer_costs")["results"]
    }
    of = sweep.SETTINGS
    for n_tokens in sweep.LENGTHS:
        keys_and_values = 4 * 2 * n_tokens * of["d_model"]
        assert bytes_held["softmax", n_tokens] == keys_and_values
        assert bytes_held["window with sinks", n_tokens] == 4 * 2 * (of["window"] + of["n_sinks"]) * of["d_model"]
        assert bytes_held["top-k", n_tokens] == keys_and_values + 4 * n_tokens * 16
        for name in ("decay", "gate", "delta", "gated delta"):
            assert bytes_held[name, n_tokens] == 4 * of["d_model"] ** 2 / of["n_heads"]


def test_a_sweep_still_runs_and_keeps_its_form(sweep, monkeypatch):
    threads = torch.get_num_threads()
    monkeypatch.setattr(sweep, "LENGTHS", [192])
    monkeypatch.setattr(sweep, "REPEATS", dict.fromkeys(KINDS, 1))
    results = sweep.run()["results"]
    torch.set_num_threads(threads)
    assert [run["mechanism"] for run in results] == list(sweep.MECHANISMS)
    for run in results:
        has_cache = run["mechanism"] not in sweep.WITHOUT_CACHE
        assert (run["decoded token"] is not None) == (run["cache bytes"] is not None) == has_cache
        for kind in KINDS if has_cache else KINDS[:2]:
            assert run[kind].keys() == {"ms", "ratio"} and run[kind]["ms"] > 0
    assert all(results[0][kind]["ratio"] == 1 for kind in KINDS)


@torch.no_grad()
def test_the_decoded_token_follows_all_others_and_is_forgotten_again(sweep):
    tokens = torch.randn(1, 150, sweep.SETTINGS["d_model"])
    for name, make in sweep.MECHANISMS.items():
        if name in sweep.WITHOUT_CACHE:
            continue
        layer = make(sweep.SETTINGS["d_model"], sweep.SETTINGS["n_heads"])
        cache = sweep.filled_cache(layer, tokens)
        torch.manual_seed(1)
        decode = sweep.decode(layer, cache)
        torch.manual_seed(1)
        newest = torch.randn(1, 1, sweep.SETTINGS["d_model"])
        expected = layer(torch.cat([tokens, newest], dim=1), causal=True)[0][:, -1:]
        before = cache.nbytes
        for _ in range(3):
            assert torch.allclose(decode(), expected, atol=1e-4), name
        assert len(cache) == 150 and cache.nbytes == before


def test_what_is_said_to_take_no_cache_takes_none(sweep):
    for name in sweep.WITHOUT_CACHE:
        layer = sweep.MECHANISMS[name](32, 2)
        with pytest.raises(ValueError, match="works on whole sequences"):
            layer(torch.randn(1, 5, 32), cache=KVCache())


def test_backward_reaches_all_parameters(sweep):
    for name, make in sweep.MECHANISMS.items():
        layer = make(32, 2)
        gradients = sweep.forward_backward(layer, torch.randn(1, 80, 32))()
        assert len(gradients) == 1 + len(list(layer.parameters()))
        assert all(gradient.abs().max() > 0 for gradient in gradients), name
