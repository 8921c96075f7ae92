# Two commands matter: `make test` and `make demo`. Both install what is missing and build first.

SWIFT ?= swift
STORE ?= file
AT ?=

.PHONY: test demo bench-core bench-objects install lint docs clean

# System packages, installed only when missing: the demo reads zstd-compressed data.
install:
	@Tools/install-packages libzstd-dev

test: install
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build

demo: install
	$(SWIFT) build --configuration release --product cambium
	$(SWIFT) build --configuration release --product Flights
	@.build/release/Flights --store "$(STORE)" $(if $(AT),--at "$(AT)")

# The engine beside LMDB on the same work; ROWS and JSON=1 are options.
bench-core:
	@Tools/install-packages liblmdb-dev
	$(SWIFT) build --configuration release --package-path Tools/Benchmarks --product bench-core
	@Tools/Benchmarks/.build/release/bench-core $(if $(ROWS),--rows $(ROWS)) $(if $(JSON),--json)

# What the object layer costs per operation. OBJECTS=20000 and JSON=1 are options.
bench-objects:
	$(SWIFT) build --configuration release --package-path Tools/Benchmarks --product bench-objects
	@Tools/Benchmarks/.build/release/bench-objects $(if $(OBJECTS),--objects $(OBJECTS)) $(if $(JSON),--json)

lint:
	$(SWIFT) format lint --strict --recursive Package.swift Sources Plugins Snippets Tests Tools

docs:
	$(SWIFT) package generate-documentation --target CambiumCore
	$(SWIFT) package generate-documentation --target Cambium

clean:
	$(SWIFT) package clean
