// SPDX-License-Identifier: Apache-2.0
internal import Peers
internal import UCI
internal import UWB

/// Announcements and messages that strangers in the network send to programs that look for peers.
enum PeerTarget: Target {
  static let name = "peers"

  static func run(_ input: [UInt8]) {
    if let announcement = PeerAnnouncement(input) {
      if announcement.bytes != input { fail("\(announcement) is not as it came") }
      Properties.printable(announcement.name)
      Properties.printable(announcement.service)
    }
    guard let message = PeerMessage(input) else { return }
    if message.bytes != input { fail("\(message) is not as it came") }
    switch message {
    case .invitation(_, let name): Properties.printable(name)
    case .answer(let token, _, let name):
      Properties.printable(name)
      check(token)
    case .reveal(let token, _): check(token)
    case .confirmation, .refusal: break
    }
  }

  private static func check(_ bytes: [UInt8]) {
    do throws(PeerTokenError) {
      let token = try PeerToken(bytes)
      if token.bytes != bytes { fail("a token is not as it came") }
      let own = try PeerIdentity(capabilities: [.controller, .controlee])
      let session = try own.session(with: token)
      if session.address == session.peers.first { fail("both ends have one address") }
      _ = session.problems()
    } catch { Properties.printable(error.description) }
  }

  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    guard let identity = try? PeerIdentity(capabilities: [.controller, .controlee]) else {
      fail("libcrypto is missing")
    }
    let token = identity.token.bytes
    let nonce = [UInt8](repeating: 7, count: 16)
    let messages: [PeerMessage] = [
      .invitation(commitment: nonce + nonce, name: "Alice"),
      .answer(token: token, nonce: nonce, name: "Bob"), .reveal(token: token, nonce: nonce),
      .confirmation(proof: nonce), .refusal,
    ]
    let announcement = PeerAnnouncement(id: 1, port: 7_000, service: "uwbctl", name: "Alice")
    return messages.map(\.bytes) + [announcement.bytes]
  }
}
