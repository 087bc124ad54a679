import builtins
import json

import pytest
import torch
from own_models import random_bert, random_gpt2, random_llama

from attention_course.pretrained import (
    encoder_from_bert,
    language_model_from_gpt2,
    language_model_from_llama,
    load_bert,
    load_gpt2,
)
from attention_course.transformer import Block

transformers = pytest.importorskip("transformers")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "bank", "of", "river", "##s", "was", "steep"]
SENTENCES = ["the bank of the river was steep", "rivers", "the river"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What is fetched for a pretrained BERT, written here."""
    folder = tmp_path_factory.mktemp("bert")
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    transformers.BertTokenizer.from_pretrained(folder).save_pretrained(folder)
    random_bert().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def loaded(folder):
    return load_bert(str(folder))


def test_the_loaded_model_is_the_saved_one_in_evaluation_mode(loaded):
    _, bert = loaded
    saved = random_bert()
    assert not bert.training
    for name, parameter in saved.state_dict().items():
        torch.testing.assert_close(bert.state_dict()[name], parameter, atol=0, rtol=0)


def test_the_tokenizer_splits_into_word_pieces_and_pads(loaded):
    tokenizer, _ = loaded
    batch = tokenizer(["Rivers", "the steep bank"], padding=True, return_tensors="pt")
    assert tokenizer.convert_ids_to_tokens(batch["input_ids"][0]) == ["[CLS]", "river", "##s", "[SEP]", "[PAD]"]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]


@torch.no_grad()
@pytest.mark.parametrize("epsilon", [1e-12, 0.5])  # if the second were left behind, the two would differ visibly
def test_the_courses_encoder_computes_what_bert_computes(loaded, epsilon):
    tokenizer, bert = loaded[0], random_bert(layer_norm_eps=epsilon)
    bert.set_attn_implementation("eager")
    batch = tokenizer(SENTENCES, padding=True, return_tensors="pt")
    expected = bert(**batch, output_attentions=True)
    real = batch["attention_mask"].bool()
    tokens = bert.embeddings(input_ids=batch["input_ids"], token_type_ids=batch["token_type_ids"])
    output, weights = encoder_from_bert(bert)(tokens, real[:, None, None, :], need_weights=True)
    torch.testing.assert_close(output[real], expected.last_hidden_state[real], atol=1e-5, rtol=0)
    for ours, theirs in zip(weights, expected.attentions, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)
    unmasked, _ = encoder_from_bert(bert)(tokens)
    assert (unmasked - output)[real].abs().max() > 1e-2


@torch.no_grad()
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
def test_a_copy_computes_in_the_dtype_of_its_model(dtype):
    bert, gpt2, llama = random_bert().to(dtype), random_gpt2().to(dtype), random_llama().to(dtype)
    tokens = bert.embeddings(inputs_embeds=torch.randn(2, 5, 16, dtype=dtype), position_ids=torch.arange(5)[None])
    assert encoder_from_bert(bert)(tokens)[0].dtype == dtype
    model = language_model_from_gpt2(gpt2)
    assert torch.equal(model.embedding.weight, gpt2.transformer.wte.weight)  # with all its digits
    assert model(torch.randint(11, (2, 9)))[0].dtype == dtype
    assert language_model_from_llama(llama)(torch.randint(23, (2, 9)))[0].dtype == dtype


def test_the_copy_is_a_copy(loaded):
    _, bert = loaded
    before = bert.encoder.layer[0].output.dense.weight.clone()
    encoder = encoder_from_bert(bert)
    assert isinstance(encoder.blocks[0], Block) and not encoder.blocks[0].norm_first
    encoder.blocks[0].feed_forward[2].weight.data.zero_()
    assert torch.equal(bert.encoder.layer[0].output.dense.weight, before)


@torch.no_grad()
@pytest.mark.parametrize("settings", [{}, {"layer_norm_epsilon": 0.5}, {"n_inner": 64, "n_head": 4}])
def test_the_courses_language_model_computes_what_gpt2_computes(settings):
    gpt2 = random_gpt2(**settings)
    gpt2.set_attn_implementation("eager")
    model = language_model_from_gpt2(gpt2)
    symbols = torch.randint(11, (2, 9))
    expected = gpt2(symbols, output_attentions=True)
    logits, weights = model(symbols, need_weights=True)
    torch.testing.assert_close(logits, expected.logits, atol=1e-4, rtol=1e-5)
    for ours, theirs in zip(weights, expected.attentions, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)
    written = gpt2.generate(symbols[:1], max_new_tokens=6, do_sample=False, pad_token_id=0, eos_token_id=None)
    assert torch.equal(model.generate(symbols[:1], 6, temperature=0), written)


@pytest.mark.parametrize(
    "settings",
    [
        {"activation_function": "gelu"},
        {"n_inner": 48},
        {"tie_word_embeddings": False},
        {"scale_attn_by_inverse_layer_idx": True},
        {"add_cross_attention": True},
    ],
)
def test_another_kind_of_gpt2_is_refused(settings):
    ((name, setting),) = settings.items()
    with pytest.raises(ValueError, match=f"gpt2 must have .*got .*{name}.{{1,3}}{setting!r}"):
        language_model_from_gpt2(random_gpt2(**settings))


def streams_of(model, symbols):
    """The logits, and the tokens that enter each block and leave the last, before the norm."""
    streams = []
    hooks = [block.register_forward_pre_hook(lambda _, given: streams.append(given[0])) for block in model.blocks]
    hooks.append(model.norm.register_forward_pre_hook(lambda _, given: streams.append(given[0])))
    logits, weights = model(symbols, need_weights=True)
    for hook in hooks:
        hook.remove()
    return logits, streams, weights


OTHER_ROPE = {"rope_parameters": {"rope_type": "default", "rope_theta": 50.0}, "rope_theta": 50.0}


@torch.no_grad()
@pytest.mark.parametrize(
    "settings",
    [{}, {"rms_norm_eps": 0.5}, {"tie_word_embeddings": False}, {"num_key_value_heads": 6}, OTHER_ROPE],
    ids=["", "epsilon", "untied", "ungrouped", "base"],
)
def test_the_courses_language_model_computes_what_llama_computes(settings):
    llama = random_llama(**settings)
    llama.set_attn_implementation("eager")
    model = language_model_from_llama(llama)
    symbols = torch.randint(23, (2, 19))
    expected = llama(symbols, output_attentions=True, output_hidden_states=True)
    logits, streams, weights = streams_of(model, symbols)
    torch.testing.assert_close(logits, expected.logits, atol=4e-4, rtol=4e-5)
    for ours, theirs in zip(weights, expected.attentions, strict=True):
        torch.testing.assert_close(ours, theirs, atol=4e-5, rtol=0)
    for ours, theirs in zip(streams[:-1], expected.hidden_states[:-1], strict=True):
        torch.testing.assert_close(ours, theirs, atol=4e-4, rtol=4e-5)
    torch.testing.assert_close(model.norm(streams[-1]), expected.hidden_states[-1], atol=4e-4, rtol=4e-5)


@torch.no_grad()
def test_llamas_copy_writes_with_a_cache_what_llama_writes():
    llama = random_llama()
    model, symbols = language_model_from_llama(llama), torch.randint(23, (2, 12))
    caches, held, expected = model.new_caches(), None, []
    pieces = symbols.split((5, 1, 6), 1)
    in_pieces = torch.cat([model(some, caches=caches)[0] for some in pieces], 1)
    for some in pieces:
        theirs = llama(some, past_key_values=held, use_cache=True)
        held = theirs.past_key_values
        expected.append(theirs.logits)
    torch.testing.assert_close(in_pieces, torch.cat(expected, 1), atol=1e-4, rtol=1e-5)
    assert caches[0].key.shape == (2, 2, 12, 8)  # two heads of keys for six of queries
    all_read = torch.ones_like(symbols[:1])  # or 0 would be taken for padding
    written = llama.generate(symbols[:1], attention_mask=all_read, max_new_tokens=6, do_sample=False, pad_token_id=0)
    assert torch.equal(model.generate(symbols[:1], 6, temperature=0), written)


@pytest.mark.parametrize(
    "settings",
    [
        {"hidden_act": "gelu"},
        {"attention_bias": True},
        {"mlp_bias": True},
        {"head_dim": 16},
        {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}},
    ],
)
def test_another_kind_of_llama_is_refused(settings):
    if transformers.__version__.startswith("4.") and "rope_parameters" in settings:
        settings = {"rope_scaling": {"rope_type": "linear", "factor": 2.0}}
    with pytest.raises(ValueError, match="llama must have .*got "):
        language_model_from_llama(random_llama(**settings))


def test_a_gpt2_is_loaded_with_its_tokenizer(tmp_path):
    letters = ["<|endoftext|>", *"abcdefgh", "ab", "\u0120"]
    (tmp_path / "vocab.json").write_text(json.dumps({letter: symbol for symbol, letter in enumerate(letters)}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b\n")
    saved = random_gpt2()
    saved.save_pretrained(tmp_path)
    tokenizer, gpt2 = load_gpt2(str(tmp_path))
    assert tokenizer("abc")["input_ids"] == [letters.index("ab"), letters.index("c")]
    assert not gpt2.training
    torch.testing.assert_close(gpt2.transformer.wte.weight, saved.transformer.wte.weight, atol=0, rtol=0)


@pytest.mark.parametrize("settings", [{"hidden_act": "relu"}, {"intermediate_size": 48}, {"is_decoder": True}])
def test_another_kind_of_bert_is_refused(settings):
    ((name, setting),) = settings.items()
    with pytest.raises(ValueError, match=f"bert must be .*{name}={setting!r}"):
        encoder_from_bert(random_bert(**settings))


def test_a_bert_with_positions_in_its_scores_is_refused():
    """Older versions of the library made them, by this setting."""
    bert = random_bert()
    bert.config.position_embedding_type = "relative_key"
    with pytest.raises(ValueError, match="bert must add positions .*'relative_key'"):
        encoder_from_bert(bert)


def test_a_model_that_cannot_be_had_is_named(tmp_path):
    with pytest.raises(OSError, match="name_or_folder must be .*nothing-here"):
        load_bert(str(tmp_path / "nothing-here"))


def test_without_transformers_the_error_says_how_to_install_it(monkeypatch):
    def no_transformers(name, *arguments, **keywords):
        if name == "transformers":
            raise ImportError("No module named 'transformers'")
        return real_import(name, *arguments, **keywords)

    real_import = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", no_transformers)
    with pytest.raises(ImportError, match="pip install transformers"):
        load_bert("bert-base-uncased")
