// SPDX-License-Identifier: Apache-2.0
internal import System
internal import UCI
package import UCIReference
package import UWB

/// One end of a session between two Linux machines: a token to send, and its private key. The key
/// is never printed. Each session needs a new identity.
package struct PeerIdentity: Sendable, Secret {
  /// The token to send to the peer.
  package let token: PeerToken
  /// The X25519 private key, 32 bytes.
  let key: [UInt8]

  /// Creates an end with a new key and a random address.
  ///
  /// - Parameters:
  ///   - channels: the channels of the chip; channels without a UCI number are omitted.
  ///   - interval: the requested ranging interval in milliseconds, at least 1.
  ///   - minimumSlot: the shortest slot of the chip in RSTU, at least 1.
  /// - Throws: `PeerTokenError.noCryptography`.
  package init(
    capabilities: PeerToken.Capabilities, channels: [Int] = [5, 9], interval: UInt16 = 200,
    minimumSlot: UInt16 = 2_400
  ) throws(PeerTokenError) {
    try self.init(
      key: Cryptography.makePrivateKey(), capabilities: capabilities, channels: channels,
      address: .random(in: 1...0xFFFC), interval: interval, minimumSlot: minimumSlot)
  }

  /// Creates the end of a device, with the capabilities of its chip.
  ///
  /// - Parameters:
  ///   - interval: the requested ranging interval in milliseconds.
  ///   - software: capabilities in addition to the chip's, such as `.cameraAssistance`.
  package init(
    of device: UWBDevice, interval: UInt16 = 200, software: PeerToken.Capabilities = []
  ) throws(PeerTokenError) {
    try self.init(of: Capabilities(device.capabilities), interval: interval, software: software)
  }

  package init(
    of chip: Capabilities, interval: UInt16 = 200, software: PeerToken.Capabilities = []
  ) throws(PeerTokenError) {
    try self.init(
      capabilities: PeerToken.Capabilities(chip).union(software), channels: chip.channels ?? [9],
      interval: interval, minimumSlot: chip.shortestSlot)
  }

  init(
    key: [UInt8], capabilities: PeerToken.Capabilities, channels: [Int], address: UInt16,
    interval: UInt16, minimumSlot: UInt16
  ) throws(PeerTokenError) {
    self.key = key
    token = PeerToken(
      channelMask: PeerToken.mask(channels), capabilities: capabilities, address: address,
      interval: max(1, interval), minimumSlot: max(1, minimumSlot),
      publicKey: try Cryptography.load().publicKey(of: key))
  }
}

extension PeerToken.Capabilities {
  /// Creates the capabilities that a chip reports. Older chips do not report whether they can be
  /// controllers, but all of them can.
  package init(_ chip: Capabilities) {
    self = [.preciseDistance]
    let angles = chip.angles ?? []
    if !angles.isDisjoint(with: [.azimuth90, .azimuth180]) { insert(.direction) }
    if angles.contains(.elevation) { insert(.elevation) }
    if chip.stsModes?.contains(.provisioned) == true { insert(.provisionedSTS) }
    if chip.roles?.contains(.dtTag) == true { insert(.downlinkTDoA) }
    let types = chip.deviceTypes ?? [.controller, .controlee]
    let roles = chip.roles ?? [.initiator, .responder]
    if types.contains(.controller), roles.contains(.initiator) { insert(.controller) }
    if types.contains(.controlee), roles.contains(.responder) { insert(.controlee) }
  }
}

extension PeerToken {
  /// The channels in the order of the UCI capability CHANNELS.
  static let channelNumbers = [5, 6, 8, 9, 10, 12, 13, 14]

  static func mask(_ channels: [Int]) -> UInt8 {
    channels.compactMap { channelNumbers.firstIndex(of: $0) }.reduce(0) { $0 | 1 << UInt8($1) }
  }

  /// The channels of the chip in ascending order.
  package var channels: [Int] {
    Self.channelNumbers.enumerated().filter { channelMask >> UInt8($0.offset) & 1 != 0 }
      .map(\.element)
  }
}

extension Capabilities {
  /// The shortest slot in RSTU; 2400 (2 ms), which every chip supports, if the chip reports none.
  fileprivate var shortestSlot: UInt16 {
    let said = self[.minSlotDuration] ?? self[.androidMinSlotDuration]
    return said.flatMap { TLV(0, $0).integer }.map { UInt16(clamping: $0) } ?? 2_400
  }
}
