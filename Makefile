# The checkout's entrance. Each target makes ready what it needs on a fresh Debian, Ubuntu or macOS machine.
# On Windows use: pip install . ; aglab lab
.PHONY: setup lab demo test lint unit test-clients test-docker test-classroom soak verify-live nbval book browser notebooks bench calibrate ablation evidence clean
PY := .venv/bin/python
AGLAB := .venv/bin/aglab

setup:
	@scripts/bootstrap.sh test

lab: _build/html/index.html
	@$(AGLAB) lab

demo:
	@scripts/bootstrap.sh lab
	@$(AGLAB) demo

# What a developer runs before every push; .ci/run runs this and the longer tiers.
test:
	@scripts/bootstrap.sh test
	@$(MAKE) --no-print-directory lint unit nbval browser

lint:
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports --no-cache

# A file of tests stays on one processor: its fixtures are shared.
unit:
	$(PY) -m pytest -n auto --dist loadfile tests -m "not slow and not browser and not docker and not clients and not classroom"

# Clients in other languages (Go, Java, Node, Rust), each where its toolchain is installed; the first run downloads them.
test-clients:
	@scripts/bootstrap.sh test
	$(PY) -m pytest tests/clients -m clients -rs

# Schedules, laws and hostile bytes far beyond what CI tries. A failing seed is printed and replays: AGLAB_AG_SEED=n, AGLAB_TDS_SEED=n.
soak:
	@scripts/bootstrap.sh test
	AGLAB_AG_SCHEDULES=$${AGLAB_AG_SCHEDULES:-10000} AGLAB_TDS_SCHEDULES=$${AGLAB_TDS_SCHEDULES:-1000} \
	AGLAB_FUZZ_EXAMPLES=$${AGLAB_FUZZ_EXAMPLES:-20000} AGLAB_LAW_EXAMPLES=$${AGLAB_LAW_EXAMPLES:-1000} \
	$(PY) -m pytest tests/property tests/wire/test_wire_fuzz.py tests/tsql/test_text_fuzz.py --timeout=28800
	@if $(PY) -c "import atheris" 2>/dev/null; then for what in wire text; do \
	  $(PY) tests/fuzz/guided.py $$what --seconds $${AGLAB_GUIDED_SECONDS:-3600} || exit 1; done; \
	else echo "guided fuzzing left out: $(PY) -m pip install atheris (Linux, macOS) brings it"; fi
	$(PY) -m pytest tests/clients -m clients -rs

# Containers on a real Docker Engine, with the twin as the node image. As root on Debian it brings engine and Compose itself.
test-docker:
	@scripts/bootstrap.sh test
	@scripts/docker_round.sh

# Three seats of a local JupyterHub at once, each with a private twin; needs node and npm, and downloads the hub.
test-classroom:
	@scripts/bootstrap.sh test
	$(PY) -m pytest tests/unit/test_classroom.py -m classroom -rs

# The same containers with real SQL Server images, for whoever has them: ACCEPT_EULA=Y make verify-live
# NOTEBOOKS=all runs the book's notebooks there too, NOTEBOOKS="03_workloads ..." some of them.
verify-live:
	@scripts/bootstrap.sh test
	@$(PY) scripts/verify_live.py $(if $(NOTEBOOKS),--notebooks $(filter-out all,$(NOTEBOOKS)))

nbval:
	$(PY) -m pytest -n auto --dist loadfile --nbval --nbval-cell-timeout=120 -p no:cacheprovider notebooks

# The slow one, a chapter in a real JupyterLab, is a tier of its own in .ci/run.
browser: book
	$(PY) -m pytest -n auto --dist load tests/browser -m "browser and not slow"

book:
	@scripts/bootstrap.sh book
	.venv/bin/jupyter-book build . -W -n --keep-going --quiet

_build/html/index.html:
	@$(MAKE) --no-print-directory book

# Runs every notebook again and keeps its outputs: read the diff before committing.
notebooks:
	@scripts/bootstrap.sh test
	$(PY) scripts/run_notebooks.py

bench:
	@scripts/bootstrap.sh test
	@$(AGLAB) bench

# Sixteen fits of fifteen constants; the best is kept. Ten minutes on two idle processors.
calibrate:
	@scripts/bootstrap.sh test
	$(PY) -m aglab.published.calibrate

# What breaks when a mechanism is taken out of the model: five minutes. A test says when the table is stale.
ablation:
	@scripts/bootstrap.sh test
	$(PY) -m aglab.published.ablation

# Profile likelihoods, tables left out, intervals: after a change that moves the engine's numbers. Five minutes.
evidence:
	@scripts/bootstrap.sh test
	$(PY) -m aglab.published.evidence

clean:
	rm -rf _build .pytest_cache .ruff_cache .mypy_cache .hypothesis dist build
