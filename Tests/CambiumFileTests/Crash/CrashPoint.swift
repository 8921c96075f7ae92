import CambiumCore

/// Which version: it may be given twice, but never in one epoch.
struct CrashPoint: Hashable, Comparable {
  var epoch: UInt64
  var version: Version

  init(_ head: Head) { (epoch, version) = (head.epoch, head.version) }
  init(epoch: UInt64, version: Version) { (self.epoch, self.version) = (epoch, version) }

  static func < (left: CrashPoint, right: CrashPoint) -> Bool {
    (left.epoch, left.version) < (right.epoch, right.version)
  }
}
