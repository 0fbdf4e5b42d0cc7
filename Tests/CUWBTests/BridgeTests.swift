// SPDX-License-Identifier: Apache-2.0

import CUWB
import Glibc
import Testing

/// An NXP board whose microcontroller forwards UCI, on a pseudo-terminal. Bytes as in the sequence
/// of NXP's demo for the SR250.
@Suite("Link: NXP's USB boards", .timeLimit(.minutes(10)))
struct BridgeTests {
  private static let resetCommand: [UInt8] = [0x04, 0x00, 0x00]
  private static let leaveLoaderCommand: [UInt8] = [0x12, 0x00, 0x00]
  private static let initialising: [UInt8] = [0x60, 0x01, 0x00, 0x01, 0x00]
  private static let ready: [UInt8] = [0x60, 0x01, 0x00, 0x01, 0x01]

  private static func options(
    _ start: cuwb_start, leavesLoader: Bool = true
  ) -> cuwb_bridge_options {
    cuwb_bridge_options(
      serial: cuwb_serial_options(baud: 3_000_000, rts_cts: true, shared: false), start: start,
      leaves_loader: leavesLoader)
  }

  @Test("A board is reset and told to leave its boot loader, and each packet is wrapped")
  func sequence() throws {
    let (board, slave, path) = pseudoTerminal()
    // The slave stays open until the link is open. Otherwise reads from the master would report the
    // end.
    defer { slave.close() }
    let stale: [UInt8] = [0x01, 0x02, 0x62, 0x00, 0x00]
    let worker = Worker {
      #expect(board.receive(3) == Self.resetCommand)
      // Earlier bytes of the chip come first.
      board.send(stale + [0x01, 0x02, 0x03, 0x04])
      // The host repeats the reset when the answer comes late.
      var next = board.receive(3)
      while next == Self.resetCommand { next = board.receive(3) }
      #expect(next == Self.leaveLoaderCommand)
      board.send(Self.initialising + Self.ready)
    }
    let link = try Link(bridge: path, Self.options(CUWB_START_CYCLE))
    worker.wait()
    #expect(link.read().bytes == Self.initialising)
    #expect(link.read().bytes == Self.ready)
    #expect(link.stats.bytes_skipped == 0)

    let command: [UInt8] = [0x2F, 0x21, 0x00, 0xFF] + [UInt8](repeating: 7, count: 255)
    #expect(link.write(command) == .ok)
    #expect(board.receive(3 + command.count) == [0x01, 0x01, 0x03] + command)
    #expect(link.stats.frames_written == 1)
    #expect(cuwb_link_get_framing(link.link).extended_length)
  }

  @Test("An SR1xx is not told to leave a boot loader")
  func withoutLoader() throws {
    let (board, slave, path) = pseudoTerminal()
    // The slave stays open until the link is open. Otherwise reads from the master would report the
    // end.
    defer { slave.close() }
    let worker = Worker {
      #expect(board.receive(3) == Self.resetCommand)
      board.send([0x01, 0x02, 0x03, 0x04])
    }
    let link = try Link(bridge: path, Self.options(CUWB_START_CYCLE, leavesLoader: false))
    worker.wait()
    #expect(link.write([0x20, 0x02, 0x00, 0x00]) == .ok)
    #expect(board.receive(7) == [0x01, 0x00, 0x04, 0x20, 0x02, 0x00, 0x00])
  }

  @Test("A board that is opened without a reset is sent nothing")
  func kept() throws {
    let (board, slave, path) = pseudoTerminal()
    // The slave stays open until the link is open. Otherwise reads from the master would report the
    // end.
    defer { slave.close() }
    let link = try Link(bridge: path, Self.options(CUWB_START_KEEP))
    #expect(link.write([0x20, 0x02, 0x00, 0x00]) == .ok)
    #expect(board.receive(7) == [0x01, 0x00, 0x04, 0x20, 0x02, 0x00, 0x00])
  }

  @Test("A device that does not answer the reset is refused, and closed again")
  func otherDevice() throws {
    let (board, slave, path) = pseudoTerminal()
    // The slave stays open until the link is open. Otherwise reads from the master would report the
    // end.
    defer { slave.close() }
    let worker = Worker {
      #expect(board.receive(3) == Self.resetCommand)
      board.send([0x40, 0x00, 0x00, 0x01, 0x05])
      #expect(board.receive(3) == Self.resetCommand)
    }
    // Opening makes two attempts of half a second each.
    let error = #expect(throws: OpenFailure.self) {
      _ = try Link(bridge: path, Self.options(CUWB_START_CYCLE))
    }
    #expect(error?.result == cuwb_result(outcome: CUWB_NO_ANSWER, error: 0))
    worker.wait()
    _ = try Link(serial: path)
  }
}
