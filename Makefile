# The demo and the tests share one build: the same flags, and `swift test` adds none of its own.
BUILD_FLAGS := --configuration release -Xswiftc -enable-testing
TEST_FLAGS := --disable-testable-imports --disable-xctest
# Tests run side by side: OpenMP's workers must not spin while others have work.
SWIFT_TEST := OMP_WAIT_POLICY=passive swift test $(BUILD_FLAGS) $(TEST_FLAGS)
SOURCES := Sources Tests Package.swift

.DEFAULT_GOAL := help
.PHONY: help demo test test-long bench format lint clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Learn a voice from real recordings and identify it
	scripts/setup
	swift build $(BUILD_FLAGS) --product graft
	.build/release/graft demo

# Memory is measured in a process of its own, in which the test library keeps no backtrace of each
# error that is thrown: planning throws, and catches, one for each kernel that declines.
ALONE := GRAFT_ALONE=1 SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0

test: ## Run the tests; FILTER=NAME runs those whose name contains NAME
	scripts/setup test
	scripts/full-size-models
	$(SWIFT_TEST) $(if $(FILTER),--filter '$(FILTER)')
	$(if $(FILTER),,$(ALONE) $(SWIFT_TEST) --skip-build --no-parallel --filter 'SessionMemoryTests|UpdateMemoryTests')

test-long: export GRAFT_LONG_TESTS := 1
test-long: test ## Run the tests with every sweep at full length

bench: ## Compare speed and memory with ONNX Runtime and PyTorch; OPTIONS=--quick for a first look
	scripts/setup
	swift build $(BUILD_FLAGS) --product graft
	Benchmarks/run $(OPTIONS)

format: ## Format the sources in place
	swift format --in-place --recursive --parallel $(SOURCES)

lint: ## Check format and style; warnings are errors
	swift format lint --strict --recursive --parallel $(SOURCES)

clean: ## Remove what was built
	rm -rf .build
