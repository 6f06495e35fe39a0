# `make` alone lists the targets: each has what it does behind `##`.

.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
INSTALLED := $(VENV)/.installed

# llama.cpp without its tools, server and multimodal parts: less than half of the compiling.
# pip keeps the wheel it made, so that this is done once on a machine.
LEAN := -DLLAVA_BUILD=OFF -DCMAKE_PROJECT_llama_cpp_INCLUDE=$(CURDIR)/tools/lean.cmake

DEMO := $(CURDIR)/.demo

# Packages of Node.js and of Python that only tests/surfaces/clients needs.
CLIENTS ?= $(HOME)/.cache/qmd-clients

# An environment with cosmic-ray, which only tools/mutants.py needs.
MUTANTS ?= $(HOME)/.cache/qmd-mutants

# What `.venv` has, but with the oldest DuckDB that qmd runs on.
OLDEST := .oldest

# Tools of a release, and an environment of the locked packages alone.
TOOLS ?= $(HOME)/.cache/qmd-release
LOCKED := .locked

# The generator of the documentation site.
SITE ?= $(HOME)/.cache/qmd-site

# Where it is set, as in images of containers, each of the thousands of processes that tests start
# would compile all of its modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo help test oldest check types types-windows format docs site bench torture fuzz mutants clients build wheel-trial lock audit licences sbom clean

# What a user installs: nothing of it has to be compiled.
$(INSTALLED): pyproject.toml tools/compiling.py $(wildcard qmd/*/compiled/*.p*)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $(INSTALLED)

# What tests need besides. They run on the newest DuckDB, as users get it.
$(READY): $(INSTALLED)
	@echo "Installing. The first time, llama.cpp is compiled: a few minutes."
	CMAKE_ARGS="$(LEAN)" $(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--upgrade --upgrade-strategy only-if-needed --editable '.[llama,dev]' duckdb
	touch $(READY)

demo: export QMD_CONFIG_DIR := $(DEMO)/config
demo: export INDEX_PATH := $(DEMO)/index.duckdb
demo: export PATH := $(CURDIR)/$(BIN):$(PATH)
demo: $(INSTALLED)  ## index the notes in examples/ and search them
	@rm -rf $(DEMO)
	qmd collection add examples/notes --name notes
	qmd context add qmd://notes "Notes of a small firm that builds river gauges"
	qmd search "staff turnover" -n 1
	qmd search '"thundering herd"' -n 1
	qmd search retry_with_backoff -n 1
	qmd search 有馬温泉 -n 1
	qmd get notes/journal/2024-11-30.md -l 5
	qmd embed
	qmd vsearch "how do we keep people from quitting" -n 1
	qmd query "why did the gauges all reconnect at once" -n 2
	qmd status

help:  ## list the targets
	@awk -F ':[^#]*## ' '/^[a-z-]+:[^#]*## /{ printf "make %-11s  %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# Files in the order of tests/conftest.py, which begins with those that take longest. One process more than
# there are processors, since some tests wait for others.
WORKERS = $(shell $(BIN)/python -c 'import os; print(1 + (os.cpu_count() or 1))')
TESTS = -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

test: check  ## run lint, types and tests
	HYPOTHESIS_PROFILE=repeatable $(BIN)/python $(TESTS)

# Tests whose result depends on the version of DuckDB: those of statements, of what these read and
# write, of the sandbox, which reads syntax trees, and those with an extension as their oracle.
WITH_DUCKDB := tests/test_earlier_indexes.py tests/storage/test_statements.py tests/text/test_stems.py \
	tests/analytics tests/ranking/hybrid \
	$(addprefix tests/ranking/test_,added_segments.py bm25.py held_columns.py link_pages.py searches.py shortcut.py) \
	$(addprefix tests/ranking/test_,sidecar.py spelling.py) \
	$(addprefix tests/storage/test_,compaction.py keyword_values.py lookup.py maintenance.py) \
	$(addprefix tests/ingest/test_,index.py near_duplicates.py regrouping.py tables.py) \
	$(addprefix tests/exchange/test_,import.py round_trip.py) \
	$(addprefix tests/operations/test_,grep.py put.py)

oldest: $(OLDEST)/.ready  ## run the tests of what meets DuckDB on its oldest version
	HYPOTHESIS_PROFILE=oldest $(OLDEST)/bin/python $(TESTS) $(WITH_DUCKDB)

# What is installed here comes before the packages of `.venv`, of which qmd is one.
$(OLDEST)/.ready: $(READY)
	$(BIN)/python -m venv --clear --without-pip $(OLDEST)
	$(BIN)/python -m pip --python $(OLDEST)/bin/python install --quiet --disable-pip-version-check --group oldest
	$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
		> "$$($(OLDEST)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/venv.pth"
	touch $(OLDEST)/.ready

check: $(READY)  ## run lint and types
	$(BIN)/ruff check qmd tests bench tools examples/*.py
	$(BIN)/ruff format --check qmd tests bench tools examples/*.py
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory --jobs 2 types types-windows
	$(BIN)/mypy examples/*.py

types: $(READY)  ## check types
	$(BIN)/mypy

types-windows: $(READY)  ## check types as on Windows
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32

format: $(READY)  ## format the code and mend what lint can
	$(BIN)/ruff check --fix qmd tests bench tools examples/*.py
	$(BIN)/ruff format qmd tests bench tools examples/*.py

docs: $(READY)  ## write the pages and pictures that tools make
	$(BIN)/python -m tools.docs
	$(BIN)/python -m tools.commands
	$(BIN)/python -m tools.manual
	$(BIN)/python -m tools.picture
	$(BIN)/python -m tools.flows
	$(BIN)/python -m tools.recording

$(SITE)/.ready: pyproject.toml
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --group site
	touch $(SITE)/.ready

site: $(INSTALLED) $(SITE)/.ready  ## build the documentation as a site, build/site, and check its links
	$(BIN)/python -m tools.site $(SITE)/bin/zensical

bench: $(READY)  ## measure beside tobi/qmd and libraries, and as an index grows; writes docs/performance.md
	$(BIN)/python -m bench $(OPTIONS)

torture: $(READY)  ## kill, crowd, fill and spoil indexes; about an hour
	$(BIN)/python -m bench.torture $(OPTIONS)

# Without atheris, of which some systems have no wheel, the inputs are less clever.
fuzz: $(READY)  ## give every parser generated inputs; about an hour and a half
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: 'atheris>=3'
	$(BIN)/python -m bench.fuzz $(OPTIONS)

mutants: $(READY)  ## change the code in small ways, and count what the tests notice
	$(PYTHON) -m venv $(MUTANTS)
	$(MUTANTS)/bin/python -m pip install --quiet --disable-pip-version-check cosmic-ray==8.7.0
	$(MUTANTS)/bin/python -m tools.mutants $(BIN)/python $(OPTIONS)

clients: $(READY)  ## try the server with MCP clients of others
	mkdir -p $(CLIENTS)
	cp tests/surfaces/clients/package.json $(CLIENTS)
	npm install --prefix $(CLIENTS) --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error
	$(PYTHON) -m venv $(CLIENTS)/python-v1
	$(CLIENTS)/python-v1/bin/python -m pip install --quiet --disable-pip-version-check mcp==1.30.0
	QMD_CLIENTS=$(CLIENTS) $(BIN)/python -m pytest -rs tests/surfaces/clients tests/surfaces/mcp/test_mcp_clients.py

build: $(READY)  ## make the wheel in dist/
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

$(TOOLS)/.ready: pyproject.toml
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --group release
	touch $(TOOLS)/.ready

# pip refuses a file that has another hash, and a package that the lock does not name.
$(LOCKED)/.ready: requirements.lock
	$(PYTHON) -m venv --clear $(LOCKED)
	$(LOCKED)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes --requirement requirements.lock
	touch $(LOCKED)/.ready

# Other versions of Python that are at hand get the pure wheel.
OTHERS ?= $(wildcard $(HOME)/.pyenv/versions/3.13.*/bin/python)

wheel-trial: $(TOOLS)/.ready  ## build wheels, install them where nothing else is, and search as the README does
	$(TOOLS)/bin/python -m tools.wheel_trial $(OTHERS)

# Two files, since some extras need DuckDB 1.5.5. The second has what builds a wheel, too.
lock: $(TOOLS)/.ready  ## write both lock files; OPTIONS=--upgrade takes newer versions
	$(TOOLS)/bin/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --quiet \
		--custom-compile-command "make lock" --output-file requirements.lock $(OPTIONS)
	$(TOOLS)/bin/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --quiet --all-extras \
		--custom-compile-command "make lock" --output-file requirements-all.lock $(OPTIONS)

# --strict: a package that the service does not know fails, instead of counting as safe.
audit: $(TOOLS)/.ready  ## ask PyPI for known vulnerabilities of the locked packages
	$(TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements.lock $(OPTIONS)
	$(TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements-all.lock $(OPTIONS)

licences: $(TOOLS)/.ready $(LOCKED)/.ready  ## list licences of the locked packages; fail at a GPL or none
	$(TOOLS)/bin/pip-licenses --python $(LOCKED)/bin/python --order license --with-urls --partial-match \
		--fail-on "GPL;GNU General Public;GNU Lesser;GNU Affero;UNKNOWN" $(OPTIONS)

sbom: $(TOOLS)/.ready $(LOCKED)/.ready  ## write the bill of materials, dist/qmd.cdx.json
	mkdir -p dist
	$(TOOLS)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
		--output-format JSON --output-file dist/qmd.cdx.json $(LOCKED)/bin/python

clean:  ## remove the environment, the demo and what was built
	rm -rf $(VENV) $(OLDEST) $(LOCKED) $(DEMO) dist build
