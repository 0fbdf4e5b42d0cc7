// SPDX-License-Identifier: Apache-2.0

/// How one chip speaks UCI, as far as layouts depend on it.
///
/// Most differences can be told from the length of a message; what is in here is what cannot.
public struct Dialect: Hashable, Sendable {
  /// Which specification the messages follow.
  public enum Generation: UInt8, Sendable, Comparable {
    /// FiRa UCI 1.x: sessions are named by their id.
    case fira1 = 1
    /// FiRa UCI 2.0: sessions are named by a handle that the chip gives.
    case fira2 = 2
    /// FiRa UCI 3.0: logical links, role changes.
    case fira3 = 3

    /// Order of publication.
    public static func < (a: Generation, b: Generation) -> Bool { a.rawValue < b.rawValue }
  }

  /// Whose vendor groups these are.
  public enum Vendor: String, Sendable {
    /// The chip has not said yet, or is of nobody known here.
    case unknown
    /// DW3000 and QM33 with Qorvo's firmware.
    case qorvo
    /// SR1xx and SR2xx.
    case nxp
    /// A chip behind an Android HAL, or one that speaks Android's vendor group only.
    case android
  }

  /// Which specification the messages follow.
  public var generation: Generation
  /// Whose vendor groups (GID 9…F) these are.
  public var vendor: Vendor
  /// Data packets carry their length in the fourth octet only.
  public var dataLengthInOctet3: Bool

  /// A dialect.
  public init(
    generation: Generation = .fira2, vendor: Vendor = .unknown, dataLengthInOctet3: Bool = false
  ) {
    self.generation = generation
    self.vendor = vendor
    self.dataLengthInOctet3 = dataLengthInOctet3
  }

  /// Device parameters (CORE_SET_CONFIG, CORE_GET_CONFIG) with an identifier of two octets.
  public var twoOctetConfigIDs: ClosedRange<UInt8>? { vendor == .nxp ? 0xE4...0xE5 : nil }

  /// What is assumed of a chip that has not said anything yet.
  public static let assumed = Dialect()
}
