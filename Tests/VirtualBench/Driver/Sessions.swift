// SPDX-License-Identifier: Apache-2.0

import Glibc
import System
import UCI
import UWB
import UWBLink

/// `sessions DEVICE COUNT FILE`: ranges with one session. At the same time, creates, configures and
/// removes another session COUNT times, so that commands and notifications collide. Writes the time
/// at which each measurement arrived on the reader's thread to FILE.
enum Sessions {
  static func run(_ arguments: [String]) async {
    guard arguments.count == 3, let count = Int(arguments[1]) else {
      fail("sessions DEVICE COUNT FILE")
    }
    do {
      let device = try await UWBDevice.open(LinkEndpoint(arguments[0]))
      let taken = try await make(count, on: device)
      let statistics = device.statistics
      await device.close()
      Stamps.save(taken.map { "\($0.sequence) \($0.time)" }, to: arguments[2])
      say("\(count) sessions beside \(taken.count) rounds, \(statistics)")
    } catch {
      fail("\(error)")
    }
  }

  private typealias Taken = [(sequence: UInt32, time: UInt64)]

  private static func make(_ count: Int, on device: UWBDevice) async throws -> Taken {
    var ranging = SessionConfiguration(
      role: .controller, sessionID: 42, address: MACAddress(0x0000), peers: [MACAddress(0x0001)])
    ranging.interval = 20
    ranging.slotsPerRound = 6
    return try await device.withSession(ranging) { session in
      let taken = Locked(Taken())
      session.onRounds { round in
        guard case .measurements(let view) = round.kind else { return }
        let sequence = view.sequenceNumber
        taken.withLock { $0.append((sequence, monotonic())) }
      }
      try await session.start()
      for number in 1...count {
        let other = SessionConfiguration(
          role: .controller, sessionID: UInt32(1_000 + number), address: MACAddress(0x0010),
          peers: [MACAddress(0x0011)])
        try await device.withSession(other) { _ in }
      }
      return taken.withLock { $0 }
    }
  }
}
