// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Dispatch
import Glibc
import Synchronization
import UCI
import UWB
import UWBLink

/// A process that uses several chips through the library: it has a session on each, and its
/// estimates arrive in a callback. It prints the costs.
struct HostProcess {
  /// The resources that the process has used.
  struct Usage {
    var time: UInt64
    var processor: Int
    var wakes: Int

    static var now: Usage {
      var usage = rusage()
      getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
      return Usage(
        time: cuwb_test_now(), processor: usage.microseconds, wakes: usage.ru_nvcsw)
    }
  }

  private final class Arrivals: @unchecked Sendable {
    // Safe because each chip's reader writes its own part of `times`. The reader that counts a
    // frame writes `first` and `last`, which are read after the semaphore.
    let times: Samples
    let total: Int
    let count = Atomic(0)
    let all = DispatchSemaphore(value: 0)
    var first = Usage.now
    var last = Usage.now

    init(_ total: Int) {
      times = Samples(total)
      self.total = total
    }

    func note(_ index: Int) {
      times.values[index] = cuwb_test_now()
      let number = count.add(1, ordering: .acquiringAndReleasing).newValue
      if number == 1 { first = .now }
      if number == total {
        last = .now
        all.signal()
      }
    }
  }

  /// - Parameters:
  ///   - stamps: the times at which the frames of these chips were written.
  ///   - idle: the seconds without a frame after the last one.
  static func run(
    paths: [String], frames: Int, hertz: Int, idle: Int, stamps: UnsafePointer<UInt64>
  ) async throws {
    let arrivals = Arrivals(paths.count * frames)
    var devices: [UWBDevice] = []
    for (chip, path) in paths.enumerated() {
      let device = try await UWBDevice.open(LinkEndpoint(path))
      var configuration = SessionConfiguration(
        role: .controller, sessionID: 42, address: MACAddress(0), peers: [MACAddress(1)])
      // A long interval prevents rounds of the simulated chip itself.
      configuration.interval = 60_000
      let session = try await device.makeSession(configuration)
      session.onEstimates { estimate in
        let number = Int(estimate.measurement.sequenceNumber) - ChipProcess.firstNumber
        if 0..<frames ~= number { arrivals.note(chip * frames + number) }
      }
      try await session.start()
      devices.append(device)
    }
    let limit = DispatchTime.now() + .seconds(frames / hertz + 20)
    let rest = await withUnsafeContinuation { done in
      detach {
        if arrivals.all.wait(timeout: limit) == .timedOut { arrivals.last = .now }
        // In this time, the threads that handled the last frame fall asleep again.
        cuwb_test_sleep_until(cuwb_test_now() + 300_000_000)
        let before = Usage.now
        cuwb_test_sleep_until(cuwb_test_now() + UInt64(idle) * 1_000_000_000)
        let after = Usage.now
        // One wait is subtracted, because this thread has slept once.
        done.resume(
          returning: (after.wakes - before.wakes - 1, after.processor - before.processor))
      }
    }
    let used = (arrivals.first, arrivals.last)
    let delays = Percentiles(
      (0..<arrivals.total).compactMap {
        let arrived = arrivals.times.values[$0]
        return arrived == 0 ? nil : Double(arrived - stamps[$0]) / 1_000
      })
    let count = arrivals.count.load(ordering: .acquiring)
    print(
      count, used.1.time - used.0.time, used.1.processor - used.0.processor,
      used.1.wakes - used.0.wakes, delays.p50, delays.p99, Self.status("Threads"),
      Self.status("VmRSS"), rest.0, rest.1)
    for device in devices { await device.close() }
  }

  /// Starts a thread for `body`, because waiting must not block a thread of tasks.
  private static func detach(_ body: @escaping @Sendable () -> Void) {
    _ = Unmanaged.passRetained(BackgroundThread(body))
  }

  /// Returns a number in /proc/self/status.
  private static func status(_ name: String) -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 8_192)
    let count = fread(&bytes, 1, bytes.count, file)
    let text = String(decoding: bytes.prefix(count), as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
      .flatMap { Int($0) } ?? 0
  }
}
