// SPDX-License-Identifier: Apache-2.0
import Synchronization
import SystemPackage
import System
import Testing
import UWBLink

/// Documentation/swift-uwb.docc/DeviceOddities.md, "Reading between commands".
@Suite("Device oddities and the reader", .timeLimit(.minutes(10)))
struct ReaderOddityTests {
  @Test("Notifications are read while no command is pending")
  func readsWithoutCommands() async throws {
    let (ours, theirs) = try FrameReaderTests.pair()
    let collected = FrameReaderTests.Collected()
    let reader = FrameReader(
      try Link(.descriptor(ours)),
      handler: { bytes, _ in
        collected.frames.withLock { $0.append(bytes.withUnsafeBytes { Array($0) }) }
        collected.arrival.yield(1)
      }, ended: { collected.end.yield($0) })
    try reader.start()
    // No command is ever sent; 45 notifications, as in the report of the trap.
    let sent = (0..<45).map { [0x60, 0x01, 0x00, 0x01, UInt8($0)] as [UInt8] }
    for frame in sent { #expect(try theirs.writeAll(frame) == frame.count) }
    var arrivals = collected.arrivals.makeAsyncIterator()
    for _ in sent { _ = await arrivals.next() }
    #expect(collected.frames.withLock { $0 } == sent)
    reader.stop()
    await reader.stopped.wait()
    try theirs.close()
  }
}
