"""Names of version 0.1 that are others now: what readers wrote with them, and what they saved, works until 0.3."""

import warnings
from collections.abc import Callable
from functools import wraps

from torch import nn


def renamed(**names: str) -> Callable:
    """A function that takes arguments by their old names too.

    Args:
        names: The new name of each old one.
    """

    def wrap(function):
        @wraps(function)
        def call(*args, **given):
            for old, new in names.items():
                if old in given and new in given:
                    raise TypeError(f"{function.__qualname__}: {old} is now {new}, and both came")
                if old in given:
                    warnings.warn(f"{function.__qualname__}: {old} is now {new}", DeprecationWarning, stacklevel=2)
                    given[new] = given.pop(old)
            return function(*args, **given)

        return call

    return wrap


class FormerlyLogits(nn.Module):
    """A model whose last layer, `lm_head`, was called `logits`: it is found, and its saved weights load, by both."""

    def __init__(self):
        super().__init__()
        self.register_load_state_dict_pre_hook(_rename)

    @property
    def logits(self) -> nn.Module:
        """The last layer, by its old name."""
        warnings.warn(f"{type(self).__name__}: logits is now lm_head", DeprecationWarning, stacklevel=2)
        return self.lm_head

    def __setattr__(self, name, value):
        # As a module it would be registered beside the last layer, and never be called.
        super().__setattr__("lm_head" if name == "logits" else name, value)


def _rename(module, state_dict, prefix, *_):
    for name in [name for name in state_dict if name.startswith(f"{prefix}logits.")]:
        state_dict[f"{prefix}lm_head.{name.removeprefix(f'{prefix}logits.')}"] = state_dict.pop(name)
