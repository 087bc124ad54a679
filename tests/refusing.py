"""What is to be refused, as a table: each call with what its error says."""

import pytest


def refuses(*cases, error=ValueError):
    """A test of each `(message, call)`: the call raises such an error, and its message matches."""

    @pytest.mark.parametrize(("message", "call"), cases)
    def test(message, call):
        with pytest.raises(error, match=message):
            call()

    return test
