"""What an attention says of itself: its arguments by their names, its width, its number of heads."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import torch.nn.functional as F
from torch import Tensor, nn

N_HEADS, WIDTH = 4, 32
# What a number is for, by the name of the argument, and what is given for it.
NUMBERS = (
    (r"n_?kv|num_key_value|num_kv|kv_heads|n_groups", 2),
    (r"head_dim|dim_head|d_head|head_size|d_k$|d_v$|dk$|dv$", WIDTH // N_HEADS),
    (r"head|^h$", N_HEADS),
    (r"drop|^p$", 0.0),
    (r"max_?(len|seq|pos|t)|seq_?len|context_|block_size|ctx|window|max_n|n_max|max_length|max_tokens", 64),
    (r"ff|hidden_dim|mlp|inner|hidden_size$", WIDTH),
    (r"d_?model|dim|embed|width|size|n_embd|^d$|hidden|d_in|d_out|features|^c$", WIDTH),
)
TOKENS = {"key", "value", "k", "v", "keys", "values", "key_states", "value_states"}
MASK = re.compile(r"mask|bias|padding|may_attend|valid|hidden_where|visible", re.IGNORECASE)
NO_KEYS = re.compile(r"head|len(s|gths?)?$|^q(uery|ueries)?_", re.IGNORECASE)  # a mask of heads or queries; lengths
CAUSAL = re.compile(r"causal", re.IGNORECASE)
PAST = re.compile(r"past|cache|^present|^memory_kv|layer_state|^state$", re.IGNORECASE)
OF_OTHERS = re.compile(r"encoder|cross|memory|context", re.IGNORECASE)  # not of a single sequence
OTHER = re.compile(r"freq|cos|sin|pos|start|index|idx|layer|step|rope|rotary|offset|angle", re.IGNORECASE)
STATES = re.compile(r"^(?!n_|num_).*(states|features|hidden|embeds|embeddings?)$", re.IGNORECASE)  # and no numbers
FLAGS = re.compile(r"need|return|output_|use_|train|verbose", re.IGNORECASE)


@dataclass
class Signature:
    """The arguments of a call, by what they are for; what is left out but must be given is given as `None`."""

    tokens: list[str]
    masks: list[str] = field(default_factory=list)
    needs_mask: bool = False
    causal: list[str] = field(default_factory=list)
    past: list[str] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    all_names: list[str] = field(default_factory=list)


def number_for(name: str):
    """What to give for a number of that name; `None` where the name says nothing."""
    return next((number for pattern, number in NUMBERS if re.search(pattern, name, re.IGNORECASE)), None)


def _is_sequence(name):
    return name in TOKENS or STATES.search(name)


def read_signature(attention: Callable) -> Signature:
    """Read the arguments of a function, or of a module's `forward`."""
    if attention is F.scaled_dot_product_attention:  # compiled: it has no signature to be read
        return Signature(["query", "key", "value"], ["attn_mask"], causal=["is_causal"])
    forward = attention.forward if isinstance(attention, nn.Module) else attention
    try:
        arguments = inspect.signature(forward).parameters.values()
    except ValueError:  # compiled
        return Signature(["query", "key", "value"])
    parameters = [
        parameter for parameter in arguments if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    found = Signature([], all_names=[parameter.name for parameter in parameters])
    n_masks = sum(map(_takes_a_mask, parameters))
    for parameter in parameters:
        name, required = parameter.name, parameter.default is parameter.empty
        if PAST.search(name) and not required and not isinstance(parameter.default, bool):
            found.past.append(name)
        elif CAUSAL.search(name) and "mask" not in name:
            found.causal.append(name)
        elif MASK.search(name) and isinstance(parameter.default, bool):
            if "mask" in name.lower() and not FLAGS.match(name):  # whether to hide what comes later
                found.causal.append(name)
        elif _takes_a_mask(parameter):
            if NO_KEYS.search(name) or (name == "x_mask" and n_masks > 1):  # beside a mask of keys
                found.left_out += [name] * required
                continue
            found.needs_mask |= required
            if len(found.tokens) > 1 or not OF_OTHERS.search(name):
                found.masks.append(name)
        elif required and found.tokens and number_for(name) is not None and not _is_sequence(name):
            found.numbers[name] = number_for(name)
        elif required and OTHER.search(name):
            found.unknown.append(name)
        elif required or (name in TOKENS and parameter.annotation in (parameter.empty, Tensor, Tensor | None)):
            found.tokens.append(name)
    return found


def _takes_a_mask(parameter: inspect.Parameter) -> bool:
    """Whether it is called a mask, and by default there is none: what has a number or a word is its value or kind."""
    default = parameter.default
    fits = default is None or default is parameter.empty or isinstance(default, Tensor)
    return fits and bool(MASK.search(parameter.name)) and not FLAGS.match(parameter.name)


def build(attention: type) -> Callable:
    """An instance of a class, with numbers chosen by the names of its arguments.

    Raises:
        ValueError: If a name says nothing, or the class refuses what was chosen, with its own words.
    """
    arguments = {}
    for name, parameter in inspect.signature(attention).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is parameter.empty:
            arguments[name] = number_for(name)
            if arguments[name] is None:
                raise ValueError(
                    f"attention: what to give {attention.__name__} for {name!r} cannot be told from its name: "
                    "pass an instance, expected one made by you"
                )
    try:
        return attention(**arguments)
    except Exception as error:  # whatever somebody's code may raise
        raise ValueError(
            f"attention: {attention.__name__} could not be made with {arguments}: {type(error).__name__}: {error}; "
            "pass an instance, expected one made by you"
        ) from error


def widths(attention: Callable) -> list[int]:
    """Widths that its tokens may have, likeliest first."""
    if not isinstance(attention, nn.Module):
        return [8, WIDTH]
    said = [getattr(attention, name, None) for name in ("embed_dim", "d_model", "hidden_size", "dim", "n_embd")]
    said += [module.in_features for module in attention.modules() if isinstance(module, nn.Linear)]
    said += [size for parameter in attention.parameters() for size in parameter.shape]
    found = list(dict.fromkeys(size for size in said if isinstance(size, int) and size > 1))
    return found or [8]
