# make demo and make test each work as the first command in a fresh clone.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: install demo test slow check format bench clean

install: $(READY)

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $(READY)

demo: $(READY)
	$(BIN)/linkwise demo --out demo

# One process a core; each keeps BLAS to one thread, so that the processes do not compete.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

test: $(READY)
	$(PYTEST) -m "not slow"

# kills, large inputs, whole benchmarks: some minutes more
slow: $(READY)
	$(PYTEST) -m slow

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST)

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# make bench DATA=DIR, a folder with the data sets as NAME.npz
bench: $(READY)
	$(BIN)/python -m benchmarks speed --quick --out bench $(if $(DATA),--data $(DATA))
	$(BIN)/python -m benchmarks size
	$(BIN)/python -m benchmarks hard $(if $(DATA),--data $(DATA))
	$(BIN)/python -m benchmarks agreement $(if $(DATA),--data $(DATA))

clean:
	rm -rf .venv demo bench .pytest_cache .mypy_cache .ruff_cache .hypothesis
