# The commands of this project. `make help` lists them; the work is done in packaging/.
PYTHON ?= python3
TORCH ?=
ARGS ?=
BIN := .venv/bin
PREPARE = $(PYTHON) packaging/prepare.py $(1) $(if $(TORCH),--torch $(TORCH))

.PHONY: help setup run test lint types bench package
.DEFAULT_GOAL := help

help:  ## list these commands
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' $(MAKEFILE_LIST) | expand -t 18

setup:  ## make .venv with the tested packages (TORCH=cpu or TORCH=cuda picks the PyTorch build)
	@$(call PREPARE,run)

run:  ## open the window (ARGS="open FILE" and the like are passed on)
	@$(call PREPARE,run)
	@exec $(BIN)/glossbench $(ARGS)

test:  ## the whole suite, without a display (ARGS="-k word" and the like are passed to pytest)
	@$(call PREPARE,dev)
	@QT_QPA_PLATFORM=offscreen PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal --durations=10 $(ARGS)

lint: types  ## style and types
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types:  ## types
	@$(call PREPARE,dev)
	@$(BIN)/mypy

bench:  ## print the measured targets (minutes; ARGS="--documents 1,000,000", ARGS="size startup")
	@$(call PREPARE,dev)
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python tests/benchmarks/run.py $(ARGS)

package:  ## build the wheel into dist/
	@$(call PREPARE,dev)
	@$(BIN)/python packaging/build_wheel.py dist
