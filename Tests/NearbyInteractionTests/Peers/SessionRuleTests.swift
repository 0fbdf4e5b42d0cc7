// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing
import UCI
import UCIReference
import UWB

@testable import NearbyInteraction
@testable import Peers

/// The session that both ends derive from two tokens, and tokens with valid checksums but invalid
/// fields.
@Suite struct SessionRuleTests {
  private static let both: PeerToken.Capabilities = [.preciseDistance, .controller, .controlee]

  /// Alice's key is the lower one, so hers is the first token.
  private func identity(
    _ key: [UInt8], _ capabilities: PeerToken.Capabilities = both, channels: [Int] = [5, 9],
    address: UInt16 = 0x1234, interval: UInt16 = 200, slot: UInt16 = 2_400
  ) throws -> PeerIdentity {
    try PeerIdentity(
      key: key, capabilities: capabilities, channels: channels,
      address: address, interval: interval, minimumSlot: slot)
  }

  /// The sessions of both ends, which differ in their roles only.
  private func sessions(
    _ alice: PeerIdentity, _ bob: PeerIdentity
  ) throws -> [SessionConfiguration] {
    [try alice.session(with: bob.token), try bob.session(with: alice.token)]
  }

  // MARK: fields

  @Test(
    arguments: [
      (0, 200, 2_400, "address"), (0xFFFE, 200, 2_400, "address"), (0xFFFF, 200, 2_400, "address"),
      (1, 0, 2_400, "interval"), (1, 200, 0, "shortest slot"),
    ] as [(UInt16, UInt16, UInt16, String)])
  func invalidFieldsAreNamed(
    address: UInt16, interval: UInt16, slot: UInt16, field: String
  ) {
    let token = PeerToken(
      channelMask: 9, capabilities: Self.both, address: address, interval: interval,
      minimumSlot: slot, publicKey: Published.alicePublic)
    let error = #expect(throws: PeerTokenError.self) { try PeerToken(token.bytes) }
    guard case .malformed(field, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  /// Bytes that are not a token, and tokens that were truncated or extended.
  @Test func invalidTokensAreNamed() throws {
    let whole = try identity(Published.alice).token.bytes
    let cases: [([UInt8], String)] = [
      (Array("something else, as long as a token of this version".utf8), "the beginning"),
      ([], "the beginning"), (Array(whole.prefix(4)), "version"), (whole.dropLast(), "length"),
      (whole + [0], "length"), (whole.dropLast() + [whole[49] ^ 1], "checksum"),
    ]
    for (bytes, field) in cases {
      let error = #expect(throws: PeerTokenError.self) { try PeerToken(bytes) }
      guard case .malformed(field, _) = error else {
        Issue.record("\(String(describing: error)), not \(field)")
        continue
      }
    }
  }

  @Test func theLastAddressIsValid() throws {
    let token = PeerToken(
      channelMask: 9, capabilities: Self.both, address: 0xFFFD, interval: 1, minimumSlot: 1,
      publicKey: Published.alicePublic)
    #expect(try PeerToken(token.bytes) == token)
  }

  /// The order of the bits is that of FiRa's CHANNELS capability.
  @Test func channelsAreBits() throws {
    for (bit, channel) in [5, 6, 8, 9, 10, 12, 13, 14].enumerated() {
      let token = try identity(Published.alice, channels: [channel, 7]).token
      #expect(token.channelMask == 1 << UInt8(bit) && token.channels == [channel])
    }
  }

  @Test func identitiesHaveValidAddressesAndTimes() throws {
    let identities = try (0..<20).map { _ in
      try PeerIdentity(capabilities: Self.both, interval: 0, minimumSlot: 0)
    }
    for identity in identities {
      #expect(try PeerToken(identity.token.bytes) == identity.token)
      #expect((1...0xFFFC).contains(identity.token.address))
    }
    #expect(Set(identities.map(\.token.address)).count > 10)
    #expect(Set(identities.map(\.token.publicKey)).count == 20)
  }

  // MARK: sessions

  @Test func onePeerIsTheController() throws {
    let sets: [PeerToken.Capabilities] = [[], [.controller], [.controlee], Self.both]
    for one in sets {
      for other in sets {
        let ends = (try identity(Published.alice, one), try identity(Published.bob, other))
        let first = one.contains(.controller) && other.contains(.controlee)
        let second = other.contains(.controller) && one.contains(.controlee)
        guard first || second else {
          #expect(throws: PeerTokenError.self) { try ends.0.session(with: ends.1.token) }
          #expect(throws: PeerTokenError.self) { try ends.1.session(with: ends.0.token) }
          continue
        }
        let roles = try sessions(ends.0, ends.1).map(\.role)
        #expect(roles == (first ? [.controller, .controlee] : [.controlee, .controller]))
      }
    }
  }

  @Test func slotsFitBothChips() throws {
    let slots: [(UInt16, UInt16, UInt16)] = [
      (1_200, 1_200, 2_400), (3_600, 2_400, 3_600), (2_400, 3_600, 3_600),
    ]
    for (one, other, expected) in slots {
      let ends = try sessions(
        identity(Published.alice, slot: one), identity(Published.bob, slot: other))
      #expect(ends.map(\.slotDuration) == [expected, expected])
      #expect(ends.map(\.slotsPerRound) == [6, 6])
      #expect(ends.map(\.resultReport) == [.timeOfFlight, .timeOfFlight])
    }
  }

  /// A round has six slots of 2 ms; fractions of a millisecond are rounded up.
  @Test func theIntervalIsTheLongerOneAndFitsARound() throws {
    let intervals: [(UInt16, UInt16, UInt16, UInt32)] = [
      (120, 300, 2_400, 300), (300, 120, 2_400, 300), (1, 5, 2_400, 12), (1, 1, 2_401, 13),
    ]
    for (one, other, slot, expected) in intervals {
      let ends = try sessions(
        identity(Published.alice, interval: one, slot: slot),
        identity(Published.bob, interval: other))
      #expect(ends.map(\.interval) == [expected, expected])
    }
  }

  @Test func theChannelIsCommonToBoth() throws {
    let channels: [([Int], [Int], UInt8)] = [
      ([5, 9], [5, 9], 9), ([5, 6, 8], [5, 8, 10], 5), ([9, 14], [14], 14), ([6, 9], [6, 5], 6),
    ]
    for (one, other, expected) in channels {
      let ends = try sessions(
        identity(Published.alice, channels: one), identity(Published.bob, channels: other))
      #expect(ends.map(\.channel) == [expected, expected])
    }
    #expect(throws: PeerTokenError.self) {
      try sessions(
        identity(Published.alice, channels: [5]), identity(Published.bob, channels: [9]))
    }
  }

  @Test func keysAreProvisionedWhereBothChipsSupportIt() throws {
    let with = Self.both.union(.provisionedSTS)
    for (one, other) in [
      (with, with), (with, Self.both), (Self.both, with), (Self.both, Self.both),
    ] {
      let ends = try sessions(identity(Published.alice, one), identity(Published.bob, other))
      #expect(ends[0].sts == ends[1].sts)
      var isProvisioned = false
      if case .provisioned = ends[0].sts { isProvisioned = true }
      #expect(isProvisioned == (one == with && other == with))
    }
  }

  /// The capabilities of one end do not change the other.
  @Test func anglesAreRequestedWhereSupported() throws {
    for angle in [PeerToken.Capabilities.direction, .elevation] {
      let ends = try sessions(
        identity(Published.alice, Self.both.union(angle)), identity(Published.bob))
      #expect(ends.map(\.wantsAngles) == [true, false])
    }
  }

  /// The second token's address changes, but not to 0, which is invalid.
  @Test func equalAddressesAreMadeDifferent() throws {
    for (address, other) in [(1, 2), (2, 1), (0xFFFD, 0xFFFC)] as [(UInt16, UInt16)] {
      let ends = try sessions(
        identity(Published.alice, address: address), identity(Published.bob, address: address))
      #expect(ends.map(\.address) == [MACAddress(address), MACAddress(other)])
      #expect(ends.map(\.peers) == [[MACAddress(other)], [MACAddress(address)]])
    }
  }

  // MARK: chips

  /// CORE_GET_CAPS_INFO_RSP of FiRa 2.0, whose 0x02 has four bytes.
  private func chip(_ values: [(CapabilityID, [UInt8])]) -> Capabilities {
    Capabilities(
      [TLV(0x02, [2, 0, 2, 0])] + values.map { TLV($0.0.number(in: .fira2) ?? 0, $0.1) })
  }

  @Test func chipCapabilities() {
    func said(_ values: [(CapabilityID, [UInt8])]) -> PeerToken.Capabilities {
      PeerToken.Capabilities(chip(values))
    }
    // A chip that reports nothing has the capabilities that all chips have.
    #expect(said([]) == Self.both)
    // Bits of roles: responder 0, initiator 1, tag 8; of types: controller 0, controlee 1.
    #expect(said([(.deviceRoles, [1, 0])]) == [.preciseDistance, .controlee])
    #expect(said([(.deviceRoles, [2, 0])]) == [.preciseDistance, .controller])
    #expect(said([(.deviceRoles, [3, 1])]) == Self.both.union(.downlinkTDoA))
    #expect(said([(.deviceType, [1])]) == [.preciseDistance, .controller])
    #expect(said([(.deviceType, [2])]) == [.preciseDistance, .controlee])
    // Bits of STS modes: the fourth is a provisioned key.
    #expect(said([(.stsConfig, [0x08])]) == Self.both.union(.provisionedSTS))
    #expect(said([(.stsConfig, [0x17])]) == Self.both)
    // Bits of angles: azimuth to 90 degrees, azimuth to 180, elevation.
    #expect(said([(.aoaSupport, [1])]) == Self.both.union(.direction))
    #expect(said([(.aoaSupport, [2])]) == Self.both.union(.direction))
    #expect(said([(.aoaSupport, [4])]) == Self.both.union(.elevation))
  }
}
