# Everything a fresh machine needs is Python 3.11+ and make; each target sets up .venv by itself, once.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
ALL    := $(VENV)/.ready-all
JS     := .ci/javascript

.PHONY: report test test-integration lint bench clean

report: $(READY)
	@run=runs/$$(date -u +%Y-%m-%dT%H-%M-%S)-real-embeddings; \
	$(BIN)/recallmeter run experiment=real_embeddings hydra.run.dir=$$run && \
	$(BIN)/recallmeter report $$run -o reports/REAL-EMBEDDINGS.md

test: $(READY)
	$(BIN)/pytest -n 2 -m "not integration"

test-integration: $(ALL)
	$(BIN)/pytest -n 2 --dist loadfile -m integration

lint: $(READY)
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/pyright --pythonpath $(BIN)/python
	@if command -v npm >/dev/null; then \
	    test -e $(JS)/node_modules/.package-lock.json || npm --prefix $(JS) ci --no-audit --no-fund --loglevel=error || \
	        { echo "SKIPPED: the explorer's script is not linted, since eslint can't be installed"; exit 0; }; \
	    node $(JS)/lint.mjs reports/explorer/page && echo "the explorer's script is clean"; \
	else echo "SKIPPED: the explorer's script is not linted, since there is no npm"; fi

bench: $(READY)
	@for script in tests/benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) build dist *.egg-info

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c 'import sys; sys.exit("Recallmeter needs Python 3.11 or newer: make PYTHON=python3.11 …" if sys.version_info < (3, 11) else 0)'
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

$(ALL): $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,all]"
	touch $@
