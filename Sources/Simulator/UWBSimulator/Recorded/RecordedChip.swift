// SPDX-License-Identifier: Apache-2.0

package import UCI

/// A chip that replays a recording, as a state machine. Its input is bytes and a time, and its
/// output is packets.
///
/// A request is answered as the next equal request in the recording, starting over after the last
/// one. Without an equal request, the answer is the one to a request with the same opcode and
/// different contents. Requests that were not recorded are refused as unknown, except for the
/// requests with which every host opens a chip: a reset works, and device information and
/// capabilities are generic.
package struct RecordedChip: Sendable {
  /// The number of requests by their match in the recording.
  package struct Statistics: Sendable, Hashable {
    /// The number of requests that equal a recorded request.
    package var exact = 0
    /// The number of requests that were recorded only with different contents.
    package var similar = 0
    /// The number of requests that were answered although they were not recorded, by opcode.
    package var invented: [Opcode: Int] = [:]
    /// The number of commands that were refused because they were not recorded, by opcode.
    package var unknown: [Opcode: Int] = [:]
    package var packetsSent = 0

    package init() {}
  }

  package private(set) var statistics = Statistics()

  /// An answer in progress.
  private struct Playing {
    /// The turn that is played; nil for the packets before the first request.
    var turn: Int?
    var next = 0
    /// The start in nanoseconds, from which delays count.
    var began: UInt64
    /// The number that is added to sequence numbers, after repetitions.
    var sequenceOffset: UInt32 = 0
  }

  private let recording: Recording
  private let speed: Double
  private let repeats: Bool
  private var playing: [Playing] = []
  private var cursor = 0
  private var tokens = SessionTokens()
  private var receiver = CommandReceiver(rule: .byHeader)
  private var requests = RequestAssembler()
  private var invented: [[UInt8]] = []

  /// Creates a chip without power.
  ///
  /// - Parameters:
  ///   - speed: the factor by which packets are sent faster than recorded; `.infinity` sends
  ///     everything at once.
  ///   - repeats: whether measurements start over, with higher sequence numbers, until the session
  ///     is stopped.
  package init(_ recording: Recording, speed: Double = 1, repeats: Bool = false) {
    precondition(speed > 0, "time does not stand still")
    self.recording = recording
    self.speed = speed
    self.repeats = repeats
  }

  /// Starts with the recorded unsolicited packets; `now` in nanoseconds.
  package mutating func powerUp(at now: UInt64) { playing.append(Playing(turn: nil, began: now)) }

  /// Receives bytes from the host in chunks of any size; `now` in nanoseconds, never less than
  /// before.
  package mutating func receive(_ bytes: [UInt8], at now: UInt64) {
    for packet in receiver.take(bytes, at: now) {
      guard let header = try? unsafe PacketHeader(parsing: packet.span.bytes) else { continue }
      guard [.data, .command, .testCommand].contains(header.type),
        let request = requests.take(header, Array(packet[PacketHeader.length...]))
      else { continue }
      take(request, at: now)
    }
  }

  /// Returns the packets that are due, header included.
  package mutating func takeOutput(at now: UInt64) -> [[UInt8]] {
    defer { invented = [] }
    var output = invented
    while let (index, due) = nextDue(), due <= now {
      let answer = answers(playing[index].turn)[playing[index].next]
      output.append(words(answer, playing[index].sequenceOffset))
      statistics.packetsSent += 1
      playing[index].next += 1
      if playing[index].next == answers(playing[index].turn).count { finish(index, at: due) }
    }
    return output
  }

  /// The time of the next packet in nanoseconds; nil if there is none.
  package var nextDeadline: UInt64? { invented.isEmpty ? nextDue()?.due : 0 }

  // MARK: requests

  private mutating func take(_ request: Recording.Request, at now: UInt64) {
    let request = tokens.recorded(request)
    end(request)
    if let index = turn(from: cursor, where: { $0 == request }) {
      statistics.exact += 1
      play(index, at: now)
    } else if let first = turn(
      from: cursor, where: { $0.opcode == request.opcode && $0.type == request.type })
    {
      statistics.similar += 1
      // A host may combine messages that the recorded host sent one by one. The answer is then the
      // answer to the last of them.
      var index = first
      while index + 1 < recording.turns.count,
        recording.turns[index + 1].request.opcode == request.opcode
      {
        index += 1
      }
      rename(request, as: recording.turns[index])
      play(index, at: now)
    } else if request.type != .data {
      invent(request)
    }
  }

  /// Ends the answers that a request replaces: a start replaces the running answers to an earlier
  /// start; a stop, a DEINIT and a reset end measurements.
  private mutating func end(_ request: Recording.Request) {
    guard request.type == .command else { return }
    switch request.opcode {
    case .coreDeviceReset: playing = []
    case .sessionStart, .sessionStop, .sessionDeinit:
      playing.removeAll { playing in
        guard let turn = playing.turn else { return false }
        let cause = recording.turns[turn].request
        return cause.opcode == .sessionStart && cause.type == .command
          && cause.token == request.token
      }
    default: break
    }
  }

  /// Returns the first matching turn from `start` on, or else from the beginning.
  private func turn(from start: Int, where matches: (Recording.Request) -> Bool) -> Int? {
    let turns = recording.turns
    return turns.indices[start...].first { matches(turns[$0].request) }
      ?? turns.indices[..<start].first { matches(turns[$0].request) }
  }

  private mutating func play(_ index: Int, at now: UInt64) {
    cursor = index + 1
    if recording.turns[index].answers.isEmpty { return }
    playing.append(Playing(turn: index, began: now))
  }

  /// Maps the session; if the response contains no handle, the session is named by its ID.
  private mutating func rename(_ request: Recording.Request, as turn: Recording.Turn) {
    guard request.opcode == .sessionInit, request.type == .command,
      let host = request.token, let recorded = turn.request.token,
      turn.answers.contains(where: {
        $0.bytes.count == PacketHeader.length + 1 && $0.bytes[0] >> 5 == 2
      })
    else { return }
    tokens.rename(recorded, to: host)
  }

  private mutating func invent(_ request: Recording.Request) {
    func respond(_ payload: [UInt8]) {
      invented += Segmentation.packets(type: .response, opcode: request.opcode, payload: payload)
    }
    switch request.opcode {
    case .coreDeviceReset:
      respond([Status.ok.rawValue])
      invented += Segmentation.packets(
        type: .notification, opcode: .coreDeviceStatus, payload: [DeviceState.ready.rawValue])
    case .coreGetDeviceInfo:
      let version = UCIVersion(2, 0)
      let info = DeviceInfo(
        uciVersion: version, macVersion: version, phyVersion: version, testVersion: version,
        vendorInfo: [])
      respond(BodyResponse(status: .ok, body: info).encoded())
    case .coreGetCapsInfo: respond([Status.ok.rawValue, 0])
    default:
      statistics.unknown[request.opcode, default: 0] += 1
      let isKnownGroup =
        !request.opcode.group.isVendor
        || recording.turns.contains { $0.request.opcode.group == request.opcode.group }
      return respond([(isKnownGroup ? Status.unknownOID : .unknownGID).rawValue])
    }
    statistics.invented[request.opcode, default: 0] += 1
  }

  // MARK: answers

  private func answers(_ turn: Int?) -> [Recording.Answer] {
    turn.map { recording.turns[$0].answers } ?? recording.greeting
  }

  /// Returns the next packet; of simultaneous packets, the packet of the earliest request.
  private func nextDue() -> (index: Int, due: UInt64)? {
    var best: (index: Int, due: UInt64)?
    for (index, entry) in playing.enumerated() {
      let answers = answers(entry.turn)
      guard entry.next < answers.count else { continue }
      let delay = Double(answers[entry.next].delay) / speed
      let due = entry.began &+ UInt64(min(delay, 1e18))
      if best.map({ due < $0.due }) ?? true { best = (index, due) }
    }
    return best
  }

  private mutating func finish(_ index: Int, at now: UInt64) {
    let answers = answers(playing[index].turn)
    guard repeats, speed.isFinite, let first = answers.firstIndex(where: \.isStream),
      let last = answers.last(where: \.isStream), last.delay > answers[first].delay
    else {
      playing.remove(at: index)
      return
    }
    let numbers = answers.compactMap { $0.isStream ? $0.sequenceNumber : nil }
    let count = Set(numbers).count
    // Repetitions continue at the average interval.
    let span = last.delay - answers[first].delay
    let pause = span / UInt64(max(count - 1, 1))
    let shift = Double(answers[first].delay) - Double(pause)
    playing[index].next = first
    playing[index].began = UInt64(max(0, Double(now) - shift / speed))
    if let low = numbers.min(), let high = numbers.max() {
      playing[index].sequenceOffset &+= high &- low &+ 1
    }
  }

  private func words(_ answer: Recording.Answer, _ sequenceOffset: UInt32) -> [UInt8] {
    var bytes = tokens.forHost(answer)
    if sequenceOffset > 0, let number = answer.sequenceNumber {
      SessionTokens.write(number &+ sequenceOffset, into: &bytes, at: PacketHeader.length)
    }
    return bytes
  }
}

extension Recording.Answer {
  fileprivate var sequenceNumber: UInt32? {
    guard isFirst, bytes.count >= PacketHeader.length + 4,
      let header = try? unsafe PacketHeader(parsing: bytes.span.bytes),
      header.type == .notification, header.opcode == .sessionInfo
    else { return nil }
    return UInt32(bytes[PacketHeader.length..<PacketHeader.length + 4].number)
  }
}
