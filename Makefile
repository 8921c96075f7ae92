# Two commands matter: `make test` and `make demo`. Both install what is missing and build first.

SWIFT ?= swift
# SwiftPM hands the traits to the compiler in the order of a hash table. In another order all would be
# compiled anew, so the order has to stay.
BUILD = SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build
# What is built besides the defaults; `--traits Zstd` leaves encryption and RocksDB out.
TRAITS ?= --enable-all-traits
STORE ?= file
CODEC ?= none
AT ?=
# The suites that ask TestSupport's 'Exhaustive' how much they shall try.
EXHAUSTIVE_SUITES = CrashTests DamageTests EncryptedFileTests RepairTests SalvageMediumTests \
  ObjectModelTests LargeListTests QueryEngineTests PredicatePrinterTests BackupTests

.PHONY: test exhaustive demo check-defaults check-aarch64 fuzz sanitize soak bench bench-core bench-growth bench-objects \
  bench-objects-tool bench-operations bench-commits bench-memory bench-space bench-size flights-space pictures check-pictures \
  bench-pictures bench-codecs bench-stores bench-realm-files bench-rados test-rados install-ceph serve service test-tools test-examples install lint docs clean

# System packages, installed only when missing, for what TRAITS says.
install:
	@Tools/install-packages libzstd-dev librocksdb-dev librados-dev

# The servers of a Ceph cluster, for tests and benchmarks that start one.
install-ceph:
	@Tools/install-packages ceph-mon ceph-osd ceph-common python3 iproute2

test: install
	$(BUILD) $(TRAITS) --build-tests
	@Tools/run-tests

# The tests that try every byte of a file and many more crashes, of which 'make test' tries a share.
exhaustive: install
	$(BUILD) $(TRAITS) --build-tests
	@EXHAUSTIVE=1 TEST_LOG=.build/exhaustive.log Tools/run-tests \
	  --filter '\.($(subst $(eval) ,|,$(EXHAUSTIVE_SUITES)))/'

# A program that depends on this package without traits, built and run where neither zstd nor RocksDB can
# be found.
check-defaults:
	@SWIFT="$(SWIFT)" Tools/check-defaults

# The C target, compiled for 64-bit ARM; nothing is run.
check-aarch64:
	@SWIFT="$(SWIFT)" Tools/check-aarch64

# Flights of a year into a store. STORE=memory or rocksdb, CODEC=zstd:3, aes-256-gcm or both joined by
# a plus, and AT=PATH, where the store is kept, are options.
demo:
	@SWIFT="$(SWIFT)" Tools/demo "$(STORE)" "$(CODEC)" "$(AT)"

# A nested package does not notice files that came or went in this one: its builds are planned anew.
plan-anew = rm -f Tools/$(1)/.build/*.yaml

# How many rows the benchmarks work on; N=100000 says the same.
ROWS ?= $(N)

# The engine beside LMDB, RocksDB and SQLite on the same work; options are ROWS=100000, JSON=1,
# ROUNDS=3, ONLY="W1 W4" and KEEP=1, which keeps the figures and their pictures in the results.
bench: bench-core
	@Tools/Benchmarks/.build/release/bench-core $(if $(KEEP),--results Tools/Benchmarks/results) \
	  --rows $(or $(ROWS),1000000) $(if $(ROUNDS),--rounds $(ROUNDS)) \
	  $(if $(ONLY),--only $(ONLY)) $(if $(JSON),--json)

# How the cost of the same work grows with the number of rows, and the memory of a bulk insert; KEEP=1 is an
# option, too.
bench-growth: bench-core
	@Tools/Benchmarks/.build/release/bench-core --name growth \
	  $(if $(KEEP),--results Tools/Benchmarks/results) \
	  --rows $(or $(ROWS),100000 1000000 10000000) --rounds $(or $(ROUNDS),3) \
	  --only $(or $(ONLY),W1 W2 W3 W4 W8 W11) $(if $(JSON),--json)

bench-core:
	@Tools/install-packages liblmdb-dev librocksdb-dev libsqlite3-dev
	@$(call plan-anew,Benchmarks)
	@$(BUILD) --configuration release --package-path Tools/Benchmarks --product bench-core >&2

# How large a file becomes while versions are pinned and rows are changed one by one; fails when it
# is more than it may be. ROWS=1000000, COMMITS=1000000 and JSON=1 are options.
bench-space:
	@$(call plan-anew,Benchmarks)
	@$(BUILD) --configuration release --package-path Tools/Benchmarks --product bench-space >&2
	@Tools/Benchmarks/.build/release/bench-space --rows $(or $(ROWS),1000000) \
	  --commits $(or $(COMMITS),1000000) $(if $(JSON),--json)

# What a small commit takes in files of very different sizes, and how long reads wait beside it; fails when it
# is more than it may be. SIZES="1 32" (GiB) and COMMITS=4000 are options; ROW_SIZES="0.4 8 24" (GiB) makes real files
# of rows instead, which need as much room.
bench-size:
	@$(call plan-anew,Benchmarks)
	@$(BUILD) --configuration release --package-path Tools/Benchmarks --product bench-size >&2
	@Tools/Benchmarks/.build/release/bench-size $(if $(SIZES),--sizes $(SIZES)) \
	  $(if $(ROW_SIZES),--row-sizes $(ROW_SIZES)) \
	  $(if $(COMMITS),--commits $(COMMITS))

# What a small transaction takes, through the engine and through a Realm: time, and with INSTRUCTIONS=1
# how many instructions (valgrind). ROWS=100000, COMMITS=20000 and ONLY="realm-update" are options.
bench-commits:
	@$(if $(INSTRUCTIONS),Tools/install-packages valgrind)
	@$(call plan-anew,Benchmarks)
	@$(BUILD) --configuration release --package-path Tools/Benchmarks --product bench-commits >&2
	@Tools/Benchmarks/.build/release/bench-commits $(if $(ROWS),--rows $(ROWS)) \
	  $(if $(COMMITS),--commits $(COMMITS)) $(if $(ONLY),--only $(ONLY)) \
	  $(if $(INSTRUCTIONS),--instructions)

# How fast files of Realm are imported, and how much memory that takes. OBJECTS=1000000 and ROUNDS=5 are
# options.
bench-realm-files: install
	@$(BUILD) $(TRAITS) --configuration release --product bench-realm-files >&2
	@.build/release/bench-realm-files $(if $(OBJECTS),--objects $(OBJECTS)) \
	  $(if $(ROUNDS),--rounds $(ROUNDS))

# What a store in a Ceph cluster costs, beside a local file and plain operations, on a cluster of three OSDs that
# this starts and removes. ROWS=1000000 and COMMITS=300 are options.
bench-rados: install install-ceph
	@$(BUILD) $(TRAITS) --configuration release --product bench-rados >&2
	@Tools/with-rados-cluster 3 bluestore .build/release/bench-rados \
	  $(if $(ROWS),--rows $(ROWS)) $(if $(COMMITS),--commits $(COMMITS))

# What only a real cluster shows: the contract of stores, and machines and daemons that end, on a cluster that
# the tests start and remove.
test-rados: install install-ceph
	$(BUILD) $(TRAITS) --build-tests
	@CAMBIUM_RADOS=1 TEST_LOG=.build/test-rados.log Tools/run-tests --no-parallel \
	  --filter 'CambiumRADOSTests'

# How much memory large transactions through a Realm take; fails when it is more than it may be.
# OBJECTS=10000000 and JSON=1 are options.
bench-memory:
	@$(call plan-anew,Benchmarks)
	@$(BUILD) --configuration release --package-path Tools/Benchmarks --product bench-memory >&2
	@Tools/Benchmarks/.build/release/bench-memory --objects $(or $(OBJECTS),10000000) \
	  $(if $(JSON),--json)

# The year of flights as a file of this library, plain and compressed, and of SQLite: how many bytes each takes.
# KEEP=1, which keeps the figures and their pictures in the results, is an option.
flights-space: $(if $(KEEP),bench-pictures)
	@SWIFT="$(SWIFT)" Tools/flights-space $(if $(KEEP),Tools/Benchmarks/results/sizes.json)
	@$(if $(KEEP),Tools/Benchmarks/.build/release/bench-pictures)

# Draws the pictures of the results that are kept, without measuring anything.
pictures: bench-pictures
	@Tools/Benchmarks/.build/release/bench-pictures

# Fails when a picture is not what the results give.
check-pictures: bench-pictures
	@Tools/Benchmarks/.build/release/bench-pictures --check

bench-pictures:
	@$(call plan-anew,Benchmarks)
	@$(BUILD) --configuration release --package-path Tools/Benchmarks --product bench-pictures >&2

# What programs do with a million people, through a Realm and through SQLite with GRDB. OBJECTS=100000,
# ROUNDS=1, JSON=1 and KEEP=1, which keeps the figures and their pictures in the results, are options.
bench-objects: bench-objects-tool
	@Tools/Benchmarks/.build/release/bench-objects $(if $(OBJECTS),--objects $(OBJECTS)) \
	  $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(JSON),--json) $(if $(KEEP),--keep)

# What single operations on objects cost, in nanoseconds. OBJECTS=20000 and JSON=1 are options.
bench-operations: bench-objects-tool
	@Tools/Benchmarks/.build/release/bench-objects operations $(if $(OBJECTS),--objects $(OBJECTS)) \
	  $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(JSON),--json)

bench-objects-tool:
	@Tools/install-packages liblmdb-dev librocksdb-dev libsqlite3-dev
	@$(call plan-anew,Benchmarks)
	@$(BUILD) --configuration release --package-path Tools/Benchmarks --product bench-objects >&2

# What codecs cost and save on a year of flights: bytes, scans, single reads and inserts beside a plain
# store. AT=PATH names a store that 'make demo AT=PATH' kept; otherwise one is made.
bench-codecs: install
	$(BUILD) $(TRAITS) --configuration release --product Flights
	$(BUILD) $(TRAITS) --configuration release --product bench-codecs
	@store="$(AT)"; [ -n "$$store" ] || { store=$$(mktemp -d)/flights.cambium; \
	  .build/release/Flights --at "$$store" >/dev/null; }; .build/release/bench-codecs codecs "$$store"

# The same work over memory, file and RocksDB, each plain and with codecs. ROWS=1000000, ROUNDS=3 and
# FOLDER=/tmp, whose medium is measured, are options.
bench-stores: install
	$(BUILD) $(TRAITS) --configuration release --product bench-codecs
	@.build/release/bench-codecs stores $(if $(ROWS),--rows $(ROWS)) \
	  $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(FOLDER),--folder $(FOLDER))

# Every fuzz target for so many seconds each; fails when an input stops one. SECONDS=60 is an option.
# The compiler takes the last list of sanitizers alone, and the build hands them over one by one.
fuzz: install
	@$(call plan-anew,Fuzz)
	$(BUILD) --configuration release --package-path Tools/Fuzz --product fuzz \
	  --sanitize address --sanitize fuzzer -Xswiftc -sanitize=address,fuzzer -Xswiftc -enable-testing
	@Tools/Fuzz/run $(or $(SECONDS),60)

# The suites with several threads or damaged bytes under the address and the thread sanitizer;
# ONLY=address or ONLY=thread is an option.
sanitize: install
	@SWIFT="$(SWIFT)" TRAITS="$(TRAITS)" Tools/Sanitize/run $(ONLY)

# Crashes of simulated disks over many seeds, counted, eight processes at a time that are killed, and many
# contexts of two processes beside one another. STATES=1000000, KILLS=2000, STEPS=2000 of each context and
# SEED=1 are options; nothing of that may lose or tear a commit.
# CONFIGURATION=debug takes what `make test` has built.
CONFIGURATION ?= release
soak: install
	$(BUILD) $(TRAITS) --build-tests --configuration $(CONFIGURATION) \
	  $(if $(filter release,$(CONFIGURATION)),-Xswiftc -enable-testing)
	CAMBIUM_SOAK_STATES=$(or $(STATES),1000000) CAMBIUM_SOAK_KILLS=$(or $(KILLS),2000) \
	  CAMBIUM_SOAK_ROUNDS=$(or $(STEPS),2000) CAMBIUM_SOAK_SEED=$(or $(SEED),1) .build/$(CONFIGURATION)/cambiumPackageTests.xctest \
	  --testing-library swift-testing --filter 'SoakTests|SoakProcessTests'
	CLUSTER_HISTORIES=$(or $(HISTORIES),100000) CAMBIUM_TEST_SEED=$(or $(SEED),1) \
	  .build/$(CONFIGURATION)/cambiumPackageTests.xctest --testing-library swift-testing \
	  --filter 'CambiumClusterTests.ClusterHistoryTests'

# A server that is ended by SIGTERM in the middle of its work, with swift-service-lifecycle: nothing is lost.
service:
	@$(call plan-anew,Service)
	$(BUILD) --package-path Tools/Service --product service
	@Tools/Service/run

# A page in the browser that shows a store live: AT=PATH names it, WRITE=1 lets edits in. Without AT only the
# server is built, which `cambium serve` finds.
serve:
	@SWIFT="$(SWIFT)" Tools/serve $(if $(AT),"$(AT)" $(if $(WRITE),--write))

# The examples, each a package of its own that is built and used as a user's program would be.
test-examples:
	@SWIFT="$(SWIFT)" Tools/test-examples

# The tools in packages of their own: the page in a browser and by hostile clients, a service that is ended in
# the middle of its work. SCREENSHOTS=FOLDER keeps pictures of the page.
test-tools: service
	@SWIFT="$(SWIFT)" SCREENSHOTS="$(SCREENSHOTS)" Tools/Serve/Tests/run

lint:
	$(SWIFT) format lint --strict --recursive Package.swift Sources Plugins Snippets Tests Tools Examples
	@Tools/install-packages python3
	@Tools/check-reasons

# The catalogues of all modules as one site, whose folder is printed and can be put on any server; a warning
# fails.
docs:
	$(SWIFT) package $(TRAITS) generate-documentation --enable-experimental-combined-documentation \
	  --transform-for-static-hosting --warnings-as-errors --target CambiumCore --target CambiumStoreKit \
	  --target Cambium --target RealmSwift --target CambiumMemory --target CambiumFile \
	  --target CambiumRocksDB --target CambiumCluster --target CambiumRADOS --target CambiumZstd \
	  --target CambiumCrypto --target CambiumRealmFile \
	  --target CambiumObservability --target CambiumStoreContract

clean:
	$(SWIFT) package clean
