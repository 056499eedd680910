"""Whether Hugging Face's libraries may reach the network; a measurement never does unless it was told to."""

from __future__ import annotations

import os


def hub_access(*, allowed: bool) -> None:
    """Allow or forbid them to download; they read this when they are first imported, so it is said before.

    Tokenizers are told besides not to start threads, which they would complain of in every process that is forked later.
    """
    offline = "0" if allowed else "1"
    os.environ |= {"HF_HUB_OFFLINE": offline, "HF_DATASETS_OFFLINE": offline}
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
