// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that embedding the library never resolves the peers it is compared with.
let package = Package(
  name: "cambium-benchmarks",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "bench-core", targets: ["BenchCore"]),
    .executable(name: "bench-objects", targets: ["BenchObjects"]),
    .executable(name: "bench-space", targets: ["BenchSpace"]),
    .executable(name: "bench-size", targets: ["BenchSize"]),
    .executable(name: "bench-commits", targets: ["BenchCommits"]),
    .executable(name: "bench-memory", targets: ["BenchMemory"]),
    .executable(name: "bench-pictures", targets: ["BenchPictures"]),
  ],
  dependencies: [
    .package(name: "cambium", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // The peers; the store over RocksDB has a module of its own for the same library.
    .systemLibrary(
      name: "CLMDB", path: "CLMDB", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(
      name: "CPeerRocksDB", path: "CPeerRocksDB", pkgConfig: "rocksdb",
      providers: [.apt(["librocksdb-dev"]), .brew(["rocksdb"])]),
    // Pictures of recorded results, which need neither the library nor the peers, and who draws them.
    .target(name: "BenchPicture"),
    .executableTarget(
      name: "BenchPictures",
      dependencies: [
        "BenchPicture", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    // The least that the machine needs for a scan.
    .target(name: "CFloor"),
    .executableTarget(
      name: "BenchCore",
      dependencies: [
        "CLMDB", "CPeerRocksDB", "CFloor", "BenchPicture",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "CambiumCore", package: "cambium"),
        .product(name: "CambiumFile", package: "cambium"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "BenchObjects",
      dependencies: [
        "BenchPicture",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Cambium", package: "cambium"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "BenchCommits",
      dependencies: [
        .product(name: "Cambium", package: "cambium"),
        .product(name: "CambiumCore", package: "cambium"),
        .product(name: "CambiumFile", package: "cambium"),
        .product(name: "CambiumMemory", package: "cambium"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "BenchMemory",
      dependencies: [
        .product(name: "Cambium", package: "cambium"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "BenchSpace",
      dependencies: [
        .product(name: "CambiumCore", package: "cambium"),
        .product(name: "CambiumFile", package: "cambium"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "BenchSize",
      dependencies: [
        .product(name: "CambiumCore", package: "cambium"),
        .product(name: "CambiumFile", package: "cambium"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
