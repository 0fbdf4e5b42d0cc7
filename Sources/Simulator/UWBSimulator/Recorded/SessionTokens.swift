// SPDX-License-Identifier: Apache-2.0

import UCI

/// Translates session identifiers between a recording and the host.
///
/// Since FiRa 2.0 the chip assigns a handle; before, sessions have the host's session ID, which may
/// differ from the recorded one.
struct SessionTokens: Sendable {
  /// The identifiers of a session in the recording and at the host.
  private var names: [(recorded: UInt32, host: UInt32)] = []

  /// Maps a session of the host to a recorded one.
  mutating func rename(_ recorded: UInt32, to host: UInt32) {
    names.removeAll { $0.recorded == recorded || $0.host == host }
    if recorded != host { names.append((recorded, host)) }
  }

  /// Returns a request with recorded identifiers.
  func recorded(_ request: Recording.Request) -> Recording.Request {
    guard request.opcode != .sessionInit, let token = request.token,
      let name = names.first(where: { $0.host == token }),
      let offset = Self.offset(type: request.type, opcode: request.opcode)
    else { return request }
    var request = request
    Self.write(name.recorded, into: &request.payload, at: offset)
    return request
  }

  /// Returns a packet of the chip with the host's identifiers.
  func forHost(_ answer: Recording.Answer) -> [UInt8] {
    guard !names.isEmpty, answer.isFirst,
      let header = try? unsafe PacketHeader(parsing: answer.bytes.span.bytes),
      let offset = Self.offset(type: header.type, opcode: header.opcode)
    else { return answer.bytes }
    let payload = Array(answer.bytes[PacketHeader.length...])
    let token = Self.token(type: header.type, opcode: header.opcode, payload: payload)
    guard let name = names.first(where: { $0.recorded == token }) else { return answer.bytes }
    var bytes = answer.bytes
    Self.write(name.host, into: &bytes, at: PacketHeader.length + offset)
    return bytes
  }

  /// Returns the session handle or ID in a message, if it has one.
  static func token(type: MessageType, opcode: Opcode, payload: [UInt8]) -> UInt32? {
    guard let offset = offset(type: type, opcode: opcode), payload.count >= offset + 4 else {
      return nil
    }
    return UInt32(payload[offset..<offset + 4].number)
  }

  private static func offset(type: MessageType, opcode: Opcode) -> Int? {
    let isSession = opcode.group == .sessionConfig || opcode.group == .sessionControl
    switch type {
    case .command: return isSession && opcode != .sessionGetCount ? 0 : nil
    case .notification: return isSession ? (opcode == .sessionInfo ? 4 : 0) : nil
    case .data: return 0
    default: return nil
    }
  }

  static func write(_ value: UInt32, into bytes: inout [UInt8], at offset: Int) {
    bytes.replaceSubrange(offset..<offset + 4, with: value.bytes)
  }
}
