# gpugraph: `make help` lists the targets.
PYTHON ?= python3

help:        ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 15

install:     ## the package, its tests' and its linters' needs, editable
	$(PYTHON) -m pip install -e . --group test --group lint

lint:        ## ruff, mypy, strict on the package, hadolint for the Dockerfile, actionlint for the workflows if it is there
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	"$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("scripts"))')/hadolint" Dockerfile
	@if command -v actionlint >/dev/null; then actionlint; else echo "actionlint is not installed: .github is not linted"; fi

docs:        ## the site of the documentation, into build/site; warnings are errors
	$(PYTHON) -m sphinx -q -E -W --keep-going -b html docs build/site

format:      ## let ruff put the code in order
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

TESTED = $(PYTHON) -m pytest -n auto --dist worksteal -m 'not gpu and not thorough

test:        ## the tests that need no GPU: every algorithm as it is by default, every format, page and command (ten minutes on two cores)
	$(TESTED) and not extended'

test-rest:   ## those that `make test` leaves out, and its properties with all of their samples
	GPUGRAPH_TESTS=all $(TESTED) and (extended or drawn)'

test-all:    ## both: variants, sanitized kernels, samples of NVRTC's, all samples of every property
	GPUGRAPH_TESTS=all $(TESTED)'

thorough:    ## more of the same: every variant under many schedules, the whole zoo on up to five ranks
	$(PYTHON) -m pytest -m 'thorough and not gpu' -n auto --dist worksteal

hostile:     ## damaged, killed, full and closed by the thousand, on all cores (half an hour to an hour on two); docs/hostile.md
	$(PYTHON) -m tests.hostile

selftest:    ## does compare tell noise from change on this machine? needs a GPU, some minutes
	$(PYTHON) -m gpugraph bench --sweep selftest --runs 21 --save selftest.jsonl

test-gpu:    ## the tests that need a GPU
	$(PYTHON) -m pytest -m gpu

matrix:      ## every kernel, every define set, every architecture, within its budget of registers (half an hour)
	$(PYTHON) -m tests.devices.compile_matrix
	$(MAKE) matrix-volta

matrix-volta: ## of that what CUDA 12 alone compiles, with its compiler in an environment of its own
	$(PYTHON) -m venv build/cuda12
	build/cuda12/bin/python -m pip install -q . 'cuda-bindings==12.*' 'nvidia-cuda-nvrtc-cu12==12.*'
	build/cuda12/bin/python -m tests.devices.compile_matrix --arch sm_70

# The device's library of Debian 12 does not know gfx1100; what is compiled is not linked, so none is needed.
HIP = clang++-19 -x hip --offload-arch=gfx1100 --cuda-device-only -nogpulib -std=c++17 -O1 -S -o /dev/null \
  -D__HIP_PLATFORM_AMD__ -include tests/devices/hip_shim.h -Icuda_kernels

matrix-amd:  ## do the kernels compile for an AMD GPU of 32 lanes?  needs Debian's clang-19 and libamdhip64-dev; nothing runs
	@if ! command -v clang++-19 >/dev/null || ! [ -e /usr/include/hip/hip_runtime.h ]; then \
	  echo "skipped: clang-19 or libamdhip64-dev is not installed"; exit 0; fi; \
	for kernel in cuda_kernels/*.cu; do $(HIP) $$kernel || exit 1; done; \
	echo "$$(ls cuda_kernels/*.cu | wc -l) files compile for gfx1100"

budget:      ## measure anew the registers that each kernel may use
	$(PYTHON) -m tests.devices.compile_matrix --write

pictures:    ## the README's: a chart of stored records, light and dark, and a terminal
	$(PYTHON) docs/pictures/bars.py docs/pictures/competitors-light.svg
	$(PYTHON) docs/pictures/bars.py docs/pictures/competitors-dark.svg --dark
	$(PYTHON) docs/pictures/cast.py docs/pictures/terminal.svg $(TERMINAL)

RECORDS = $(wildcard docs/records/*)
EXAMPLE = $(foreach name,mst-h200 sssp-h200 components-h200 cpu-cpu16,docs/records/figures-$(name).jsonl)

pages:       ## the documentation's pages that are made of stored records, and the example report
	for page in papers when performance/measurements results graph500; do \
	  $(PYTHON) -m gpugraph report $(RECORDS) --template docs/$$page.md.j2 -o docs/$$page.md || exit 1; done
	$(PYTHON) -m gpugraph report $(EXAMPLE) -o docs/example_report.html

TERMINAL = 'gpugraph mst rmat:12 --algo boruvka,kruskal@cpu --peer scipy --target 5%'

prebuilt:    ## compile the kernels of ordinary commands, for the next wheel to bring: a release needs it (half an hour)
	$(PYTHON) -m gpugraph.ext.builds.kernels
	$(MAKE) prebuilt-cpu

prebuilt-cpu: ## compile the CPU code of ordinary commands for the wheel, for this Python alone: PYTHON=python3.12 and so on (2 min)
	$(PYTHON) -m gpugraph.ext.builds.cpu_code

check-records: ## what a stranger's record must satisfy, asked of ours: docs/submit.md
	$(PYTHON) -m gpugraph check-record --edges 0 docs/records/*

lock:        ## write the versions of a development environment that passes the tests on this Python
	$(PYTHON) -m pip install -q uv
	$(PYTHON) -m uv pip compile -q --generate-hashes --no-header --no-annotate --no-emit-index-url --python-version 3.12 --universal \
	  --group test --group lint --group docs pyproject.toml -o requirements-dev.txt

dist:        ## sdist and wheel, into dist/
	$(PYTHON) -m pip install -q build
	$(PYTHON) -m build -o dist .

release-check: ## build sdist and wheel, install each in an empty environment, run the README's commands outside the tree
	$(PYTHON) .ci/release_check.py

wheel:       ## build the wheel into dist/
	$(PYTHON) -m pip wheel --no-deps -w dist .

.PHONY: help install lint docs format test test-rest test-all thorough hostile selftest test-gpu matrix matrix-volta matrix-amd budget pictures
.PHONY: prebuilt prebuilt-cpu check-records lock release-check wheel
