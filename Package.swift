// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "cambium",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "Cambium", targets: ["Cambium"]),
    .library(name: "RealmSwift", targets: ["RealmSwift"]),
    .library(name: "CambiumCore", targets: ["CambiumCore"]),
    .library(name: "CambiumStoreKit", targets: ["CambiumStoreKit"]),
    .library(name: "CambiumMemory", targets: ["CambiumMemory"]),
    .library(name: "CambiumFile", targets: ["CambiumFile"]),
    .library(name: "CambiumRocksDB", targets: ["CambiumRocksDB"]),
    .library(name: "CambiumCluster", targets: ["CambiumCluster"]),
    .library(name: "CambiumRADOS", targets: ["CambiumRADOS"]),
    .library(name: "CambiumZstd", targets: ["CambiumZstd"]),
    .library(name: "CambiumCrypto", targets: ["CambiumCrypto"]),
    .library(name: "CambiumObservability", targets: ["CambiumObservability"]),
    .library(name: "CambiumRealmFile", targets: ["CambiumRealmFile"]),
    .library(name: "CambiumStoreContract", targets: ["CambiumStoreContract"]),
    .library(name: "CambiumWeb", targets: ["CambiumWeb"]),
    .executable(name: "cambium", targets: ["CambiumTool"]),
  ],
  // Off unless asked for: what they need of the system or of other packages is not needed otherwise.
  traits: [
    .trait(name: "Zstd", description: "Pages compressed with zstd; needs libzstd-dev."),
    .trait(name: "Crypto", description: "Encrypted pages; needs the package swift-crypto."),
    .trait(name: "RocksDB", description: "Pages kept by RocksDB; needs librocksdb-dev."),
    .trait(name: "RADOS", description: "Pages in a Ceph cluster; needs librados-dev."),
    .trait(
      name: "Observability", description: "Metrics and logs; needs swift-metrics and swift-log."),
    .trait(
      name: "RealmFile",
      description: "Reading '.realm' files; encrypted ones with the trait 'Crypto' as well."),
    .default(enabledTraits: []),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.2.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
  ],
  targets: [
    // The engine: pages in, pages out; no files, no Foundation.
    .target(name: "CPlatform"),
    .target(
      name: "CambiumCore", dependencies: ["CPlatform"]),
    // What a store of one's own would write again.
    .target(
      name: "CambiumStoreKit", dependencies: ["CambiumCore", "CPlatform"]),

    // Page stores.
    .target(
      name: "CambiumMemory", dependencies: ["CambiumCore", "CambiumStoreKit", "CPlatform"],
      path: "Plugins/Memory/Sources"),
    .target(
      name: "CambiumFile", dependencies: ["CambiumCore", "CambiumStoreKit", "CPlatform"],
      path: "Plugins/File/Sources"),
    // Empty without its trait.
    .systemLibrary(
      name: "CRocksDB", path: "Plugins/CRocksDB", pkgConfig: "rocksdb",
      providers: [.apt(["librocksdb-dev"]), .brew(["rocksdb"])]),
    .target(
      name: "CambiumRocksDB",
      dependencies: [
        "CambiumCore", "CambiumStoreKit", "CPlatform",
        .target(name: "CRocksDB", condition: .when(traits: ["RocksDB"])),
      ],
      path: "Plugins/RocksDB/Sources"),

    // What a store in a cluster of machines does, over any cluster that keeps named objects.
    .target(
      name: "CambiumCluster", dependencies: ["CambiumCore", "CambiumStoreKit", "CPlatform"],
      path: "Plugins/Cluster/Sources"),
    .systemLibrary(
      name: "CRados", path: "Plugins/CRados", providers: [.apt(["librados-dev"])]),
    // Empty without its trait.
    .target(
      name: "CambiumRADOS",
      dependencies: [
        "CambiumCore", "CambiumCluster",
        .target(name: "CRados", condition: .when(traits: ["RADOS"])),
      ],
      path: "Plugins/RADOS/Sources"),

    // Codecs, each empty without its trait.
    .systemLibrary(
      name: "CZstd", path: "Plugins/CZstd", pkgConfig: "libzstd",
      providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    .target(
      name: "CambiumZstd",
      dependencies: [
        "CambiumCore", "CPlatform", .target(name: "CZstd", condition: .when(traits: ["Zstd"])),
      ],
      path: "Plugins/Zstd/Sources"),
    .target(
      name: "CambiumCrypto",
      dependencies: [
        "CambiumCore",
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Crypto"])),
      ],
      path: "Plugins/Crypto/Sources"),

    // What databases tell, for swift-metrics and swift-log; empty without its trait.
    .target(
      name: "CambiumObservability",
      dependencies: [
        "CambiumCore",
        .product(
          name: "Logging", package: "swift-log", condition: .when(traits: ["Observability"])),
        .product(
          name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Observability"])),
      ],
      path: "Plugins/Observability/Sources"),

    // Files of Realm, read only; encrypted ones with the trait.
    .target(
      name: "CambiumRealmFile",
      dependencies: [
        .product(
          name: "CryptoExtras", package: "swift-crypto", condition: .when(traits: ["Crypto"]))
      ],
      path: "Plugins/RealmFile/Sources"),

    // The object layer, which knows the plug-ins whose traits are on.
    .target(
      name: "Cambium",
      dependencies: [
        "CambiumCore", "CambiumMemory", "CambiumFile", "CPlatform",
        .target(name: "CambiumRocksDB", condition: .when(traits: ["RocksDB"])),
        .target(name: "CambiumRADOS", condition: .when(traits: ["RADOS"])),
        .target(name: "CambiumZstd", condition: .when(traits: ["Zstd"])),
        .target(name: "CambiumCrypto", condition: .when(traits: ["Crypto"])),
        .target(name: "CambiumRealmFile", condition: .when(traits: ["RealmFile"])),
      ]),
    .target(
      name: "RealmSwift", dependencies: ["Cambium"]),

    // Tools and examples.
    // What the command line and the page share: documents, queries, schemas.
    .target(
      name: "CambiumToolKit", dependencies: ["Cambium", "CambiumCore", "CPlatform"],
      path: "Tools/ToolKit"),
    // What the page of 'cambium serve' asks and does; the package in Tools/Serve brings the server.
    .target(
      name: "CambiumWeb",
      dependencies: ["Cambium", "CambiumCore", "CambiumFile", "CambiumToolKit"],
      path: "Tools/Web",
      resources: [.embedInCode("Site")]),
    .executableTarget(
      name: "CambiumTool",
      dependencies: [
        "Cambium", "CambiumCore", "CambiumFile", "CambiumWeb", "CambiumRocksDB", "CambiumToolKit",
        "CambiumZstd", "CPlatform",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/cambium"),
    .executableTarget(
      name: "Flights",
      dependencies: [
        "Cambium", .target(name: "CZstd", condition: .when(traits: ["Zstd"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/Examples/Flights",
      exclude: ["Data"]),

    .executableTarget(
      name: "bench-codecs",
      dependencies: [
        "CambiumCore", "CambiumFile", "CambiumMemory", "CambiumRocksDB", "CambiumZstd",
        "CambiumCrypto",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/BenchCodecs"),

    .executableTarget(
      name: "bench-rados",
      dependencies: [
        "CambiumCore", "CambiumFile",
        .target(name: "Cambium", condition: .when(traits: ["RADOS"])),
        .target(name: "CambiumCluster", condition: .when(traits: ["RADOS"])),
        .target(name: "CambiumRADOS", condition: .when(traits: ["RADOS"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/BenchRADOS"),

    .executableTarget(
      name: "bench-realm-files",
      dependencies: [
        .target(name: "Cambium", condition: .when(traits: ["RealmFile"])),
        .target(name: "RealmFileBuilder", condition: .when(traits: ["RealmFile"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/BenchRealmFiles"),

    // Tests.
    // Files of Realm that nobody else makes: damaged ones, and very large ones.
    .target(
      name: "RealmFileBuilder", path: "Tests/RealmFileBuilder"),
    // What every store and codec promises: for the tests of plug-ins, also those of others.
    .target(
      name: "CambiumStoreContract", dependencies: ["CambiumCore"], path: "Tests/StoreContract"),
    .target(
      name: "TestSupport", dependencies: ["CambiumCore", "CambiumStoreContract"],
      path: "Tests/TestSupport"),
    // A cluster in memory, whose operations happen when a test says so.
    .target(
      name: "SimulatedCluster", dependencies: ["CambiumCore", "CambiumCluster", "CPlatform"],
      path: "Tests/SimulatedCluster"),
    .testTarget(
      name: "CambiumClusterTests",
      dependencies: [
        "Cambium", "CambiumCore", "CambiumCluster", "SimulatedCluster", "TestSupport",
      ]),
    // On a cluster of their own, when CAMBIUM_RADOS is 1: `make test-rados`.
    .testTarget(
      name: "CambiumRADOSTests",
      dependencies: [
        "Cambium", "CambiumCore", "CambiumCluster", "CambiumRADOS", "SimulatedCluster",
        "TestSupport",
      ]),
    .testTarget(
      name: "ContractTests",
      dependencies: [
        "CambiumCore", "CambiumCluster", "SimulatedCluster", "CambiumFile", "CambiumMemory",
        "CambiumRocksDB", "CambiumZstd",
        "CambiumCrypto", "TestSupport",
      ]),
    .testTarget(
      name: "CambiumCoreTests",
      dependencies: ["CambiumCore", "CambiumMemory", "CPlatform", "TestSupport"]),
    .testTarget(
      name: "CambiumStoreKitTests", dependencies: ["CambiumCore", "CambiumStoreKit", "TestSupport"]),
    .testTarget(
      name: "CambiumMemoryTests", dependencies: ["CambiumMemory", "CambiumStoreKit", "TestSupport"]),
    .testTarget(
      name: "CambiumFileTests",
      dependencies: ["CambiumFile", "CambiumMemory", "CambiumStoreKit", "TestSupport"]),
    .testTarget(
      name: "CambiumZstdTests",
      dependencies: ["CambiumZstd", "CambiumCore", "CambiumFile", "TestSupport"]),
    .testTarget(
      name: "CambiumCryptoTests",
      dependencies: [
        "Cambium", "CambiumCrypto", "CambiumZstd", "CambiumCore", "CambiumFile", "TestSupport",
      ]),
    .testTarget(
      name: "CambiumObservabilityTests",
      dependencies: [
        "Cambium", "CambiumCore", "CambiumObservability",
        .product(
          name: "Logging", package: "swift-log", condition: .when(traits: ["Observability"])),
        .product(
          name: "MetricsTestKit", package: "swift-metrics",
          condition: .when(traits: ["Observability"])),
      ]),
    .testTarget(
      name: "CambiumRealmFileTests",
      dependencies: [
        "Cambium", "CambiumCore", "CambiumFile", "CambiumRealmFile", "RealmFileBuilder",
        "TestSupport",
        .target(name: "CZstd", condition: .when(traits: ["Zstd"])),
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Crypto"])),
      ],
      exclude: ["Samples"]),
    .testTarget(
      name: "CambiumRocksDBTests",
      dependencies: ["Cambium", "CambiumFile", "CambiumRocksDB", "TestSupport"]),
    .testTarget(
      name: "FormatTests",
      dependencies: [
        "Cambium", "CambiumCore", "CambiumFile", "CambiumZstd", "CambiumCrypto", "TestSupport",
      ],
      resources: [.copy("Golden")]),
    .testTarget(
      name: "CambiumToolTests",
      dependencies: [
        "Cambium", "CambiumTool", "CambiumToolKit", "CambiumCore", "CambiumFile",
        "RealmFileBuilder", "TestSupport",
      ]),
    .testTarget(
      name: "CambiumWebTests",
      dependencies: ["Cambium", "CambiumFile", "CambiumWeb", "TestSupport"]),
    // The code that the fuzzer feeds, which `Tools/Fuzz` builds as well, and a replay of its corpus.
    .testTarget(
      name: "FuzzTests",
      dependencies: [
        "Cambium", "CambiumCore", "CambiumFile", "CambiumZstd", "CambiumCrypto", "CambiumRealmFile",
      ],
      path: "Tools/Fuzz/Sources", exclude: ["fuzz"]),
    // Promises that are not kept yet, in one list.
    .testTarget(
      name: "KnownFaultTests",
      dependencies: [
        "Cambium", "CambiumCore", "CambiumFile", "CambiumMemory", "CambiumRocksDB", "TestSupport",
      ],
      path: "Tests/KnownFaults"),
    // Runs the samples of the documents, which are the programs in Snippets.
    .testTarget(name: "DocumentationTests", dependencies: ["TestSupport"]),
    // Clients, which import RealmSwift alone. They name Cambium, too, because a build does not see changes of
    // a module that another one exports.
    .testTarget(
      name: "RealmSwiftTests", dependencies: ["RealmSwift", "Cambium"],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    // Whole programs of a kind that is published for Realm Swift.
    .testTarget(
      name: "Compatibility", dependencies: ["RealmSwift", "Cambium"],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(name: "StrictConcurrency", dependencies: ["RealmSwift", "Cambium"]),
    .testTarget(
      name: "MainIsolation", dependencies: ["RealmSwift", "Cambium"],
      swiftSettings: [.defaultIsolation(MainActor.self)]),
    .testTarget(
      name: "NonsendingIsolation", dependencies: ["RealmSwift", "Cambium"],
      swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
    .testTarget(
      name: "SeedSamples", dependencies: ["RealmSwift", "Cambium", "TestSupport"],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "CambiumTests",
      dependencies: [
        "Cambium", "CambiumCore", "CambiumFile", "CambiumRocksDB", "CambiumZstd", "CambiumCrypto",
        "TestSupport",
      ],
      exclude: ["Value/decimal-cases.py", "Value/decimal-cases.txt"]),
  ],
  swiftLanguageModes: [.v6]
)

// Expressions that may harm memory say so, but in tests.
for target in package.targets where ![.system, .test].contains(target.type) {
  target.swiftSettings = (target.swiftSettings ?? []) + [.strictMemorySafety()]
}
