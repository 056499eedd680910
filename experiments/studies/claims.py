"""The claims of several experiments in one document, from their run directories.

    python -m recallmeter.experiments.studies.claims RUN … > docs/claims.md

Each run is one of an experiment preset: `recallmeter run experiment=session_cap`, …
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ...datasets.errors import InputError
from ...evaluation.record import load_run
from ...reports.preset import overview


def main(argv: Sequence[str] | None = None) -> int:
    """Read the runs and print the document."""
    parser = argparse.ArgumentParser(prog="claims", description="the claims of several experiments in one document")
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run directory of an experiment preset")
    try:
        print(overview([load_run(run) for run in parser.parse_args(argv).runs]), end="")
    except InputError as error:
        print(f"claims: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
