"""Privacy filter: what must not be remembered never reaches an index."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ...datasets.model import Observation
from .retriever import Intake

MARK = "[redacted]"
"""What stands where a secret stood."""

_PRIVATE = re.compile(r"<private>.*?(?:</private>|\Z)", re.IGNORECASE | re.DOTALL)

_SECRETS = {
    "private_key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----.*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\Z)",
    "json_web_token": r"\beyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]{6,}",
    "aws_key": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "github_token": r"\b(?:gh[oprsu]_[A-Za-z0-9]{30,}|github_pat_\w{22,})",
    "gitlab_token": r"\bglpat-[\w-]{20,}",
    "model_provider_key": r"\bsk-(?=[\w-]*\d)[\w-]{20,}",
    "stripe_key": r"\b[prs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    "slack_token": r"\bxox[a-z]-[A-Za-z0-9-]{10,}",
    "google_key": r"\bAIza[\w-]{35}",
    "package_token": r"\b(?:npm_[A-Za-z0-9]{36}|pypi-[\w-]{32,})",
    "hugging_face_token": r"\bhf_[A-Za-z0-9]{30,}",
    "sendgrid_key": r"\bSG\.[\w-]{16,}\.[\w-]{16,}",
    "bearer_token": r"(?P<kept>\b[Bb]earer )(?=\S*\d)[\w.~+/-]{16,}=*",
    "url_password": r"(?P<kept>://[^\s:@/]*:)[^\s@/]+(?=@)",
    # a run of twelve characters with letters and digits in it is no prose
    "assigned_secret": (
        r"(?P<kept>(?i:key|token|secret|password|passwd|pwd)[\"']?\s*[:=]\s*[\"']?)"
        r"(?=[^\s\"',;]*\d)(?=[^\s\"',;]*[A-Za-z])[^\s\"',;]{12,}"
    ),
}
_PATTERNS = {name: re.compile(pattern, re.DOTALL) for name, pattern in _SECRETS.items()}


class PrivacyFilter:
    """Cut out ``<private>…</private>`` and replace keys, tokens and passwords of the usual shapes by `MARK`, in every field.

    An unclosed ``<private>`` reaches to the end of its field. An observation that has no text left is removed.
    """

    def apply(self, observations: Sequence[Observation]) -> Intake:
        """Return the cleaned observations; counts are by kind of secret, ``private`` for the tag."""
        counts: Counter[str] = Counter()
        cleaned = [_cleaned(observation, counts) for observation in observations]
        return Intake(tuple(o for o in cleaned if o.title or o.subtitle or o.narrative or o.facts), counts)


def _cleaned(observation: Observation, counts: Counter[str]) -> Observation:
    o = observation

    def clean(text: str) -> str:
        text, cut = _PRIVATE.subn("", text)
        counts["private"] += cut
        for name, pattern in _PATTERNS.items():
            text, found = pattern.subn(lambda match: (match.groupdict().get("kept") or "") + MARK, text)
            counts[name] += found
        return " ".join(text.split()) if cut else text

    def clean_all(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(text for text in map(clean, texts) if text)

    return replace(
        o,
        title=clean(o.title),
        subtitle=clean(o.subtitle),
        narrative=clean(o.narrative),
        facts=clean_all(o.facts),
        concepts=clean_all(o.concepts),
        files=clean_all(o.files),
    )
