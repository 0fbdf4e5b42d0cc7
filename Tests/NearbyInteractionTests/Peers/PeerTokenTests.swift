// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing
import UCI
import UCIReference
import UWB

@testable import NearbyInteraction
@testable import Peers

private let both: PeerToken.Capabilities = [
  .preciseDistance, .direction, .provisionedSTS, .controller, .controlee,
]

private func identity(
  _ key: [UInt8], _ capabilities: PeerToken.Capabilities = both, channels: [Int] = [5, 9],
  address: UInt16 = 0x1234, interval: UInt16 = 200, slot: UInt16 = 2_400
) throws -> PeerIdentity {
  try PeerIdentity(
    key: key, capabilities: capabilities, channels: channels,
    address: address, interval: interval, minimumSlot: slot)
}

@Suite struct PeerTokenTests {
  @Test func layout() throws {
    let token = try identity(Published.alice).token
    let head = bytes("55574250 01 09 8303 3412 C800 6009")
    #expect(token.bytes.prefix(14) == head[...])
    #expect(Array(token.bytes[14..<46]) == Published.alicePublic)
    #expect(token.bytes.count == PeerToken.length)
    // SHA-256 of all the bytes before, by Python's hashlib.
    #expect(Array(token.bytes.suffix(4)) == bytes("9481282a"))
    #expect(try PeerToken(token.bytes) == token)
    #expect(token.channels == [5, 9])
  }

  @Test func changedBytesAreDetected() throws {
    let whole = try identity(Published.alice).token.bytes
    for place in whole.indices {
      var changed = whole
      changed[place] ^= 0x40
      #expect(throws: PeerTokenError.self, "byte \(place)") { try PeerToken(changed) }
    }
    for count in whole.indices {
      #expect(throws: PeerTokenError.self) { try PeerToken(Array(whole[..<count])) }
    }
    #expect(throws: PeerTokenError.self) { try PeerToken(whole + [0]) }
    var later = whole
    later[4] = 2
    #expect(throws: PeerTokenError.unknownVersion(2)) { try PeerToken(later) }
  }

  @Test func bothEndsDeriveTheSameSession() throws {
    let alice = try identity(Published.alice, interval: 120)
    let bob = try identity(Published.bob, address: 0x0042, interval: 300, slot: 3_600)
    let near = try alice.session(with: try PeerToken(bob.token.bytes))
    let far = try bob.session(with: try PeerToken(alice.token.bytes))
    #expect(near.role == .controller && far.role == .controlee)
    #expect(near.address == MACAddress(0x1234) && near.peers == [MACAddress(0x0042)])
    #expect(far.address == MACAddress(0x0042) && far.peers == [MACAddress(0x1234)])
    #expect(near.channel == 9)
    #expect(near.interval == 300 && near.slotDuration == 3_600)
    #expect(near.problems().errors.isEmpty && far.problems().errors.isEmpty)
    let ends = [near, far].map {
      SessionPeerConfiguration(
        sessionID: $0.sessionID, parameters: SessionParameters($0.parameters(for: .fira2)))
    }
    #expect(ends[0].differences(from: ends[1]).filter { $0.effect == .preventsRanging }.isEmpty)
  }

  /// The bytes of the documented derivation, computed independently: X25519 of RFC 7748's keys
  /// gives the published secret, from which Python's hmac and hashlib made these bytes as in RFC
  /// 5869.
  @Test func derivationOfTheDocumentedVersion() throws {
    let alice = try identity(Published.alice)
    let bob = try identity(Published.bob, address: 0x0042)
    let expanded = bytes("129a41729445d08aec46397e2989df120577f3103bd887c9e98c474c4b")
    let session = try alice.session(with: bob.token)
    #expect(
      session.sessionID
        == expanded[..<4].enumerated().reduce(0) {
          $0 | UInt32($1.element) << UInt32(8 * $1.offset)
        })
    #expect(session.sts == .provisioned(.init(Array(expanded[4..<20]))))
    #expect(session.preambleCode == 9 + expanded[28] % 4)
    let old = try identity(Published.bob, both.subtracting(.provisionedSTS), address: 0x0042)
    let expanded2 = bytes("8ea32245aeb8eb33f58217a2bf6bbb499e6cf57ff484036a5a9d11ea07")
    let fallback = try alice.session(with: old.token)
    #expect(
      fallback.sts
        == .fixed(.init(vendorID: Array(expanded2[20..<22]), iv: Array(expanded2[22..<28]))))
    #expect(try old.session(with: alice.token).sts == fallback.sts)
  }

  @Test func otherRunsAndKeysAreOtherSessions() throws {
    let alice = try identity(Published.alice)
    let bob = try identity(Published.bob)
    let session = try alice.session(with: bob.token)
    // Bob's next run has a new key, so his old token is useless.
    let next = try PeerIdentity(capabilities: both)
    let far = try next.session(with: alice.token)
    #expect(far.sts != session.sts)
    #expect(far.sessionID != session.sessionID)
    // The same keys, but a token that was modified.
    let changed = try identity(Published.bob, both.subtracting(.direction))
    #expect(try alice.session(with: changed.token).sts != session.sts)
  }

  @Test func equalAddressesAreResolved() throws {
    for address in [UInt16(1), 0x1234] {
      let alice = try identity(Published.alice, address: address)
      let bob = try identity(Published.bob, address: address)
      let near = try alice.session(with: bob.token)
      let far = try bob.session(with: alice.token)
      #expect(near.address != far.address)
      #expect([near.address] == far.peers && near.peers == [far.address])
    }
  }

  @Test func rolesDependOnCapabilities() throws {
    let alice = try identity(Published.alice, [.preciseDistance, .controlee])
    let bob = try identity(Published.bob)
    #expect(try alice.session(with: bob.token).role == .controlee)
    #expect(try bob.session(with: alice.token).role == .controller)
    let other = try identity(Published.bob, [.preciseDistance, .controlee])
    #expect(throws: PeerTokenError.self) { try alice.session(with: other.token) }
    let elsewhere = try identity(Published.bob, channels: [6])
    #expect(throws: PeerTokenError.self) { try alice.session(with: elsewhere.token) }
    #expect(throws: PeerTokenError.ownToken) { try alice.session(with: alice.token) }
  }

  @Test func thePrivateKeyIsNeverPrinted() throws {
    let alice = try identity(Published.alice)
    var dumped = ""
    dump(alice, to: &dumped)
    for text in ["\(alice)", String(reflecting: alice), dumped] { #expect(text.contains("hidden")) }
    #expect(!dumped.contains("0x77") && !dumped.contains("119"))
  }
}
