# make run: both operators on gradients of a real training step. make test: all tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(shell find native include src -type f -not -name "*.pyc")
DATA := examples/data
RESULTS := build/run
CXX_SOURCES := $(shell find native examples tests -name "*.[ch]pp")

.PHONY: help run test native-test lint format clean

help:
	@echo "make run     set everything up and run both operators on real gradients"
	@echo "make test    set everything up and run all tests"
	@echo "make native-test  run the C++ tests, plain and under the sanitizers"
	@echo "make lint    check formatting, style and types"
	@echo "make format  format all sources"
	@echo "make clean   remove what the others made"

# One stamp per set of extras, made anew when a source has changed.
$(VENV)/%.stamp: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ".[$*]"
	touch $@

run: $(VENV)/examples.stamp
	mkdir -p $(RESULTS)
	@for type in float32 bfloat16; do \
	    $(BIN)/openaclnn run silu_backward --force \
	        --grad-output $(DATA)/digits_$$type.safetensors:silu.grad_output \
	        --self $(DATA)/digits_$$type.safetensors:silu.self \
	        --out $(RESULTS)/silu_$$type.safetensors && \
	    $(BIN)/openaclnn run sigmoid_backward --force \
	        --grad-output $(DATA)/digits_$$type.safetensors:sigmoid.grad_output \
	        --output $(DATA)/digits_$$type.safetensors:sigmoid.output \
	        --out $(RESULTS)/sigmoid_$$type.safetensors || exit; \
	done
	$(BIN)/python examples/check_captured.py $(DATA) $(RESULTS)

test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -q -n 2 tests

# The native tests, plain and under the sanitizers.
native-test: native-test-plain native-test-address native-test-thread

SANITIZE_address := address,undefined
SANITIZE_thread := thread

native-test-%: $(VENV)/dev.stamp
	$(BIN)/cmake -S . -B build/native-$* -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja \
	    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DOPENACLNN_TESTS=ON -DOPENACLNN_WERROR=ON \
	    -DOPENACLNN_SANITIZE=$(SANITIZE_$*)
	$(BIN)/cmake --build build/native-$*
	cd build/native-$* && $(abspath $(BIN))/ctest --output-on-failure

lint: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy examples
	$(BIN)/clang-format --dry-run -Werror $(CXX_SOURCES)

format: $(VENV)/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(CXX_SOURCES)

clean:
	rm -rf build $(VENV)
