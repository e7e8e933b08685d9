# One line per target; everything works from a clean clone. Without make: `python3 bootstrap.py && .venv/bin/svc run`.
.PHONY: run run-two test test-quick test-all test-without-material check check-web attack bench soak contracts lock .venv/.ok

# Tests start hundreds of processes. Without compiled modules, each one would recompile Dagster.
unexport PYTHONDONTWRITEBYTECODE

run: .venv/.ok
	.venv/bin/svc run

run-two: .venv/.ok
	.venv/bin/python tests/run_two.py

test: .venv/.ok
	.venv/bin/python -m pytest --numprocesses=auto --dist=loadfile --no-loadscope-reorder

test-quick: .venv/.ok
	.venv/bin/python -m pytest --quick --numprocesses=2 --dist=loadfile $$(.venv/bin/python tests/changed.py)

test-all: .venv/.ok
	.venv/bin/python -m pytest -m "web or not web" --numprocesses=auto --dist=loadfile --no-loadscope-reorder

# A bare clone lacks the recorded material: tests that need it skip, and all others in the same files must pass.
test-without-material: .venv/.ok
	RECORDED_MATERIAL=none .venv/bin/python -m pytest --quick $$(grep -rl recorded_material tests --include='test_*.py')

check-web: .venv/.ok
	PICTURES=all .venv/bin/python -m pytest -m web --numprocesses=auto --dist=loadfile

# Test helpers are checked under the bare names by which tests import them, because mypy refuses a file with two names.
TYPED = guardrail contracts warehouse pipelines api cli benchmarks svc_client tests
HELPERS = $(filter-out test_%,$(notdir $(basename $(wildcard tests/*.py))))
# Checked as files: given the module name `docs.pictures`, mypy would find the folder.
SCRIPTS = bootstrap.py clients/generate.py docs/pictures.py

check: .venv/.ok
	.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy $(TYPED:%=-p %) $(HELPERS:%=-m %) && .venv/bin/mypy $(SCRIPTS) && .venv/bin/lint-imports --no-cache

attack: .venv/.ok
	.venv/bin/python -m tests.attacks

bench: .venv/.ok
	.venv/bin/svc bench

soak: .venv/.ok
	TEST_ROUNDS=5 $(MAKE) test-all && .venv/bin/python tests/soak_ingest.py && .venv/bin/python tests/soak_publish.py && .venv/bin/python tests/soak_claims.py && .venv/bin/python tests/soak_service_kills.py

contracts: .venv/.ok
	.venv/bin/python -m cli.demo.compile && .venv/bin/python -m warehouse.publish.lineage && .venv/bin/python -m api.openapi && .venv/bin/python tests/record_examples.py && .venv/bin/python clients/generate.py && .venv/bin/python -m cli.env_example && .venv/bin/python docs/pictures.py

lock: .venv/.ok
	uv lock && uv export --quiet --format requirements-txt --all-extras --no-emit-project --no-header --no-annotate --output-file requirements.lock && rm uv.lock

.venv/.ok:
	@python3 bootstrap.py
