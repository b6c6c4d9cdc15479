# Two commands are enough: `make run` and `make test`. Both set up what they need.
PYTHON ?= python3
NPM ?= npm
VENV := .venv
BIN := $(VENV)/bin
WEB := clarvis_ui/web
WEB_SOURCES := $(shell find $(WEB) -type f -not -path '*/node_modules/*' 2>/dev/null)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ---- set-up, each step once, again only when its inputs change ----

# Python and Node are checked before anything is fetched
.PHONY: tools
tools:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Python 3.11 or newer is needed; '$(PYTHON)' is older or missing. Try: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "Python's venv module is needed. On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 12) || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null || \
	  { echo "Node.js 20.19 or newer of version 20, or 22.12 or newer, is needed to build the page."; exit 1; }
	@command -v $(NPM) >/dev/null || { echo "npm is needed to build the page; it comes with Node.js."; exit 1; }

$(BIN)/python: | tools
	@echo "Creating the Python environment…"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing the Python packages… (the first time this fetches Claude Code, some 100 MB)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

$(WEB)/node_modules/.installed: $(WEB)/package.json $(WEB)/package-lock.json | tools
	@echo "Installing the page's packages…"
	@$(NPM) ci --prefix $(WEB) --no-audit --no-fund --no-update-notifier --loglevel=error >/dev/null
	@touch $@

clarvis_ui/static/index.html: $(WEB)/node_modules/.installed $(WEB_SOURCES)
	@echo "Building the page…"
	@$(NPM) run --silent --prefix $(WEB) build -- --logLevel warn
	@touch $@

.PHONY: setup ui
setup: $(VENV)/.installed clarvis_ui/static/index.html ## install dependencies and build the page
ui: clarvis_ui/static/index.html ## build the page only

# ---- use ----

.PHONY: run demo
run: setup ## start the keeper and Clarvis, and print the login link
	@exec $(BIN)/claudekeeper serve $(ARGS)

demo: setup ## the same without an account: sample sessions and a scripted Claude
	@exec $(BIN)/claudekeeper serve --demo $(ARGS)

# ---- checks ----

.PHONY: test checks lint types pytest web-test
test: ## every check
	@$(MAKE) --no-print-directory -j2 checks
	@$(MAKE) --no-print-directory pytest

# each of them keeps one core busy
checks: lint types web-test

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

web-test: $(WEB)/node_modules/.installed
	$(NPM) run --silent --prefix $(WEB) check
	$(NPM) run --silent --prefix $(WEB) test

# A few tests that fail beside others are run once more alone, and count then: real programs on a
# busy machine can be slower than any patience. What failed first stands in the output.
# Files are handed out in the order of tests/conftest.py: the long ones first.
pytest: setup
	@$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder $(ARGS) || { code=$$?; \
	  failed=$$(grep -c ': true' .pytest_cache/v/cache/lastfailed || true); \
	  if [ $$code -ne 1 ] || [ "$$failed" -gt 4 ]; then exit $$code; fi; \
	  echo; echo "Once more, one after another, what failed beside others:"; \
	  $(BIN)/python -m pytest --last-failed --last-failed-no-failures none $(ARGS); }

.PHONY: orchestrate
orchestrate: setup ## 500 dispatches on 50 items under kills and failures: every thread is its own
	ORCHESTRATED=$(or $(DISPATCHES),500) $(BIN)/python -m pytest tests/soak/test_orchestrator.py -n 0 -s $(ARGS)

.PHONY: kills
kills: setup ## Claude Code is killed 200 times under a real browser: no word is lost (KILLS=200)
	KILLS=$(or $(KILLS),200) $(BIN)/python -m pytest tests/soak/test_kills.py -n 0 -s $(ARGS)

.PHONY: soak
soak: setup ## mixed work for an hour or so: nothing may be lost or left over (ROUNDS=300)
	SOAK_ROUNDS=$(or $(ROUNDS),300) $(BIN)/python -m pytest tests/soak -s $(ARGS)

.PHONY: format contract bench screenshots wheel constraints clean
format: $(VENV)/.installed ## let ruff format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

contract: $(VENV)/.installed ## write the page's types and the golden frames from the contract
	$(BIN)/python -m tests.contract

bench: setup ## measure, and write docs/benchmarks.md
	$(BIN)/python -m benchmarks $(ARGS)

screenshots: setup ## take the pictures of every scene again
	$(BIN)/python -m tests.screenshots $(ARGS)

wheel: setup ## build dist/*.whl with the page inside
	$(BIN)/python -m hatchling build -t wheel

constraints: $(VENV)/.installed ## write down the versions that are installed now
	$(BIN)/python -m pip list --format=freeze --exclude-editable \
	  | grep -v -i -E '^(pip|setuptools|wheel)==' | LC_ALL=C sort -f > constraints.txt

clean: ## remove everything that was made
	rm -rf $(VENV) $(WEB)/node_modules clarvis_ui/static dist build .mypy_cache .ruff_cache .pytest_cache
