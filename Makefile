# The front door. `make` builds, `make run` measures this machine, `make check` runs the
# fast tier, which CI runs, `make check-slow` other processors and newcomers on a fresh Debian 12.
.DEFAULT_GOAL := build
.PHONY: build run check check-slow lint format bless fuzz bench package clean help setup-build setup-package setup-test
# The stages call ninja, which has its own idea of how many jobs to run.
.NOTPARALLEL:

FUZZ_SECONDS ?= 60
RUN_FLAGS ?=
OUT ?= runs/$(shell date +%Y-%m-%d-%H%M%S)

build: setup-build ## build the command, build/inferometer, and the library of sessions
	@test -f build/build.ninja || cmake --preset release >/dev/null
	@tools/build.sh inferometer inferometer_library inferometer_trace

run: build ## measure this machine with examples/first-run.yaml; ends with a table and the report's path (RUN_FLAGS="--wait-quiet 10min")
	@build/inferometer run -c examples/first-run.yaml --out $(OUT) $(RUN_FLAGS)
	@$(if $(RUN_FLAGS),:,echo 'with a flag: make run RUN_FLAGS="--wait-quiet 10min"')

check: setup-test ## the fast tier (STAGES="gcc ..." for some of it); ends with "N passed, N failed, N skipped"
	@tools/check.sh $(STAGES)

check-slow: setup-test ## the slow tier: aarch64, older x86-64 processors, and newcomers on a fresh Debian 12
	@tools/check.sh slow

lint: setup-test ## the include law and the style
	@python3 tools/tidy.py .

format: ## clang-format over all C files
	@git ls-files '*.c' '*.h' | xargs clang-format -i

bless: build ## rewrite the expectations of the golden tests (CASES="name ..." for some); read the diff before you commit
	@tools/bless.sh $(CASES)

fuzz: setup-test ## fuzz each target for FUZZ_SECONDS; new inputs go to the corpus
	@tools/fuzz.sh $(FUZZ_SECONDS)

bench: build ## what the lab itself costs
	@for script in bench/*.sh; do echo "== $$script"; INFEROMETER=$$PWD/build/inferometer bash $$script || exit 1; done

package: build setup-package ## a Debian package in build/
	@cmake --build build --target generated_pages inferometer_library
	@cd build && rm -f inferometer_*.deb && cpack -G DEB >/dev/null && echo "package: build/$$(echo inferometer_*.deb)"

clean: ## remove everything that was built; runs/ stays
	@rm -rf build build-*

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

setup-build:
	@tools/setup.sh build

setup-package:
	@tools/setup.sh package

setup-test:
	@tools/setup.sh test
