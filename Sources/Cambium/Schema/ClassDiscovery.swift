import CPlatform

/// Finds every class of the program that derives from a given one.
///
/// The type descriptors of all loaded images are in the binary's metadata; ancestry is decided on
/// them alone, so that only the hits are brought to life. Generic classes are left out: they have no
/// single set of properties. Works for classes of any access level, nested and local ones too.
///
/// Pointers: descriptors, names and metadata belong to loaded images, and all addresses follow from
/// those of descriptors. The walk is over before the variable that it is given goes.
struct ClassDiscovery {
  private let target: UInt
  private var known: [UInt: Bool] = [:]
  private var found: [AnyClass] = []

  // Offsets and bits of a class context descriptor (swift/ABI/Metadata.h).
  private static let accessFunctionOffset: UInt = 12
  private static let superclassOffset: UInt = 20
  private static let kindMask: UInt32 = 0x1F
  private static let classKind: UInt32 = 16
  private static let genericFlag: UInt32 = 0x80

  private init(target: UInt) { self.target = target }

  /// The proper subclasses of `base`, in no particular order; costs a fraction of a millisecond.
  static func subclasses(of base: AnyClass) -> [AnyClass] {
    let metadata = unsafe unsafeBitCast(base, to: UnsafeRawPointer.self)
    guard let descriptor = unsafe cambium_type_descriptor(metadata) else { return [] }
    var discovery = ClassDiscovery(target: UInt(bitPattern: descriptor))
    unsafe withUnsafeMutablePointer(to: &discovery) { pointer in
      unsafe cambium_for_each_type_descriptor(
        { descriptor, context in
          guard let descriptor = unsafe descriptor, let context = unsafe context else { return }
          unsafe context.assumingMemoryBound(to: ClassDiscovery.self).pointee
            .visit(UInt(bitPattern: descriptor))
        }, unsafe pointer)
    }
    return discovery.found
  }

  private mutating func visit(_ descriptor: UInt) {
    guard descriptor != target, Self.load(descriptor, as: UInt32.self) & Self.genericFlag == 0,
      derives(descriptor),
      let function = Self.relative(descriptor + Self.accessFunctionOffset),
      let metadata = unsafe cambium_call_metadata_accessor(UnsafeRawPointer(bitPattern: function))
    else { return }
    unsafe found.append(unsafeBitCast(metadata, to: AnyClass.self))
  }

  private mutating func derives(_ descriptor: UInt) -> Bool {
    if descriptor == target { return true }
    if let answer = known[descriptor] { return answer }
    let answer = derivesByName(descriptor)
    known[descriptor] = answer
    return answer
  }

  // The superclass is a mangled name that begins with a symbolic reference: byte 1 leads to the
  // descriptor, byte 2 to a pointer to it.
  private mutating func derivesByName(_ descriptor: UInt) -> Bool {
    guard Self.load(descriptor, as: UInt32.self) & Self.kindMask == Self.classKind,
      let name = Self.relative(descriptor + Self.superclassOffset)
    else { return false }
    let offset = Self.load(name + 1, as: Int32.self)
    let reference = UInt(bitPattern: Int(bitPattern: name + 1) &+ Int(offset))
    switch Self.load(name, as: UInt8.self) {
    case 1: return derives(reference)
    case 2:
      let parent = Self.load(reference, as: UInt.self)
      return parent != 0 && derives(parent)
    default: return false
    }
  }

  private static func relative(_ address: UInt) -> UInt? {
    let offset = load(address, as: Int32.self)
    return offset == 0 ? nil : UInt(bitPattern: Int(bitPattern: address) &+ Int(offset))
  }

  // Addresses come from the loaded program's own metadata.
  private static func load<T: BitwiseCopyable>(_ address: UInt, as type: T.Type) -> T {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else {
      preconditionFailure("A type descriptor refers to address zero.")
    }
    return unsafe pointer.loadUnaligned(as: type)
  }
}
