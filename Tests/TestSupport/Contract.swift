/// The generator, tree and model of the contract, which other tests use as well.
@_exported import CambiumStoreContract
