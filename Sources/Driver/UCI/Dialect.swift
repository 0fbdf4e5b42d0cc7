// SPDX-License-Identifier: Apache-2.0

/// The variant of UCI on one chip, as far as layouts depend on it.
///
/// The length of a message reveals most differences; this type has the remaining ones. It is
/// derived from the chip's device information: `learn(from:)`.
public struct Dialect: Hashable, Sendable {
  /// The specification of the messages.
  public enum Generation: UInt8, Sendable, Comparable, CaseIterable {
    /// FiRa UCI 1.x: sessions are named by their id.
    case fira1 = 1
    /// FiRa UCI 2.0: sessions are named by a handle from the chip.
    case fira2 = 2
    /// FiRa UCI 3.0: logical links, role changes.
    case fira3 = 3

    /// Orders by publication.
    public static func < (a: Generation, b: Generation) -> Bool { a.rawValue < b.rawValue }

    /// Returns the specification of this version of UCI. Versions before 1.0 count as 1.0. Versions
    /// newer than the newest case count as the newest case.
    package init(_ version: UCIVersion) {
      self = Generation(rawValue: min(max(version.major, 1), 3)) ?? .fira2
    }
  }

  /// The vendor whose groups a chip uses.
  public enum Vendor: String, Sendable, CaseIterable {
    /// The chip has not been identified, or its vendor is not supported here.
    case unknown
    /// DW3000 and QM33 with Qorvo's firmware.
    case qorvo
    /// SR1xx and SR2xx.
    case nxp
    /// A chip behind an Android HAL, or one with Android's vendor group only.
    case android
  }

  /// The specification of the messages.
  public var generation: Generation
  /// The vendor that defines the vendor groups (GID 9…F).
  public var vendor: Vendor
  /// Whether data packets carry their length in the fourth byte only.
  public var dataLengthInByte3: Bool

  /// Creates a dialect.
  public init(
    generation: Generation = .fira2, vendor: Vendor = .unknown, dataLengthInByte3: Bool = false
  ) {
    self.generation = generation
    self.vendor = vendor
    self.dataLengthInByte3 = dataLengthInByte3
  }

  /// The dialect assumed of an unidentified chip.
  public static let assumed = Dialect()

  /// The peculiarities of one vendor's chips: a row of the table of vendors.
  package struct Traits: Sendable {
    /// The identifiers of device parameters that have a second byte.
    var twoByteConfigIDs: ClosedRange<UInt8>?
    /// The possible lengths of the message control of uplink-TDoA measurements, the likelier length
    /// first.
    package var uplinkControlLengths = [1, 2]
    /// Whether data packets carry their length in the fourth byte only, unlike their header.
    var dataLengthInByte3 = false
    /// Whether the bytes that `NXPVendorTail` reads follow the measurements of a SESSION_INFO_NTF.
    package var hasMeasurementTail = false
  }

  // Sources: DW3_QM33_SDK 1.1.0 (uci_transport.c), which reads the length of every packet from its
  // fourth byte; nxp-uwb/sr250-uwbiot-zephyr.
  private static let traits: [Vendor: Traits] = [
    .qorvo: Traits(uplinkControlLengths: [2, 1], dataLengthInByte3: true),
    .nxp: Traits(twoByteConfigIDs: 0xE4...0xE5, hasMeasurementTail: true),
  ]

  package var traits: Traits { Self.traits[vendor] ?? Traits() }

  /// Device parameters (CORE_SET_CONFIG, CORE_GET_CONFIG) with an identifier of two bytes.
  package var twoByteConfigIDs: ClosedRange<UInt8>? { traits.twoByteConfigIDs }

  /// Creates a dialect from the chip's device information.
  ///
  /// - Parameter overStream: whether the packets come over a serial line as the chip's firmware
  ///   frames them. On other links they have the lengths of the specification.
  package init(_ info: DeviceInfo, overStream: Bool = false) {
    self.init(generation: Generation(info.uciVersion), vendor: info.vendor)
    dataLengthInByte3 = overStream && traits.dataLengthInByte3
  }

  /// Updates the dialect from a message with device information. A known vendor is kept if the
  /// message does not name a vendor.
  package mutating func learn(from message: Message) {
    guard case .payload(let response as BodyResponse<DeviceInfo>) = message.content,
      let info = response.body
    else { return }
    generation = Generation(info.uciVersion)
    if info.vendor != .unknown { vendor = info.vendor }
  }
}
