"""``python -m recallmeter``: the command line."""

import sys

from .experiments.cli import main

sys.exit(main())
