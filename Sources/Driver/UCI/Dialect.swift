// SPDX-License-Identifier: Apache-2.0

/// How one chip speaks UCI, as far as layouts depend on it.
///
/// Most differences can be told from the length of a message; what is in here is what cannot. It is
/// chosen from what the chip says of itself: `learn(from:)`.
public struct Dialect: Hashable, Sendable {
  /// Which specification the messages follow.
  public enum Generation: UInt8, Sendable, Comparable, CaseIterable {
    /// FiRa UCI 1.x: sessions are named by their id.
    case fira1 = 1
    /// FiRa UCI 2.0: sessions are named by a handle that the chip gives.
    case fira2 = 2
    /// FiRa UCI 3.0: logical links, role changes.
    case fira3 = 3

    /// Order of publication.
    public static func < (a: Generation, b: Generation) -> Bool { a.rawValue < b.rawValue }

    /// The specification that this version of UCI belongs to: what is older than 1.0 counts as it,
    /// what is newer than is known here as the newest.
    public init(_ version: UCIVersion) {
      self = Generation(rawValue: min(max(version.major, 1), 3)) ?? .fira2
    }
  }

  /// Whose vendor groups these are.
  public enum Vendor: String, Sendable, CaseIterable {
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
  /// Data packets carry their length in the fourth byte only.
  public var dataLengthInByte3: Bool

  /// A dialect.
  public init(
    generation: Generation = .fira2, vendor: Vendor = .unknown, dataLengthInByte3: Bool = false
  ) {
    self.generation = generation
    self.vendor = vendor
    self.dataLengthInByte3 = dataLengthInByte3
  }

  /// What is assumed of a chip that has not said anything yet.
  public static let assumed = Dialect()

  /// What one vendor's chips do in their own way: a row of the table of vendors.
  package struct Traits: Sendable {
    /// Identifiers of parameters of the chip that have a second byte.
    var twoByteConfigIDs: ClosedRange<UInt8>?
    /// How long the message control of uplink-TDoA measurements can be, the likelier length first.
    var uplinkControlLengths = [1, 2]
    /// Data packets carry their length in the fourth byte only, whatever the header should be.
    var dataLengthInByte3 = false
    /// What `NXPVendorTail` reads stands behind the measurements of a SESSION_INFO_NTF.
    package var hasMeasurementTail = false
  }

  // Sources: DW3_QM33_SDK 1.1.0 (uci_transport.c), which takes the length of every packet from its
  // fourth byte; nxp-uwb/sr250-uwbiot-zephyr.
  private static let traits: [Vendor: Traits] = [
    .qorvo: Traits(uplinkControlLengths: [2, 1], dataLengthInByte3: true),
    .nxp: Traits(twoByteConfigIDs: 0xE4...0xE5, hasMeasurementTail: true),
  ]

  package var traits: Traits { Self.traits[vendor] ?? Traits() }

  /// Device parameters (CORE_SET_CONFIG, CORE_GET_CONFIG) with an identifier of two bytes.
  package var twoByteConfigIDs: ClosedRange<UInt8>? { traits.twoByteConfigIDs }

  /// What a chip says of itself.
  ///
  /// - Parameter overStream: the packets come over a serial line as the chip's firmware frames them.
  ///   On other links they have the lengths of the specification.
  package init(_ info: DeviceInfo, overStream: Bool = false) {
    self.init(generation: Generation(info.uciVersion), vendor: info.vendor)
    dataLengthInByte3 = overStream && traits.dataLengthInByte3
  }

  /// Takes what a message says of the chip: its device information. A vendor that is known already
  /// is kept where the message does not name one.
  package mutating func learn(from message: Message) {
    guard case .payload(let response as BodyResponse<DeviceInfo>) = message.content,
      let info = response.body
    else { return }
    generation = Generation(info.uciVersion)
    if info.vendor != .unknown { vendor = info.vendor }
  }
}
