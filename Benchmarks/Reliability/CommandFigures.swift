// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Glibc
import Synchronization
import SystemPackage
import UCI
import UWB
import UWBLink

/// The answers to commands while a chip sends 185 bytes 50 times a second on a line of 115200 baud.
///
/// It uses the real clock and real pseudo-terminals. The chip sends pieces of 8 bytes every 694 µs,
/// which is their duration at that speed. Notifications therefore fill four fifths of the line, and
/// an answer waits for the end of a notification. Several lines run at once, because one line does
/// not use the whole processor.
enum CommandFigures {
  static func rows(_ settings: Settings) -> [Reliability] {
    let (lines, commands) = settings.quick ? (4, 60) : (8, 500)
    let results = waiting {
      await withTaskGroup(of: (answered: Int, streamed: Int).self) { group in
        for _ in 0..<lines { group.addTask { await line(commands) } }
        return await group.reduce(into: (answered: 0, streamed: 0, skipped: 0)) {
          $0.answered += $1.answered
          $0.streamed += $1.streamed
        }
      }
    }
    return [
      Reliability(
        figure: "commands answered under 185 bytes at 50 Hz, 115200 baud",
        trials: lines * commands,
        good: results.answered, aim: 1,
        note: "\(lines) lines at once, \(results.streamed) notifications of ranging beside them")
    ]
  }

  private static func line(_ commands: Int) async -> (answered: Int, streamed: Int) {
    let line = openLine()
    let chip = PacedChip(line.chip)
    defer { chip.stop() }
    guard
      let device = try? await UWBDevice.open(
        .descriptor(FileDescriptor(rawValue: line.host)))
    else { return (0, 0) }
    chip.streams.store(true, ordering: .relaxed)
    var answered = 0
    for _ in 0..<commands {
      if let response = try? await device.send(GetSessionCount()), response.count == 0 {
        answered += 1
      }
    }
    let frames = chip.said.load(ordering: .relaxed)
    await device.close()
    return (answered, frames)
  }
}

/// A chip that answers the commands of an open and of these figures, at the speed of the line.
private final class PacedChip: Sendable {
  let streams = Atomic(false)
  let said = Atomic(0)
  private let ended = Atomic(false)
  private let over = Cell(sem_t())

  init(_ descriptor: Int32) {
    sem_init(over.pointer, 0, 0)
    // This thread is waited for, but not joined.
    _ = BackgroundThread { [self] in
      serve(descriptor)
      sem_post(over.pointer)
    }
  }

  func stop() {
    ended.store(true, ordering: .relaxed)
    while sem_wait(over.pointer) != 0 {}
  }

  /// A notification of a round without responses, followed by 121 bytes of diagnostics.
  private static let burst: [UInt8] = {
    let info = SessionInfo(
      sequenceNumber: 0, sessionToken: 1, intervalMilliseconds: 20,
      twoWay: [
        TwoWayMeasurement(peer: MACAddress(1), status: .rangingRxTimeout, rawDistance: 0xFFFF)
      ])
    let payload = info.encoded()
    let header = PacketHeader(.notification, .sessionInfo, payloadLength: payload.count)
    let diagnostics: [UInt8] = [0x6B, 0x03, 0x00, 121] + [UInt8](repeating: 0x5A, count: 121)
    let burst = header.encoded() + payload + diagnostics
    precondition(burst.count == 185)
    return burst
  }()

  private static func answers(_ packet: [UInt8]) -> [UInt8] {
    switch (packet[0], packet[1]) {
    case (0x20, 0x00): [0x60, 0x01, 0, 1, 1, 0x40, 0x00, 0, 1, 0, 0x60, 0x01, 0, 1, 1]
    // The answer of UCI 2.0, without vendor bytes.
    case (0x20, 0x02): [0x40, 0x02, 0, 10, 0, 2, 0, 2, 0, 2, 0, 1, 0x10, 0]
    case (0x20, 0x03): [0x40, 0x03, 0, 2, 0, 0]
    case (0x21, 0x05): [0x41, 0x05, 0, 2, 0, 0]
    default: [packet[0] & 0xF | 0x40, packet[1], 0, 1, 0]
    }
  }

  private func serve(_ descriptor: Int32) {
    defer { close(descriptor) }
    let period: UInt64 = 20_000_000
    // The duration of eight bytes of ten bits at 115200 baud in nanoseconds.
    let pause: UInt64 = 694_444
    var (queue, received) = ([UInt8](), [UInt8]())
    var (next, free) = (cuwb_test_now(), cuwb_test_now())
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    while !ended.load(ordering: .relaxed) {
      var buffer = [UInt8](repeating: 0, count: 512)
      let count = read(descriptor, &buffer, buffer.count)
      if count > 0 { received += buffer[..<count] }
      while received.count >= 4, received.count >= 4 + Int(received[3]) {
        queue += Self.answers(Array(received.prefix(4 + Int(received[3]))))
        received.removeFirst(4 + Int(received[3]))
      }
      let now = cuwb_test_now()
      if now >= next {
        // At most one burst is queued, because a chip has little memory.
        if streams.load(ordering: .relaxed), queue.count < 185 {
          queue += Self.burst
          said.add(1, ordering: .relaxed)
        }
        next += period
      }
      if !queue.isEmpty, now >= free {
        let piece = Array(queue.prefix(8))
        let written = write(descriptor, piece, piece.count)
        if written > 0 { queue.removeFirst(written) }
        free = max(free + pause, now)
      }
      cuwb_test_sleep_until(queue.isEmpty ? min(next, now + 500_000) : max(free, now + 50_000))
    }
  }
}
