// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import ProgramTestSupport
import System
import Testing
import UCI
import UWB
import UWBTestSupport

/// The option `-t`, in virtual time.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct TimeLimitTests {
  private let time = VirtualTime()

  private func limiting<R: Sendable>(
    _ body: @escaping @Sendable (AlarmClock) async throws -> R
  ) throws -> Task<R?, any Error> {
    let (limit, clock) = (try TimeLimit.parse(["-t", "3"]), time.clock)
    return Task {
      try await limit.limiting(Locked(nil), clock: clock) { try await body(clock) }
    }
  }

  @Test func theLimitCancelsTheCommand() async throws {
    let result = try limiting { clock in
      await clock.sleep(for: .seconds(60))
      return Task.isCancelled
    }
    await time.timers(3)
    time.advance(.milliseconds(2_999))
    #expect(time.pending == 3)
    time.advance(.milliseconds(1))
    #expect(try await result.value == true)
    #expect(time.pending == 0)
  }

  @Test func aCommandMayEndEarlier() async throws {
    #expect(try await limiting { _ in 7 }.value == 7)
    #expect(time.pending == 0)
  }

  @Test func anErrorIsNoEnd() async throws {
    let failure = Failure(.noPeer, "No peer was measured.")
    let result = try limiting { _ -> Int in throw failure }
    let error = try await #require(throws: Failure.self) { try await result.value }
    #expect(error.status == .noPeer)
  }

  @Test func aDeviceThatHasNotAnsweredIsAFailure() async throws {
    let result = try limiting { clock in
      await clock.sleep(for: .seconds(60))
      try Task.checkCancellation()
    }
    await time.timers(3)
    time.advance(.seconds(3))
    let error = try await #require(throws: Failure.self) { try await result.value }
    #expect(error.status == .silent)
    #expect(error.cause?.hasPrefix("The time was over before") == true)
  }

  /// Opens a chip, and ranges until the limit of one second.
  private func range(
    _ chip: ScriptedTerminal, _ started: Latch
  ) throws -> Task<Void?, any Error> {
    let options = try DeviceOptions.naming(chip.path, ChipOptions.parse([]))
    let end = try RunOptions.parse(["-t", "1"])
    let configuration = SessionConfiguration(
      role: .controller, sessionID: 42, address: MACAddress(0), peers: [MACAddress(1)])
    let clock = time.clock
    return Task {
      try await options.withDevice(peers: 0, end, clock: clock) { device, _ in
        try await device.withSession(configuration, checked: false) { session in
          let measurements = session.measurements()
          try await session.start()
          started.open()
          for try await _ in measurements {}
        }
      }
    }
  }

  @Test func theSessionIsEnded() async throws {
    let chip = try rangingChip([:])
    let started = Latch()
    let result = try range(chip, started)
    await started.wait()
    time.advance(.seconds(1))
    _ = try await result.value
    chip.hangUp()
    let removal = hexBytes("21 01 00 04 01 00 00 00")
    #expect(chip.bytes.suffix(removal.count) == removal[...])
  }

  /// Two seconds after the limit, the device is closed without its answer.
  @Test func aChipThatDoesNotStopIsClosed() async throws {
    let (started, stopping) = (Latch(), Latch())
    let chip = try rangingChip([.sessionStop: ""]) { if $0 == .sessionStop { stopping.open() } }
    let result = try range(chip, started)
    await started.wait()
    time.advance(.seconds(1))
    await stopping.wait()
    time.advance(.seconds(2))
    let error = try await #require(throws: Failure.self) { try await result.value }
    chip.hangUp()
    #expect(error.status == .silent)
    #expect(error.suggestion?.hasPrefix("It may still be ranging") == true)
  }
}
