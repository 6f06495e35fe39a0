# make demo   makes the environment, indexes the notes in examples/ and searches them
# make test   makes the environment and runs lint, types and tests
# make docs   writes the pages and pictures that are made by tools
# make bench  measures beside tobi/qmd and as an index grows, and writes docs/performance.md
# make torture  kills, crowds, fills and spoils indexes for about an hour; see bench/README.md
# make fuzz   gives what reads people, files and clients inputs nobody thought of: about an hour
# make mutants  changes the code in small ways and counts what the tests notice; see bench/README.md
# make clients  tries the server with clients of others; see docs/server.md

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# llama.cpp without its tools, server and multimodal parts: less than half of the compiling.
# pip keeps the wheel it made, so that this is done once on a machine.
LEAN := -DLLAVA_BUILD=OFF -DCMAKE_PROJECT_llama_cpp_INCLUDE=$(CURDIR)/tools/lean.cmake

DEMO := $(CURDIR)/.demo

# Packages of Node.js and of Python that only tests/clients needs.
CLIENTS ?= $(HOME)/.cache/qmd-clients

# An environment with cosmic-ray, which only tools/mutants.py needs.
MUTANTS ?= $(HOME)/.cache/qmd-mutants

.PHONY: demo test check format docs bench torture fuzz mutants clients build clean

$(READY): pyproject.toml tools/compiling.py $(wildcard qmd/compiled/*.p*)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@echo "Installing. The first time, llama.cpp is compiled: a few minutes."
	CMAKE_ARGS="$(LEAN)" $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[llama,dev]'
	touch $(READY)

demo: export QMD_CONFIG_DIR := $(DEMO)/config
demo: export INDEX_PATH := $(DEMO)/index.duckdb
demo: export PATH := $(CURDIR)/$(BIN):$(PATH)
demo: $(READY)
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

test: check
	$(BIN)/python -m pytest

check: $(READY)
	$(BIN)/ruff check qmd tests bench tools examples/*.py
	$(BIN)/ruff format --check qmd tests bench tools examples/*.py
	$(BIN)/mypy
	$(BIN)/mypy examples/*.py

format: $(READY)
	$(BIN)/ruff check --fix qmd tests bench tools examples/*.py
	$(BIN)/ruff format qmd tests bench tools examples/*.py

docs: $(READY)
	$(BIN)/python -m tools.docs
	$(BIN)/python -m tools.commands
	$(BIN)/python -m tools.picture
	$(BIN)/python -m tools.recording

bench: $(READY)
	$(BIN)/python -m bench $(OPTIONS)

torture: $(READY)
	$(BIN)/python -m bench.torture $(OPTIONS)

# Without atheris, of which some systems have no wheel, the inputs are less clever.
fuzz: $(READY)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: 'atheris>=3'
	$(BIN)/python -m bench.fuzz $(OPTIONS)

mutants: $(READY)
	$(PYTHON) -m venv $(MUTANTS)
	$(MUTANTS)/bin/python -m pip install --quiet --disable-pip-version-check cosmic-ray==8.7.0
	$(MUTANTS)/bin/python -m tools.mutants $(BIN)/python $(OPTIONS)

clients: $(READY)
	mkdir -p $(CLIENTS)
	cp tests/clients/package.json $(CLIENTS)
	npm install --prefix $(CLIENTS) --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error
	$(PYTHON) -m venv $(CLIENTS)/python-v1
	$(CLIENTS)/python-v1/bin/python -m pip install --quiet --disable-pip-version-check mcp==1.30.0
	QMD_CLIENTS=$(CLIENTS) $(BIN)/python -m pytest -rs tests/clients tests/surface/test_mcp_clients.py

build: $(READY)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) $(DEMO) dist build
