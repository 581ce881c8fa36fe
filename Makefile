# Two commands matter: `make demo` and `make test`. Every target makes what it needs in .venv;
# a machine needs git, make, Python 3.10 or newer and a C++ compiler, nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
NATIVE := $(wildcard native/src/*.cpp native/include/kernelwood/*.hpp)
CORE_STUB := src/kernelwood/_core.pyi

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all test-oldest lint types contracts check-stubs unit mutants fuzz \
	sanitize bench bench-all papers docs develop format stubs wheel sdist release-check lock audit clean

help:
	@echo "make demo      learn relations, find some in a new text, write a report"
	@echo "make test      everything that must hold: lint, types, contracts, tests"
	@echo "make test-all  make test, with slow tests and more random examples"
	@echo "make test-oldest  some tests with the lowest versions of requirements (Python 3.10, 3.11)"
	@echo "make mutants   change lines at random, list changes that no test notices"
	@echo "make fuzz      crafted models, files, folders and requests (MINUTES=10 SEED=0)"
	@echo "make sanitize  tests of the native core and crafted models with ASan and UBSan"
	@echo "make bench     measure kernelwood beside other programs (KELP= SVM_LIGHT_TK= STORE= BENCH=)"
	@echo "make bench-all  measure kernels, readers, parsers and services, on the research data"
	@echo "make papers    repeat the published tables and write docs/results.md (hours)"
	@echo "make docs      build the documentation into docs/_build/html (GALLERY= leaves out the gallery)"
	@echo "make develop   the package and all tools in $(VENV)"
	@echo "make format    rewrite Python and C++ in the house style"
	@echo "make stubs     write $(CORE_STUB) from the compiled core"
	@echo "make wheel     build a wheel into dist (make sdist: source too)"
	@echo "make release-check  build sdist and wheel, check them, install and run them elsewhere"
	@echo "make lock      pin all dependencies with hashes (make audit: known vulnerabilities)"
	@echo "make clean     remove everything that make made"

demo: $(VENV)/.package
	@$(BIN)/kernelwood demo

test: lint types contracts check-stubs unit

test-all: SLOW := --slow
test-all: $(VENV)/.slow test

# The lowest versions that pyproject.toml allows (requirements/oldest.txt), in an environment of their
# own. The first NumPy among them has wheels up to Python 3.11: make PYTHON=python3.10 test-oldest
OLDEST := build/oldest
OLDEST_TESTS ?= $(addprefix tests/, test_deprecation.py test_spacy_component.py \
	cli/test_app.py cli/test_console.py cli/test_demo.py cli/test_doctor.py entities/test_tagger.py \
	features/test_every_index.py features/test_nystrom.py io/test_every_format.py \
	io/test_parquet.py kernels/test_every_kernel.py kernels/test_scikit_learn.py \
	learners/test_every_learner.py persist/test_estimators.py persist/test_golden.py \
	relations/test_end_to_end.py relations/test_report.py scale/test_cluster.py web/test_service.py)
test-oldest: $(VENV)/.package $(VENV)/.release
	@$(BIN)/python -c 'import sys; sys.version_info < (3, 12) or sys.exit(\
	"the lowest versions need Python 3.10 or 3.11; try make VENV=.venv-oldest PYTHON=python3.10 $@")'
	@rm -rf $(OLDEST)
	$(PIP) wheel --no-build-isolation --no-deps --wheel-dir $(OLDEST)/wheel .
	$(BIN)/python -m venv $(OLDEST)
	$(BIN)/uv pip install --quiet --python $(OLDEST) --require-hashes -r requirements/oldest.txt
	$(BIN)/uv pip install --quiet --python $(OLDEST) --no-deps $(OLDEST)/wheel/*.whl
	$(OLDEST)/bin/python -m pytest -q -n auto --dist worksteal -p no:cacheprovider $(OLDEST_TESTS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell *.md *.cff *.toml src native tests benchmarks docs examples tools fuzz packaging
	$(BIN)/clang-format --dry-run -Werror $(NATIVE)

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports --no-cache

check-stubs: $(VENV)/.dev
	$(BIN)/python tools/stubs.py --check $(CORE_STUB)

unit: $(VENV)/.dev $(VENV)/.peers
	@$(BIN)/python tools/browser.py
	$(BIN)/python -m pytest -q -n auto --dist worksteal $(SLOW)

# Options: make mutants MUTANTS="--n 100 --seed 7 --package relations"
mutants: $(VENV)/.dev $(VENV)/.peers
	$(BIN)/python tools/mutants.py $(MUTANTS)

MINUTES ?= 10
SEED ?= 0
# Options: make fuzz MINUTES=60 SEED=7 FUZZ="--only model --store findings"
fuzz: $(VENV)/.dev
	$(BIN)/python -W ignore -m fuzz --minutes $(MINUTES) --seed $(SEED) $(FUZZ)

# Builds a core of its own; the one in $(VENV) stays. Then tests, and crafted models, 150 of each of
# 69 classes. Parts: make sanitize TESTS="tests/kernels -k soft" MODELS=10
MODELS ?= 150
sanitize: $(VENV)/.dev
	@rm -rf build/sanitize
	$(PIP) wheel --no-build-isolation --no-deps --wheel-dir build/sanitize \
		-Cbuild-dir=build/sanitize/core -Ccmake.define.KERNELWOOD_SANITIZE=ON \
		-Ccmake.build-type=None -Cinstall.strip=false .
	$(BIN)/python tools/sanitize.py build/sanitize/*.whl tests $(TESTS)
	$(BIN)/python tools/sanitize.py build/sanitize/*.whl fuzz --only model --inputs $(MODELS) \
		--seed $(SEED)

# One table, of what is installed. Other programs: make bench KELP=JAR[:JAR...]
# SVM_LIGHT_TK=.../svm_classify. A history: STORE=FILE. Options: BENCH="--only sst --repeats 9"
bench: $(VENV)/.bench $(VENV)/.peers
	@$(BIN)/python benchmarks/peers.py $(if $(KELP),--kelp '$(KELP)') \
		$(if $(SVM_LIGHT_TK),--svm-light-tk '$(SVM_LIGHT_TK)') $(if $(STORE),--store '$(STORE)') $(BENCH)

bench-all: $(VENV)/.package
	$(BIN)/python benchmarks/exact_kernels.py
	$(BIN)/python benchmarks/soft_kernels.py
	$(BIN)/python benchmarks/forest_kernels.py
	$(BIN)/python benchmarks/graph_kernels.py
	$(BIN)/python benchmarks/single_calls.py
	$(BIN)/python benchmarks/hashing.py
	$(BIN)/python benchmarks/embeddings.py --parts speed
	$(BIN)/python benchmarks/clustering.py
	$(BIN)/python benchmarks/searching.py
	$(BIN)/python benchmarks/information.py
	$(BIN)/python benchmarks/gates.py --quick
	$(BIN)/python benchmarks/references.py --parts speed
	$(BIN)/python benchmarks/parsing.py
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/splitting.py
	$(BIN)/python benchmarks/dictionary.py
	$(BIN)/python benchmarks/support_vectors.py --sizes 5000 10000
	$(BIN)/python benchmarks/extraction.py
	$(BIN)/python benchmarks/evidence.py
	$(BIN)/python benchmarks/streaming.py
	$(BIN)/python benchmarks/serving.py
	$(BIN)/python benchmarks/vectors.py

# Resumes after an interruption. Options: make papers PAPERS="--only ppi --data corpora"
papers: $(VENV)/.dev
	$(BIN)/python benchmarks/papers/run.py $(PAPERS)

# Without running the gallery, and without checks in a browser: make docs GALLERY=
GALLERY ?= run
docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -q $(if $(GALLERY),,-D plot_gallery=0) -b html docs docs/_build/html
	$(BIN)/python tools/check_site.py docs/_build/html $(if $(GALLERY),--axe)
	@echo "docs/_build/html/index.html"

develop: $(VENV)/.dev $(VENV)/.docs

format: $(VENV)/.dev
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

stubs: $(VENV)/.dev
	$(BIN)/python tools/stubs.py $(CORE_STUB)

wheel: $(VENV)/.build
	$(PIP) wheel --no-build-isolation --no-deps --wheel-dir dist .

sdist: $(VENV)/.build $(VENV)/.release
	$(BIN)/python -m build --no-isolation --outdir dist

# The wheel is built from the sdist, which so proves to be complete.
release-check: $(VENV)/.build $(VENV)/.release
	@rm -rf build/release
	$(BIN)/python -m build --no-isolation --outdir build/release
	$(BIN)/python tools/release_check.py build/release

# Pins what pyproject.toml asks for, with hashes. Newest versions: make lock LOCK=--upgrade
lock: $(VENV)/.release
	$(BIN)/python tools/lock.py $(LOCK)

# Vulnerabilities that are known of pinned versions; fails if one cannot be looked up.
audit: $(VENV)/.release
	$(BIN)/pip-audit --strict --disable-pip --require-hashes --requirement requirements/ci.txt

clean:
	rm -rf $(VENV) build dist docs/_build docs/api docs/commands.md docs/gallery .mypy_cache .ruff_cache \
		.pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks tools examples fuzz -name __pycache__ -prune -exec rm -rf {} +

# The environment, the package in it, and the tools on top. A stamp older than what it was made
# from is made again, so a change to the native core is compiled before anything runs.

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 10) or sys.exit(\
	"kernelwood needs Python 3.10 or newer, this is " + sys.version.split()[0] + "; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

# What is installed is in requirements/ci.txt, by version and hash; also the tools that build the
# package, which is why it is built without isolation.
install_pinned = $(BIN)/python tools/requirements.py $(1) > $@.txt && \
	$(PIP) install --require-hashes --requirement $@.txt

# The tools that compile the core, and those of releases, which do without the package.
$(VENV)/.build $(VENV)/.release: $(VENV)/.%: requirements/ci.txt | $(VENV)/.created
	@$(call install_pinned,$*)
	@touch $@

# Editable: a change to Python code needs no installation. Built from nothing, since the cache of
# CMake may hold paths that are gone.
$(VENV)/.package: pyproject.toml CMakeLists.txt native/hardening.cmake $(NATIVE) $(VENV)/.build
	@echo "compiling the native core and installing kernelwood into $(VENV) (about a minute)"
	@rm -rf build
	@$(call install_pinned,base)
	@$(PIP) install --no-build-isolation --no-deps --editable .
	@touch $@

# Tools by extra: dev, docs, slow, bench.
$(addprefix $(VENV)/., dev docs slow bench): $(VENV)/.%: pyproject.toml requirements/ci.txt | $(VENV)/.package
	@echo "installing the $* tools into $(VENV)"
	@$(call install_pinned,$*)
	@touch $@

# The pipeline that tests of spaCy parse with, and what files are checked by, as published, to the byte.
$(VENV)/.peers: requirements/peers.txt | $(VENV)/.package
	@echo "installing data for comparisons into $(VENV)"
	@$(PIP) install --no-deps --requirement $<
	@touch $@
