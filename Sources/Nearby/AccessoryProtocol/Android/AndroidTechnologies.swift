// SPDX-License-Identifier: Apache-2.0

/// Ranging technologies in messages of Android's out-of-band protocol, as bits.
///
/// Sources of the protocol: AOSP's packages/modules/Uwb (`ranging/service`, its packet definitions
/// and tests), and source.android.com ("Ranging OOB specification", versions 1 to 3).
package struct AndroidTechnologies: OptionSet, Sendable, Hashable {
  package let rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package static let uwb = Self(rawValue: 1 << 0)
  /// Bluetooth LE, Wi-Fi's two ways and signal strength: known, and not supported here.
  package static let known = Self(rawValue: 0b10_1111)
}

/// The versions of Android's out-of-band protocol.
package enum AndroidProtocol {
  /// The newest version: 1 came with Android 16, 2 with its third quarterly release, 3 with 17.
  package static let newest: UInt8 = 3
}

/// The blocks of a message, each for one technology: technology, size with these two bytes, data.
struct AndroidBlocks {
  private(set) var uwb: [UInt8]?
  private(set) var rest: ArraySlice<UInt8>

  /// Reads blocks until less than the header of a block follows.
  ///
  /// - Parameters:
  ///   - bytes: the blocks, and bytes after them.
  ///   - technologies: the technologies that the message announces.
  /// - Throws: `AccessoryError` if a block is cut off, occurs twice or was not announced.
  init(
    _ bytes: ArraySlice<UInt8>, of technologies: AndroidTechnologies
  ) throws(AccessoryError) {
    rest = bytes
    var found: [UInt8] = []
    while rest.count >= 2 {
      let (technology, size) = (rest[rest.startIndex], Int(rest[rest.startIndex + 1]))
      guard size >= 2, size <= rest.count else {
        throw Self.invalid("size", "is \(size), and \(rest.count) bytes follow")
      }
      guard !found.contains(technology) else {
        throw Self.invalid("technology", "\(technology) occurs twice")
      }
      found.append(technology)
      if technology == 0 { uwb = Array(rest.prefix(size)) }
      rest = rest.dropFirst(size)
    }
    let blocks = AndroidTechnologies(
      rawValue: found.reduce(0) { $0 | 1 << UInt16($1) })
    guard blocks.intersection(.known) == technologies.intersection(.known) else {
      throw Self.invalid("technologies", "differ from the blocks that follow")
    }
  }

  private static func invalid(_ field: String, _ reason: String) -> AccessoryError {
    AccessoryError(.invalidConfiguration(field: field, reason: reason))
  }
}
