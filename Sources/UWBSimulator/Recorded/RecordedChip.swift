// SPDX-License-Identifier: Apache-2.0

package import UCI

/// A chip that says again what a recording has it say, as a state machine: bytes and a time go in,
/// packets come out.
///
/// Each request is answered as the same request was: the next one in the recording with the same
/// bytes, from the beginning again behind the last; where there is none, one of the same kind with
/// other contents. What the recorded chip was never asked is refused as a chip refuses what it does
/// not know, except for what every host opens a chip with: a reset works, and device information
/// and capabilities are those of a chip about which nothing is known.
package struct RecordedChip: Sendable {
  /// How much of the recording was of use.
  package struct Statistics: Sendable, Hashable {
    /// Requests that the recording has.
    package var exact = 0
    /// Requests that it has with other contents only.
    package var similar = 0
    /// Requests that are answered although it does not have them, by their opcodes.
    package var invented: [Opcode: Int] = [:]
    /// Commands that were refused because it does not have them, by their opcodes.
    package var unknown: [Opcode: Int] = [:]
    /// Packets of the recording that were sent.
    package var packetsSent = 0

    /// Nothing yet.
    package init() {}
  }

  /// What came of the requests so far.
  package private(set) var statistics = Statistics()

  /// Answers under way.
  private struct Playing {
    /// nil: the greeting.
    var turn: Int?
    var next = 0
    /// Nanoseconds; delays count from here.
    var began: UInt64
    /// Added to sequence numbers, after repetitions.
    var sequenceOffset: UInt32 = 0
  }

  private let recording: Recording
  private let speed: Double
  private let repeats: Bool
  private var playing: [Playing] = []
  private var cursor = 0
  private var tokens = SessionTokens()
  private var receiver = CommandReceiver(rule: .byHeader)
  private var commands = CommandAssembler()
  private var data = CommandAssembler()
  private var invented: [[UInt8]] = []

  /// A chip that has yet to say its greeting.
  ///
  /// - Parameters:
  ///   - speed: how many times faster than recorded packets come that have no request;
  ///     `.infinity` sends everything at once.
  ///   - repeats: measurements begin again, with higher sequence numbers, when the recording has no
  ///     more of them, until the session is stopped.
  package init(_ recording: Recording, speed: Double = 1, repeats: Bool = false) {
    precondition(speed > 0, "time does not stand still")
    self.recording = recording
    self.speed = speed
    self.repeats = repeats
  }

  /// Begins with what the chip said of its own accord; `now` in nanoseconds.
  package mutating func powerUp(at now: UInt64) { playing.append(Playing(turn: nil, began: now)) }

  /// Takes bytes of the host in chunks of any size; `now` in nanoseconds, never less than before.
  package mutating func receive(_ bytes: [UInt8], at now: UInt64) {
    for packet in receiver.take(bytes, at: now) {
      guard let header = try? PacketHeader(parsing: packet.span.bytes) else { continue }
      let payload = Array(packet[PacketHeader.length...])
      switch header.type {
      case .data:
        guard let whole = data.take(header, payload) else { continue }
        take(.init(type: .data, opcode: header.opcode, payload: whole), at: now)
      case .command, .testCommand:
        guard let whole = commands.take(header, payload) else { continue }
        take(.init(type: header.type, opcode: header.opcode, payload: whole), at: now)
      default: continue
      }
    }
  }

  /// The packets whose time has come, header included.
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

  /// When the next packet goes out by itself, in nanoseconds; nil when none will.
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
      // A host that says at once what the recorded one said in pieces gets the answer to the last.
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

  /// A start replaces what it started before; a stop, a removal and a reset end measurements.
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

  /// The first turn from here on, or else from the beginning, whose request is right.
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

  /// Where the response carries no handle, the session's name is its id.
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
      respond(DeviceInfoResponse(status: .ok, info: info).encoded())
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

  /// What goes out next; of equals the one that was asked for first.
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
    // As far behind the last one as they are apart on average.
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
      let new = number &+ sequenceOffset
      for index in 0..<4 {
        bytes[PacketHeader.length + index] = UInt8(truncatingIfNeeded: new >> (8 * index))
      }
    }
    return bytes
  }
}

extension Recording.Answer {
  /// The round that a measurement belongs to.
  fileprivate var sequenceNumber: UInt32? {
    guard isFirst, bytes.count >= PacketHeader.length + 4,
      let header = try? PacketHeader(parsing: bytes.span.bytes),
      header.type == .notification, header.opcode == .sessionInfo
    else { return nil }
    return bytes[PacketHeader.length..<PacketHeader.length + 4].reversed().reduce(0) {
      $0 << 8 | UInt32($1)
    }
  }
}
