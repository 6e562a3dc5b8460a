# The front door. Everything real is in CMakePresets.json, CMakeLists.txt and scripts/.

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 600
# Debian's own interpreter first: that is the one python3-numpy and python3-sklearn belong to.
PYTHON := $(firstword $(wildcard /usr/bin/python3) python3)
# Debian's pip installs for the whole system only if it is told twice.
PIP := $(if $(VIRTUAL_ENV),$(VIRTUAL_ENV)/bin/python -m pip,PIP_BREAK_SYSTEM_PACKAGES=1 $(PYTHON) -m pip)
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := build
.PHONY: build demo test sanitize lab-test check format tsan coverage bench bench-quick bench-tables bench-uci bench-mnist bench-images bench-python \
        paper-tables experiments fuzz site cuda bench-gpu check-oss-fuzz js wheel install-python install uninstall \
        dist deb check-deb check-container sbom check-reproducible setup clean help

build: ## the optimised tool and libraries, in build/release
	@command -v cmake >/dev/null || { echo "make: cmake is missing; run scripts/setup --runtime first"; exit 1; }
	@cmake --preset release
	@cmake --build --preset release -j $(JOBS) --target product

demo: ## install what is missing, build, and run the demonstration
	@scripts/setup --runtime
	@$(MAKE) build
	@build/release/broad demo

test: ## install what is missing, build with warnings as errors, and run all test suites
	@scripts/setup
	@scripts/run_tests -j $(JOBS) dev

sanitize: ## the test suites under the address and undefined-behaviour sanitizers
	@scripts/setup
	@scripts/run_tests -j $(JOBS) asan

lab-test: ## the short form of benchmarks, experiments and fuzz targets; the guards on planted faults
	@scripts/setup
	@scripts/setup --bench
	@scripts/setup --browser
	@scripts/setup --js
	@scripts/run_tests -j $(JOBS) lab

check: ## format, lint, include order, headers, symbols, words, scripts
	@scripts/setup
	@scripts/run_checks -j $(JOBS)

format: ## put every source file into the house format
	@scripts/check_format --fix

tsan: ## the test suites under the thread sanitizer
	@scripts/setup
	@scripts/run_tests -j $(JOBS) tsan

coverage: ## docs/coverage.md's figures: which lines and branches the test suites run, in build/coverage/coverage.txt and .json
	@scripts/setup
	@scripts/run_tests -j $(JOBS) coverage
	@scripts/coverage build/coverage --json build/coverage/coverage.json

bench: ## docs/benchmarks.md's figures against numpy, scikit-learn, pandas: make bench [ONLY=LIST RUNS=N QUICK=1]
	@scripts/setup --bench
	@cmake --preset bench
	@cmake --build --preset bench -j $(JOBS)
	@$(PYTHON) scripts/run_bench --json build/bench.json $(if $(ONLY),--only "$(ONLY)") $(if $(RUNS),--runs $(RUNS)) \
	    $(if $(THREADS),--threads $(THREADS)) $(if $(QUICK),--quick)

bench-quick: ## the same on less data, in under a minute
	@$(MAKE) bench QUICK=1

experiments: ## docs/experiments.md's, all or one: make experiments [ONLY=NAMES DATA=FOLDER TABLES=FOLDER GIVEN=FOLDER RIVALS=FILES ADD=FOLDER QUICK=1]
	@scripts/setup --bench
	@$(MAKE) build
	@$(PYTHON) lab/run_experiments $(ONLY) $(if $(DATA),--data "$(DATA)") $(if $(TABLES),--tables "$(TABLES)") \
	    $(if $(GIVEN),--given "$(GIVEN)") $(foreach file,$(RIVALS),--rivals "$(file)") \
	    $(if $(OUT),--results "$(OUT)") $(if $(ADD),--add "$(ADD)") \
	    $(if $(THREADS),--threads $(THREADS)) $(if $(QUICK),--quick)

paper-tables: ## the paper's tables 4 to 6: make experiments ONLY=increments [DATA=FOLDER TABLES=FILE.csv]
	@$(MAKE) experiments ONLY=increments

bench-tables: ## docs/tables.md's figures, on a folder of CSV tables: make bench-tables DATA=FOLDER [SPLITS= ROWS= THREADS= METHODS= OUT=]
	@test -n "$(DATA)" || { echo "make: say where the tables are: make bench-tables DATA=FOLDER"; exit 1; }
	@scripts/setup --bench
	@$(MAKE) build
	@$(PYTHON) scripts/bench_tables "$(DATA)" --results "$(or $(OUT),build/bench-tables.lines)" \
	    --json build/bench-tables.json $(if $(METHODS),--methods "$(METHODS)") $(if $(SPLITS),--splits $(SPLITS)) \
	    $(if $(ROWS),--rows $(ROWS)) $(if $(THREADS),--threads $(THREADS))

bench-uci: ## tables with given splits, and others, against many methods: make bench-uci DATA=FOLDER [TABLES= BEFORE= SPLITS= OWN_SPLITS= ALONE_SPLITS= CELLS= ROWS= THREADS= METHODS= STORED= OUT=]
	@test -n "$(DATA)" || { echo "make: say where the tables are: make bench-uci DATA=FOLDER"; exit 1; }
	@scripts/setup --bench
	@$(MAKE) build
	@$(PYTHON) scripts/bench_uci "$(DATA)" --results "$(or $(OUT),build/bench-uci.lines)" --json build/bench-uci.json \
	    $(if $(TABLES),--tables "$(TABLES)") $(if $(BEFORE),--before "$(BEFORE)") $(if $(METHODS),--methods "$(METHODS)") $(if $(SPLITS),--splits $(SPLITS)) \
	    $(if $(OWN_SPLITS),--own-splits $(OWN_SPLITS)) $(if $(ALONE_SPLITS),--alone-splits $(ALONE_SPLITS)) $(if $(CELLS),--cells $(CELLS)) \
	    $(if $(STORED),--stored "$(STORED)") $(if $(ROWS),--rows $(ROWS)) $(if $(THREADS),--threads $(THREADS))

bench-mnist: ## MNIST against the same in numpy: make bench-mnist [DATA=FOLDER] [QUICK=1]
	@scripts/setup --bench
	@$(MAKE) build
	@$(PYTHON) scripts/bench_mnist "$(or $(DATA),data/mnist)" --json build/bench-mnist.json $(if $(QUICK),--quick) \
	    $(if $(THREADS),--threads $(THREADS))

bench-python: ## docs/python.md's figures: make bench-python DATA=FOLDER [QUICK=1]
	@test -n "$(DATA)" || { echo "make: say where the tables are: make bench-python DATA=FOLDER"; exit 1; }
	@scripts/setup --bench
	@$(MAKE) build
	@cmake --build --preset release -j $(JOBS) --target python_package
	@cmake --preset bench
	@cmake --build --preset bench -j $(JOBS) --target bench_arrays
	@$(PYTHON) scripts/bench_python "$(DATA)" --package build/release/python --program build/bench/bench/bench_arrays \
	    --json build/bench-python.json $(if $(QUICK),--quick)

bench-images: ## photos: accuracy, power loss, speed, a correction: make bench-images [PANELS=FOLDER SOILING=FOLDER QUICK=1]
	@scripts/setup --bench
	@$(MAKE) build
	@cmake --preset bench
	@cmake --build --preset bench -j $(JOBS) --target bench_photos
	@$(PYTHON) scripts/bench_images --bench build/bench/bench/bench_photos --results build/bench-images.lines \
	    --json build/bench-images.json $(if $(PANELS),--panels "$(PANELS)") $(if $(SOILING),--soiling "$(SOILING)") \
	    $(if $(THREADS),--threads $(THREADS)) $(if $(QUICK),--quick)

fuzz: ## every fuzz target for FUZZ_SECONDS (600) each; CODECS=1: with decoders of pictures built for it, from Debian's sources
	@scripts/setup
	@cmake --preset fuzz
	@cmake --build --preset fuzz -j $(JOBS)
	@$(if $(CODECS),scripts/build_fuzz_codecs)
	@scripts/run_fuzz build/fuzz $(FUZZ_SECONDS) $(if $(CODECS),--codecs build/fuzz-codecs)

.PHONY: fuzz-record
fuzz-record: ## all fuzz targets for SECONDS (600) together, most of it without sanitizers; the run is added to docs/fuzzing.md
	@scripts/setup
	@cmake --preset fuzz
	@cmake --build --preset fuzz -j $(JOBS)
	@cmake --preset fuzz-plain
	@cmake --build --preset fuzz-plain -j $(JOBS)
	@$(if $(CODECS),scripts/build_fuzz_codecs)
	@scripts/run_fuzz build/fuzz --record $(or $(SECONDS),600) --plain build/fuzz-plain \
	    $(if $(CODECS)$(wildcard build/fuzz-codecs/versions),--codecs build/fuzz-codecs)

.PHONY: numbers bench-damage soak
numbers: ## the suites that draw at random, for longer: make numbers [EXTREMES=2000 INCREMENTS=1000000 NETWORKS=1000 SEED=]
	@scripts/setup
	@cmake --preset dev
	@cmake --build --preset dev -j $(JOBS) --target broad test_drift
	@$(PYTHON) lab/run_numbers build/dev/broad build/dev/tests/test_drift --json build/numbers.json $(if $(EXTREMES),--extremes $(EXTREMES)) \
	    $(if $(INCREMENTS),--increments $(INCREMENTS)) $(if $(NETWORKS),--networks $(NETWORKS)) $(if $(SEED),--seed $(SEED))

bench-damage: ## the same damaged models to broad and to other programs: make bench-damage [COUNT=400]
	@scripts/setup --damage
	@lab/damage/build_lightgbm -j $(JOBS)
	@$(MAKE) build
	@$(PYTHON) lab/damage/damage.py build/release/broad --count $(or $(COUNT),400) --json build/bench-damage.json

soak: ## training, learning, prediction from 64 threads and a server under load for HOURS (1): memory and open files stay flat
	@scripts/setup
	@cmake --preset dev
	@cmake --build --preset dev -j $(JOBS) --target broad broad-serve test_soak
	@$(PYTHON) lab/soak/soak.py build/dev/broad build/dev/tests/test_soak --hours $(or $(HOURS),1) --json build/soak.json

site: ## README, documents, examples and experiments as pages with a search, in build/site
	@$(PYTHON) scripts/make_site

bench-gpu: ## docs/gpu.md's figures, on a machine with a GPU, against PyTorch where there is one
	@scripts/setup --bench
	@cmake --preset bench -DBROAD_CUDA=ON
	@cmake --build --preset bench -j $(JOBS) --target bench_cuda broad_cuda
	@BROAD_PLUGINS=build/bench $(PYTHON) scripts/bench_gpu build/bench/bench/bench_cuda --json build/bench-gpu.json

check-oss-fuzz: ## oss-fuzz/build.sh in an environment like that of oss-fuzz; every target is run
	@scripts/setup
	@cmake --preset dev
	@BROAD_SOURCE_DIR=$(CURDIR) $(PYTHON) lab/tests/test_oss_fuzz.py build/dev/broad

cuda: ## libbroad-cuda.so, for --device cuda, beside the tool in build/release; needs the CUDA toolkit
	@command -v nvcc >/dev/null || { echo "make: nvcc is missing: install the CUDA toolkit (https://developer.nvidia.com/cuda-toolkit)"; exit 1; }
	@cmake --preset release -DBROAD_CUDA=ON
	@cmake --build --preset release -j $(JOBS) --target product broad_cuda

js: ## the JavaScript package, ready for npm, in build/js
	@scripts/build_js

wheel: ## the Python package as one file for Python 3.11 and later, in build/
	@scripts/setup --python
	@cmake --preset release
	@cmake --build --preset release -j $(JOBS) --target python_package
	@rm -rf build/release/python/build build/broad-*.whl
	@chmod -R u=rwX,go=rX build/release/python/broad
	@date=$$(scripts/source_date) && umask 022 && cd build/release/python && \
	    SOURCE_DATE_EPOCH=$$date $(PYTHON) -W ignore setup.py -q bdist_wheel -d ../..
	@ls build/broad-*.whl

install-python: wheel ## the Python package into the active virtual environment, otherwise for the whole system; with DESTDIR below its PREFIX
	@$(PIP) install --no-index --no-deps --disable-pip-version-check --no-warn-script-location \
	    $(if $(DESTDIR),--ignore-installed --root "$(DESTDIR)" --prefix "$(PREFIX)",--force-reinstall) build/broad-*.whl

install: ## to PREFIX (/usr/local), honouring DESTDIR
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@cmake --build --preset release -j $(JOBS) --target product
	@umask 022; DESTDIR=$(DESTDIR) cmake --install build/release

uninstall: ## what the last 'make install' put there, honouring DESTDIR
	@test -f build/release/install_manifest.txt || \
		{ echo "uninstall: nothing was installed from here (build/release/install_manifest.txt)"; exit 1; }
	@tr -d '\r' < build/release/install_manifest.txt | while read -r file || [ -n "$$file" ]; do rm -f "$(DESTDIR)$$file"; done
	@rmdir "$(DESTDIR)$(PREFIX)"/include/broad "$(DESTDIR)$(PREFIX)"/lib/cmake/broad \
		"$(DESTDIR)$(PREFIX)"/share/doc/broad 2>/dev/null || true
	@echo "uninstall: removed $$(wc -l < build/release/install_manifest.txt) files from $(DESTDIR)$(PREFIX)"

dist: ## the source as build/broad-VERSION.tar.gz, the same bytes everywhere
	@scripts/make_dist

deb: ## Debian packages, in build/deb, looked at by lintian
	@scripts/setup --package
	@scripts/make_deb -j $(JOBS)

check-deb: ## the packages of 'make deb' installed, used, removed and tested in a fresh Debian; as root
	@scripts/setup --package
	@scripts/check_deb

check-container: ## the steps of Containerfile, without a container engine; as root
	@scripts/setup --package
	@$(PYTHON) scripts/check_container

sbom: build ## what the build consists of and is linked to, as SPDX, in build/broad.spdx.json
	@$(PYTHON) scripts/make_sbom build/release build/broad.spdx.json
	@ls build/broad.spdx.json

check-reproducible: ## build twice, differently: the same bytes? make check-reproducible [QUICK=1]
	@scripts/setup --package
	@scripts/check_reproducible $(if $(QUICK),--quick)

setup: ## install missing Debian packages
	@scripts/setup

clean: ## remove what was built
	@rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 18
