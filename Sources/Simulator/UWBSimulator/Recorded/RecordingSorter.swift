// SPDX-License-Identifier: Apache-2.0

import UCI

/// Assigns each packet of a recorded chip to its cause.
struct RecordingSorter {
  private(set) var greeting: [Recording.Answer] = []
  private(set) var turns: [Recording.Turn] = []

  /// The cause of a packet: a turn, or nil for power-up.
  private typealias Cause = Int?

  private var requests = RequestAssembler()
  /// The time at which each turn's request was complete; nil if the recording has no times.
  private var times: [UInt64?] = []
  private var powerUp: UInt64?
  /// The cause of the control message whose other segments follow.
  private var unfinished: Cause?

  mutating func take(_ packet: Recording.Packet) {
    guard let header = try? unsafe PacketHeader(parsing: packet.bytes.span.bytes),
      unsafe PacketHeader.length + header.payloadLength == packet.bytes.count
        || header.hasShortLength(of: packet.bytes.span.bytes)
    else { return }
    let payload = Array(packet.bytes[PacketHeader.length...])
    switch packet.direction {
    case .outbound:
      guard let request = requests.take(header, payload) else { return }
      turns.append(Recording.Turn(request: request))
      times.append(packet.time)
    case .inbound: sort(header, payload, packet)
    }
  }

  private mutating func sort(
    _ header: PacketHeader, _ payload: [UInt8], _ packet: Recording.Packet
  ) {
    let isContinued = header.type.isControl && unfinished != nil
    let cause = isContinued ? unfinished ?? nil : cause(of: header, payload)
    if header.type.isControl { unfinished = header.moreFollows ? .some(cause) : nil }
    var answer = Recording.Answer(delay: 0, bytes: packet.bytes, isFirst: !isContinued)
    guard let cause else {
      if powerUp == nil { powerUp = packet.time }
      answer.delay = delay(of: packet, header, payload, since: powerUp, after: greeting.last)
      greeting.append(answer)
      return
    }
    let turn = turns[cause]
    answer.isStream =
      turn.request.opcode == .sessionStart && turn.request.type == .command
      && header.type != .response && !Self.isState(header)
    answer.delay = delay(
      of: packet, header, payload, since: times[cause], after: turn.answers.last)
    turns[cause].answers.append(answer)
    if header.type == .response || Self.asksAgain(header) { turns[cause].isAnswered = true }
  }

  private func cause(of header: PacketHeader, _ payload: [UInt8]) -> Cause {
    func latest(_ matches: (Recording.Request) -> Bool) -> Int? {
      turns.lastIndex { matches($0.request) }
    }
    guard let last = turns.indices.last else { return nil }
    let own = latest { $0.type == .command && $0.opcode == header.opcode }
    switch header.type {
    case .response: return own ?? last
    case .notification:
      if header.opcode == .sessionInfo {
        let token = SessionTokens.token(
          type: header.type, opcode: header.opcode, payload: payload)
        return latest { $0.opcode == .sessionStart && $0.type == .command && $0.token == token }
          ?? own ?? last
      }
      if let own { return own }
      if Self.asksAgain(header) { return last }
      if Self.isState(header) { return latest { !Self.isQuestion($0) } ?? last }
    default: break
    }
    // Vendor and data packets during ranging come with the measurements.
    let isExtra = header.type == .data || header.opcode.group.isVendor
    return isExtra ? ranging ?? last : last
  }

  /// The latest start of a session; nil if that session was stopped.
  private var ranging: Int? {
    guard
      let start = turns.lastIndex(where: {
        $0.request.type == .command && $0.request.opcode == .sessionStart
      })
    else { return nil }
    let token = turns[start].request.token
    let ended = turns[start...].contains { turn in
      let opcode = turn.request.opcode
      return opcode == .coreDeviceReset
        || (opcode == .sessionStop || opcode == .sessionDeinit) && turn.request.token == token
    }
    return ended ? nil : start
  }

  private func delay(
    of packet: Recording.Packet, _ header: PacketHeader, _ payload: [UInt8],
    since cause: UInt64?, after last: Recording.Answer?
  ) -> UInt64 {
    let before = last?.delay ?? 0
    if let time = packet.time, let cause { return max(before, time > cause ? time - cause : 0) }
    // Without times, measurements are one interval apart, and all other packets follow at once.
    guard header.type == .notification, header.opcode == .sessionInfo, payload.count >= 13 else {
      return before
    }
    return before + payload[9..<13].number * 1_000_000
  }

  /// Returns whether the message is a state of the chip or of a session, or an error.
  private static func isState(_ header: PacketHeader) -> Bool {
    let states: [Opcode] = [.coreDeviceStatus, .coreGenericError, .sessionStatus]
    return header.type == .notification && states.contains(header.opcode)
  }

  private static func asksAgain(_ header: PacketHeader) -> Bool {
    header.type == .notification && header.opcode == .coreGenericError
  }

  /// Returns whether a command changes no state.
  private static func isQuestion(_ request: Recording.Request) -> Bool {
    let questions: Set<Opcode> = [
      .coreGetDeviceInfo, .coreGetCapsInfo, .coreGetConfig, .coreQueryUWBSTimestamp,
      .sessionGetCount, .sessionGetState, .sessionGetAppConfig, .sessionQueryDataSize,
      .sessionGetRangingCount,
    ]
    return request.type == .command && questions.contains(request.opcode)
  }
}
