// SPDX-License-Identifier: Apache-2.0
import CUWB
import Dispatch
import Foundation
import Glibc
import System
import SystemPackage
import Testing

@testable import UWBLink

/// A bus on which every transfer, and every change of a line while the chip starts, waits until the
/// gate opens, as with a controller whose driver never returns.
private final class StuckBus: Sendable {
  private let gate = DispatchSemaphore(value: 0)
  private let entered: AsyncStream<Void>.Continuation

  init(_ entered: AsyncStream<Void>.Continuation) { self.entered = entered }

  func open() { gate.signal() }

  fileprivate func wait() -> Int32 {
    entered.yield()
    gate.wait()
    gate.signal()
    return ENODEV
  }

  /// - Parameter startsStuck: even switching the chip on waits.
  func link(startsStuck: Bool) throws(LinkError) -> Link {
    let bus = cuwb_spi_bus(
      context: Unmanaged.passRetained(self).toOpaque(), lines: 1 << 0 | 1 << 3 | 1 << 4,
      longest: 4_200, transfer: { context, _, _ in StuckBus.at(context).wait() },
      drive: startsStuck ? { context, _, _ in StuckBus.at(context).wait() } : { _, _, _ in 0 },
      sense: { _, _, high in
        high.pointee = false
        return 0
      },
      edges: { _, _, seen in
        seen.pointee = cuwb_edges(rising: false, falling: false)
        return 0
      },
      wait: { _, _, _, _, _ in 0 }, now: { _ in cuwb_monotonic_ns() }, pause: { _, _ in },
      close: { Unmanaged<StuckBus>.fromOpaque($0!).release() })
    var raw: OpaquePointer?
    let endpoint = LinkEndpoint.spi(SPIEndpoint(device: "/dev/spidev9.0", chip: .sr150, lines: [:]))
    let result = cuwb_open_spi_bus(bus, CUWB_SPI_SR1XX, CUWB_START_KEEP, &raw)
    guard result.outcome == CUWB_OK, let raw else {
      bus.close(bus.context)
      throw LinkError(result, endpoint: endpoint)
    }
    return Link(endpoint, adopting: raw)
  }

  private static func at(_ context: UnsafeMutableRawPointer?) -> StuckBus {
    Unmanaged<StuckBus>.fromOpaque(context!).takeUnretainedValue()
  }
}

@Suite("Devices that are stuck", .timeLimit(.minutes(10)))
struct StuckDeviceTests {
  static let count = ProcessInfo.processInfo.activeProcessorCount + 2

  /// Runs `stuck` on more devices than there are processors, and `others` while all of them are
  /// inside a transfer.
  private static func run(
    stuck: @escaping @Sendable (StuckBus) async throws(LinkError) -> Void,
    others: () async -> Void
  ) async {
    let (entries, entered) = AsyncStream<Void>.makeStream()
    let buses = (0..<count).map { _ in StuckBus(entered) }
    let ended = Locked(0)
    await withTaskGroup { group in
      for bus in buses {
        group.addTask {
          let error = await #expect(throws: LinkError.self) { try await stuck(bus) }
          #expect(error?.code == .deviceGone)
          ended.withLock { $0 += 1 }
        }
      }
      var inside = 0
      for await _ in entries {
        inside += 1
        if inside == count { break }
      }
      await others()
      #expect(ended.withLock { $0 } == 0, "the devices are still stuck")
      for bus in buses { bus.open() }
    }
    #expect(ended.withLock { $0 } == count)
  }

  /// Tasks of every kind, and a link that works.
  static func work() async {
    await withTaskGroup { others in
      for _ in 0..<(4 * count) {
        others.addTask { for _ in 0..<10 { await Task.yield() } }
      }
    }
    do {
      let (ours, theirs) = try FrameReaderTests.pair()
      let link = try await Link.open(.descriptor(ours))
      try await link.write(frame)
      #expect(try await LinkWriterTests.read(theirs, frame.count) == frame)
      try theirs.close()
    } catch {
      Issue.record(error)
    }
  }

  /// A command of the greatest length.
  static let frame = [0x20, 0x02, 0x00, 0xFC] + [UInt8](repeating: 1, count: 252)

  @Test("Writes to SPI controllers that never return do not keep tasks from running")
  func writing() async {
    await Self.run(
      stuck: { bus async throws(LinkError) in
        try await bus.link(startsStuck: false).write([0x20, 0x02, 0x00, 0x00])
      },
      others: Self.work)
  }

  @Test("Opening chips on SPI controllers that never return does not keep tasks from running")
  func opening() async {
    await Self.run(
      stuck: { bus async throws(LinkError) in
        _ = try await runBlocking {
          Result { () throws(LinkError) in try bus.link(startsStuck: true) }
        }.get()
      },
      others: Self.work)
  }

  @Test("Files of the system that cannot be read do not keep tasks from running")
  func lookUp() async throws {
    let machine = try ReconnectTests.Folder()
    let discovery = Discovery(
      sysfs: FilePath(machine.path + "/sys"), dev: FilePath(machine.path + "/dev"))
    let ports = try (0..<Self.count).map { number in
      let folder = "/sys/class/tty/ttyACM\(number)"
      try machine.link(folder + "/device", to: machine.path)
      // Opening the pipe waits until another process writes.
      #expect(mkfifo(machine.path + folder + "/type", 0o600) == 0)
      return (machine.path + "/dev/ttyACM\(number)", machine.path + folder + "/type")
    }
    try await withThrowingTaskGroup { group in
      for (path, _) in ports {
        group.addTask {
          let endpoint = LinkEndpoint.serial(path: FilePath(path))
          let target = try await ReconnectTarget.find(endpoint, discovery: discovery)
          #expect(target.endpoint == endpoint)
        }
      }
      await Self.work()
      for (_, file) in ports {
        try await runBlocking { _ = close(Glibc.open(file, O_WRONLY)) }
      }
      try await group.waitForAll()
    }
  }

  @Test("A device that was dropped and is never let go of does not keep its port waiting for ever")
  func neverClosed() async throws {
    let (master, name) = try ReconnectTests.terminal()
    defer { try? master.close() }
    let endpoint = LinkEndpoint.serial(path: FilePath(name))
    var link: Link? = try await Link.open(endpoint)
    link?.willClose()
    let error = await #expect(throws: LinkError.self) {
      try await Link.open(endpoint, closingLimit: .milliseconds(20))
    }
    #expect(error?.code == .busy && error?.endpoint == name)
    #expect(error?.recoverySuggestion?.contains("callback") == true)
    // The link is released while the next one waits for it. This opens the gate.
    async let next = Link.open(endpoint, closingLimit: .seconds(240))
    link = nil
    _ = try await next
  }
}
