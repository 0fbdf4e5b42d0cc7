// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyInteraction
@testable import Peers

/// The announcements and messages of peers, and the list of peers, without a network.
@Suite struct PeerWordsTests {
  // MARK: announcements

  private static let bytes: [UInt8] =
    Array("UWBN".utf8) + [1, 8, 7, 6, 5, 4, 3, 2, 1, 0x15, 0x1E, 3] + Array("abcJörg".utf8)

  @Test func anAnnouncementIsReadAsItWasWritten() throws {
    let read = try #require(PeerAnnouncement(Self.bytes))
    #expect(
      read == PeerAnnouncement(id: 0x0102_0304_0506_0708, port: 7_701, service: "abc", name: "Jörg")
    )
    #expect(read.bytes == Self.bytes)
    let longest = PeerAnnouncement(
      id: .max, port: .max, service: String(repeating: "s", count: 15),
      name: String(repeating: "n", count: 63))
    #expect(PeerAnnouncement(longest.bytes) == longest)
    #expect(longest.bytes.count <= PeerAnnouncement.longest)
  }

  @Test func nothingElseIsAnAnnouncement() {
    for length in 0..<18 { #expect(PeerAnnouncement(Array(Self.bytes.prefix(length))) == nil) }
    for (index, value) in [(0, 0), (4, 2), (15, 0), (15, 16), (15, 200), (16, 0x41), (16, 0x20)] {
      var damaged = Self.bytes
      damaged[index] = UInt8(value)
      #expect(PeerAnnouncement(damaged) == nil, "\(index)")
    }
    let start = Array(Self.bytes.prefix(19))
    for name in ["a\nb", "a\u{1B}[2Jb", "a\u{202E}b", "a\u{200B}b", "\u{7F}", "\u{2028}"] {
      #expect(PeerAnnouncement(start + name.utf8) == nil, "\(name.debugDescription)")
    }
    #expect(PeerAnnouncement(start + [0xC3]) == nil)
    #expect(PeerAnnouncement(start + [UInt8](repeating: 0x61, count: 64)) == nil)
  }

  // MARK: the list of peers

  private static func heard(
    _ id: UInt64, port: UInt16 = 7_000, service: String = "abc", from address: String = "10.0.0.1"
  ) -> PeerBeacon.Heard {
    .init(
      announcement: .init(id: id, port: port, service: service, name: "n\(id)"), address: address)
  }

  @Test func peersAreFoundAndLost() {
    var roster = PeerRoster(own: 1, service: "abc")
    #expect(roster.update(Self.heard(1), at: 0) == nil)
    #expect(roster.update(Self.heard(2, service: "xyz"), at: 0) == nil)
    #expect(roster.update(Self.heard(2, port: 0), at: 0) == nil)
    #expect(roster.update(Self.heard(2), at: 0) == .found(id: 2))
    #expect(roster.update(Self.heard(2), at: 1) == nil)
    #expect(roster.update(Self.heard(3), at: 1) == .found(id: 3))
    // No other program can end a peer or change its address.
    #expect(roster.update(Self.heard(3, port: 0, from: "10.0.0.9"), at: 2) == nil)
    #expect(roster.update(Self.heard(3, port: 9, from: "10.0.0.9"), at: 2) == nil)
    #expect(roster.entries[3]?.address == "10.0.0.1" && roster.entries[3]?.port == 7_000)
    #expect(roster.update(Self.heard(3, port: 0), at: 2) == .lost(id: 3))
    #expect(roster.expire(at: 5.9).isEmpty)
    #expect(roster.expire(at: 6) == [.lost(id: 2)])
    #expect(roster.update(Self.heard(2), at: 9) == .found(id: 2))
  }

  @Test func aFloodTakesNoMorePlaceThanThereIs() {
    var roster = PeerRoster(own: 1, service: "abc")
    for id in 2..<100_000 { _ = roster.update(Self.heard(UInt64(id)), at: 0) }
    #expect(roster.entries.count == 8)
    // The invalid announcement does not hide another machine.
    #expect(roster.update(Self.heard(1 << 40, from: "10.0.0.2"), at: 0) == .found(id: 1 << 40))
    for id in 2..<100_000 {
      _ = roster.update(Self.heard(UInt64(id), from: "10.1.\(id >> 8 & 255).\(id & 255)"), at: 0)
    }
    #expect(roster.entries.count == 64)
  }

  // MARK: messages

  @Test func messagesAreReadAsTheyWereWritten() {
    let token = [UInt8](0..<50)
    let nonce = [UInt8](100..<116)
    let messages: [PeerMessage] = [
      .invitation(commitment: nonce + nonce, name: "Alice"),
      .answer(token: token, nonce: nonce, name: "B"), .reveal(token: token, nonce: nonce),
      .confirmation(proof: nonce), .refusal,
    ]
    for message in messages {
      let bytes = message.bytes
      #expect(PeerMessage(bytes) == message)
      for length in 0..<bytes.count {
        let part = PeerMessage(Array(bytes.prefix(length)))
        // The name is the only field without a fixed length.
        #expect(part == nil || part?.bytes == Array(bytes.prefix(length)))
      }
      #expect(PeerMessage([0x06] + bytes.dropFirst()) == nil)
    }
    #expect(PeerMessage([0x01, 2] + nonce + nonce + Array("Alice".utf8)) == nil)
    #expect(PeerMessage(PeerMessage.refusal.bytes + [0]) == nil)
  }

  // MARK: the code

  @Test func theCodeDependsOnEverything() throws {
    let identities = try (0..<3).map { _ in
      try PeerIdentity(capabilities: [.controller, .controlee])
    }
    let openings = identities.map { PeerOpening($0) }
    let right = PeerTranscript(openings[0], named: "A", openings[1], named: "B")
    #expect(right.code.count == 7 && right.code.split(separator: " ").map(\.count) == [3, 3])
    #expect(right.code.allSatisfy { $0.isNumber || $0 == " " })
    let again = PeerOpening(token: openings[0].token, nonce: openings[2].nonce)
    for other in [
      PeerTranscript(openings[1], named: "A", openings[0], named: "B"),
      PeerTranscript(openings[0], named: "AB", openings[1], named: ""),
      PeerTranscript(openings[0], named: "A", openings[1], named: "C"),
      PeerTranscript(openings[2], named: "A", openings[1], named: "B"),
      PeerTranscript(again, named: "A", openings[1], named: "B"),
    ] {
      #expect(other.digest != right.digest)
    }
    #expect(again.commitment != openings[0].commitment)
    // Both ends compute the same proofs, and no other end does.
    let tokens = try openings.map { try PeerToken($0.token) }
    let mine = try right.proof(ofA: true, identities[0], tokens[1])
    #expect(try mine == right.proof(ofA: true, identities[1], tokens[0]))
    #expect(try mine != right.proof(ofA: false, identities[1], tokens[0]))
    #expect(try mine != right.proof(ofA: true, identities[2], tokens[1]))
  }
}
