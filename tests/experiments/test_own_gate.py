"""The project holds its own default systems to its own gate."""

from __future__ import annotations


def test_the_default_systems_did_not_get_worse(recall_gate):
    recall_gate(
        ["grep", "bm25", "dual", "triple"],
        baseline="tests/baseline.json",
        max_drop=2.0,
        on_inconclusive="warn",
        overrides=["protocol.repeats=1", "protocol.warm_up=0"],
    )
