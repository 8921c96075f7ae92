// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that embedding the library never resolves the peers it is compared with.
let package = Package(
  name: "cambium-benchmarks",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "bench-core", targets: ["BenchCore"]),
    .executable(name: "bench-objects", targets: ["BenchObjects"]),
  ],
  dependencies: [
    .package(name: "cambium", path: "../.."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .systemLibrary(
      name: "CLMDB", path: "CLMDB", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .executableTarget(
      name: "BenchCore",
      dependencies: [
        "CLMDB",
        .product(name: "CambiumCore", package: "cambium"),
        .product(name: "CambiumFile", package: "cambium"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(
      name: "BenchObjects",
      dependencies: [
        .product(name: "Cambium", package: "cambium"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
