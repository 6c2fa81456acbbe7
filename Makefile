# make demo and make test each work as the first command in a fresh clone.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: install demo docs test slow gates oldest newest check format bench clean

install: $(READY)

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $(READY)

demo: $(READY)
	$(BIN)/linkwise demo --out demo

# the site in build/site, without the internet; every example is run, and warnings are errors
docs: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs build/site

# One process a core; each keeps BLAS to one thread, so that the processes do not compete.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

test: $(READY)
	$(PYTEST) -m "not slow"

# kills, large inputs, whole benchmarks: some minutes more
slow: $(READY)
	$(PYTEST) -m slow

# what docs/reliability.md promises; its figures are those of the sizes named there
PROBLEMS ?= 500
gates: $(READY)
	$(PYTEST) tests/test_gates.py tests/test_faults.py tests/test_interrupted_fits.py \
	  tests/test_header_matrix.py tests/test_power_loss.py tests/test_journal_killed.py \
	  tests/test_app_killed.py tests/test_segment_killed.py tests/test_terminal_killed.py \
	  tests/test_two_writers.py tests/test_soak.py tests/test_kept_files.py tests/test_journal.py
	LINKWISE_FUZZ=10000 $(PYTEST) tests/test_app.py -k nothing_breaks
	$(BIN)/python -m benchmarks fuzz --problems $(PROBLEMS) --jobs 2

# what versions of other libraries may change: every estimator, file format and command, the server
# of the page, and the examples; make oldest TESTS=tests runs all
TESTS ?= tests/test_gates.py tests/test_faults.py tests/test_kept_files.py tests/test_saving.py \
  tests/test_tables.py tests/constraints tests/test_segment_files.py tests/test_cli.py \
  tests/test_journal.py tests/test_app.py src

oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
	  --constraint tests/oldest.txt --editable ".[io,test]"
	$(subst $(BIN),.venv-oldest/bin,$(PYTEST)) -m "not slow" $(TESTS)

# make newest PYTHON=python3.14, or whichever Python is the newest
newest:
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python -m pip install --quiet --disable-pip-version-check \
	  --upgrade --editable ".[io,test]"
	$(subst $(BIN),.venv-newest/bin,$(PYTEST)) -m "not slow" $(TESTS)

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
	rm -rf .venv .venv-oldest .venv-newest demo bench build docs/api docs/gallery docs/methods docs/tutorials .pytest_cache .mypy_cache .ruff_cache .hypothesis
