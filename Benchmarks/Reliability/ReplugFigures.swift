// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Glibc
import SystemPackage
import UCI
import UWB
import UWBLink
import UWBSimulator

/// A board is unplugged during a session and plugged in again. The figure is the share of trials in
/// which it streams again within a second.
///
/// It uses the real clock, pseudo-terminals, and symbolic links as udev creates them. In most
/// trials, the board is absent for 20 to 200 ms, in some for all of three seconds. Several benches
/// run at once.
enum ReplugFigures {
  private struct Outcome {
    var trials = 0
    var good = 0
    var slowest = 0.0
  }

  static func rows(_ settings: Settings) -> [Reliability] {
    let (benches, short, long) = settings.quick ? (4, 20, 1) : (8, 250, 5)
    return [
      row("unplugged for 20 to 200 ms: streams again within 1 s", benches, short) { bench, trial in
        20 + UInt64((bench * 37 + trial * 61) % 181)
      },
      row("unplugged for 3 s: streams again within 1 s", benches, long) { _, _ in 3_000 },
    ]
  }

  private static func row(
    _ figure: String, _ benches: Int, _ trials: Int,
    pause: @escaping @Sendable (Int, Int) -> UInt64
  ) -> Reliability {
    let outcome = waiting {
      await withTaskGroup(of: Outcome.self) { group in
        for bench in 0..<benches {
          group.addTask { await Self.bench(bench, trials, pause: pause) }
        }
        return await group.reduce(into: Outcome()) {
          $0.trials += $1.trials
          $0.good += $1.good
          $0.slowest = max($0.slowest, $1.slowest)
        }
      }
    }
    return Reliability(
      figure: figure, trials: benches * trials, good: outcome.good, aim: 1,
      note: "\(benches) boards at once, the slowest after \(Int(outcome.slowest)) ms")
  }

  /// Measures one board that is unplugged repeatedly.
  private static func bench(
    _ number: Int, _ trials: Int, pause: @Sendable (Int, Int) -> UInt64
  ) async -> Outcome {
    var outcome = Outcome()
    var folder = Array("/tmp/uwb-replug-XXXXXX".utf8CString)
    guard mkdtemp(&folder) != nil else { return outcome }
    let directory = String(decoding: folder.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    let path = directory + "/board"
    defer {
      unlink(path)
      rmdir(directory)
    }
    let bench = SimulatedBench(scene: Scene(seed: UInt64(number)))
    defer { bench.stop() }
    do {
      let chip = try bench.add(profile: number % 2 == 0 ? .qm33 : .sr250, at: SIMD3(0, 0, 0))
      try chip.link(at: path)
      bench.start()
      let device = try await UWBDevice.open(
        .serial(path: FilePath(path)), options: .init(recovery: RecoveryPolicy()))
      var configuration = SessionConfiguration(
        role: .controller, sessionID: 42, address: MACAddress(0), peers: [MACAddress(1)])
      configuration.interval = 20
      configuration.slotDuration = 600
      configuration.slotsPerRound = 7
      let session = try await device.makeSession(configuration)
      let stream = session.measurements()
      try await session.start()
      var measurements = stream.makeAsyncIterator()
      for trial in 0..<trials {
        guard try await measurements.next() != nil else { return outcome }
        chip.unplug()
        try await Task.sleep(for: .milliseconds(pause(number, trial)))
        try chip.replug()
        let replugged = cuwb_test_now()
        repeat {
          guard let measurement = try await measurements.next() else { return outcome }
          if measurement.followsInterruption { break }
        } while true
        let milliseconds = Double(cuwb_test_now() - replugged) / 1_000_000
        outcome.trials += 1
        if milliseconds <= 1_000 { outcome.good += 1 }
        outcome.slowest = max(outcome.slowest, milliseconds)
      }
      await device.close()
    } catch {
      print("bench \(number): \(error)")
    }
    return outcome
  }
}
