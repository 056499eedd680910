"""Words of scripts that are written without spaces between them: Chinese, Japanese, Korean, and those of south-east Asia."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from typing import Any, Literal, get_args

from ...datasets.errors import InputError
from ..timing import clock

Mode = Literal["auto", "words", "bigrams"]
"""How a run without spaces is split: by a segmenter where one is installed, always by one, or into overlapping pairs of characters."""

MODES: tuple[str, ...] = get_args(Mode)

_THAI_LAO_BURMESE_KHMER = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
_KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

_RUN = re.compile(f"[{_HAN}{_KANA}]+|[{_HANGUL}]+|[{_THAI_LAO_BURMESE_KHMER}]+")
_WITH_KANA = re.compile(f"[{_KANA}]")
_WITH_HANGUL = re.compile(f"[{_HANGUL}]")
_WITH_HAN = re.compile(f"[{_HAN}]")

Segmenter = Callable[[str], Iterable[str]]


def check_mode(mode: str) -> None:
    """Raise `InputError` when there is no such way to segment."""
    if mode not in MODES:
        raise InputError(f"{mode!r} is not a way to segment", where="segmentation", remedy=f"choose from {', '.join(MODES)}")


def spaced(text: str, language: str, mode: Mode = "auto") -> str:
    """Return the text with every run of an unspaced script split into words that stand between spaces.

    Args:
        language: ISO 639-1 code; ``ja`` reads Chinese characters as Japanese where the text holds no kana to say so.

    Raises:
        InputError: `mode` asks for words and the segmenter is not installed.
    """
    japanese = language == "ja" or _WITH_KANA.search(text) is not None
    return _RUN.sub(lambda run: f" {' '.join(_split(run[0], japanese, mode))} ", text)


def _split(run: str, japanese: bool, mode: Mode) -> Iterable[str]:
    if mode != "bigrams" and (language := _language(run, japanese)):
        segmenter = _segmenter(language)
        if segmenter is not None:
            return segmenter(run)
        package = _PACKAGES[language]
        if mode == "words":
            raise InputError(f"{package} is not installed", where="segmentation", remedy="pip install 'recallmeter[cjk]', or set bigrams")
        _tell(package)
    return bigrams(run)


def is_unspaced(term: str) -> bool:
    """Return whether a term begins in a script that is written without spaces."""
    return _RUN.match(term) is not None


def bigrams(run: str) -> Iterable[str]:
    """Return every two neighbouring characters of a run; a single one as it is."""
    return map("".join, pairwise(run)) if len(run) > 1 else (run,)


def _language(run: str, japanese: bool) -> str | None:
    if _WITH_HANGUL.match(run):
        return "ko"
    if japanese and (_WITH_HAN.match(run) or _WITH_KANA.match(run)):
        return "ja"
    return "zh" if _WITH_HAN.match(run) else None


@cache
def _segmenter(language: str) -> Segmenter | None:
    """Load what segments a language; None when its package is not installed."""
    try:
        with clock.uncharged():
            return _LOADERS[language]()
    except ImportError:
        return None


def _chinese() -> Segmenter:
    import rjieba

    return lambda run: rjieba.cut_for_search(run, True)


def _japanese() -> Segmenter:
    from janome.tokenizer import Tokenizer

    tokenizer: Any = Tokenizer()
    return lambda run: [
        token.surface if token.base_form == "*" else token.base_form
        for token in tokenizer.tokenize(run)
        if not token.part_of_speech.startswith("助")
    ]


def _korean() -> Segmenter:
    from kiwipiepy import Kiwi

    analyser: Any = Kiwi(num_workers=1)
    return lambda run: [token.form for token in analyser.tokenize(run) if token.tag[0] not in "JE"]


_PACKAGES = {"zh": "rjieba", "ja": "janome", "ko": "kiwipiepy"}
_LOADERS: dict[str, Callable[[], Segmenter]] = {"zh": _chinese, "ja": _japanese, "ko": _korean}


@cache
def _tell(package: str) -> None:
    logging.getLogger(__name__).warning("%s is not installed: text without spaces is matched by pairs of characters", package)
