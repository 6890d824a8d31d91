# Each target is a thin line over a plain command that works as well in an active conda or Windows environment.
# Needed: make, Python 3.11 or newer, and on the first run a package index.

ifeq ($(OS),Windows_NT)
BIN := .venv/Scripts
else
BIN := .venv/bin
endif
STAMP := .venv/.installed

.PHONY: run test lab notebooks bench clean
.DEFAULT_GOAL := run

run: $(STAMP)
	@$(BIN)/workbook run

test: $(STAMP)
	@$(BIN)/workbook test

lab: $(STAMP)
	@$(BIN)/workbook lab

notebooks: $(STAMP)
	@$(BIN)/workbook notebooks

bench: $(STAMP)
	@$(BIN)/workbook bench

clean:
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache

# Made anew when the lock or pyproject.toml has changed. PYTHON=… chooses an interpreter.
$(STAMP): requirements.lock pyproject.toml
	@python=; for p in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
	  if "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python="$$p"; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "make: needs Python 3.11 or newer, and found none on PATH (set PYTHON=/path/to/python3.11)" >&2; exit 1; \
	fi; \
	echo "Installing into .venv (a few minutes, only when requirements.lock changes)"; \
	"$$python" -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input --no-deps --no-build-isolation -e .
	@touch $(STAMP)
