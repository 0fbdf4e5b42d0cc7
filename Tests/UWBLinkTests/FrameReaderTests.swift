// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemPackage
import Testing
import UWBLink

@Suite struct FrameReaderTests {
  static let notification: [UInt8] = [0x60, 0x01, 0x00, 0x01, 0x01]

  /// A connected pair: the link's end and the chip's.
  static func pair() throws -> (FileDescriptor, FileDescriptor) {
    var descriptors: [Int32] = [0, 0]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &descriptors) == 0)
    return (FileDescriptor(rawValue: descriptors[0]), FileDescriptor(rawValue: descriptors[1]))
  }

  final class Collected: Sendable {
    let frames = Mutex<[[UInt8]]>([])
    let (ends, end) = AsyncStream<LinkError>.makeStream()
    let (arrivals, arrival) = AsyncStream<Int>.makeStream()
  }

  @Test func framesReachTheHandlerAndTheEndIsReported() async throws {
    let (ours, theirs) = try Self.pair()
    let collected = Collected()
    let reader = FrameReader(
      try Link(.descriptor(ours)),
      handler: { bytes, _ in
        collected.frames.withLock { $0.append(bytes.withUnsafeBytes { Array($0) }) }
        collected.arrival.yield(1)
      }, ended: { collected.end.yield($0) })
    reader.start()
    let long: [UInt8] = [0x02, 0x00, 0xD0, 0x07] + [UInt8](repeating: 9, count: 2000)
    for frame in [Self.notification, long, Self.notification] {
      #expect(try theirs.writeAll(frame) == frame.count)
    }
    var arrivals = collected.arrivals.makeAsyncIterator()
    for _ in 0..<3 { _ = await arrivals.next() }
    try theirs.close()
    var ends = collected.ends.makeAsyncIterator()
    #expect(await ends.next()?.code == .closedByPeer)
    reader.stop()
    #expect(collected.frames.withLock { $0 } == [Self.notification, long, Self.notification])
  }

  @Test func stopEndsAReaderThatWaits() async throws {
    let (ours, theirs) = try Self.pair()
    let collected = Collected()
    let reader = FrameReader(
      try Link(.descriptor(ours)), handler: { _, _ in }, ended: { collected.end.yield($0) })
    reader.start()
    reader.stop()
    collected.end.finish()
    var ends = collected.ends.makeAsyncIterator()
    #expect(await ends.next() == nil, "stopping is not a failure of the link")
    try theirs.close()
  }

  @Test func tasksThatPreferTheReaderRunOnItsThreadAndElsewhereAfterItsEnd() async throws {
    let (ours, theirs) = try Self.pair()
    let reader = FrameReader(
      try Link(.descriptor(ours)), handler: { _, _ in }, ended: { _ in })
    reader.start()
    let on = await Task(executorPreference: reader) { reader.isCurrent }.value
    #expect(on)
    reader.stop()
    let off = await Task(executorPreference: reader) { reader.isCurrent }.value
    #expect(!off)
    try theirs.close()
  }

  @Test func aReaderThatStaysGoesOnWithTheNextLinkOnTheSameThread() async throws {
    let (ours, theirs) = try Self.pair()
    let collected = Collected()
    let reader = FrameReader(
      try Link(.descriptor(ours)), staysForNextLink: true,
      handler: { bytes, _ in
        collected.frames.withLock { $0.append(bytes.withUnsafeBytes { Array($0) }) }
        collected.arrival.yield(1)
      }, ended: { collected.end.yield($0) })
    reader.start()
    var arrivals = collected.arrivals.makeAsyncIterator()
    var ends = collected.ends.makeAsyncIterator()
    _ = try theirs.writeAll(Self.notification)
    _ = await arrivals.next()
    try theirs.close()
    #expect(await ends.next()?.code == .closedByPeer)
    // Between two links it still runs tasks.
    #expect(await Task(executorPreference: reader) { reader.isCurrent }.value)
    // One that ended, and one that is replaced while it is read from.
    for _ in 0..<2 {
      let (ours, theirs) = try Self.pair()
      reader.attach(try Link(.descriptor(ours)))
      _ = try theirs.writeAll(Self.notification)
      _ = await arrivals.next()
      #expect(await Task(executorPreference: reader) { reader.isCurrent }.value)
    }
    let (last, theirLast) = try Self.pair()
    reader.attach(try Link(.descriptor(last)))
    // Whatever is under way: the descriptor is closed once it is let go of.
    reader.detach()
    var byte: UInt8 = 0
    #expect(read(theirLast.rawValue, &byte, 1) == 0)
    reader.stop()
    collected.end.finish()
    #expect(await ends.next() == nil, "what is replaced or let go of has not ended")
    #expect(collected.frames.withLock { $0.count } == 3)
  }

  @Test(arguments: [
    ("/dev/does-not-exist", LinkError.Code.notFound), ("/dev/null", .notASerialDevice),
    ("tcp:127.0.0.1:1", .connectionRefused), ("/dev/null?baud=12345", .invalidEndpoint),
  ])
  func eachFailureToOpenHasItsCause(_ text: String, _ code: LinkError.Code) throws {
    let endpoint = try LinkEndpoint(text)
    let error = #expect(throws: LinkError.self) { try Link(endpoint) }
    #expect(error?.code == code)
    #expect(error?.suggestion != nil)
  }

  @Test(arguments: ["", "ttyACM0", "tcp:host", "tcp::1", "tcp:h:0", "tcp:h:x", "/dev/x?b=1"])
  func namesThatAreNoDeviceAreRefused(_ text: String) {
    #expect(throws: LinkError.self) { try LinkEndpoint(text) }
  }

  @Test func namesOfDevicesAreRead() throws {
    #expect(try LinkEndpoint("/dev/ttyACM0") == .serial(path: "/dev/ttyACM0"))
    #expect(
      try LinkEndpoint("/dev/ttyUSB0?baud=3000000&rtscts")
        == .serial(path: "/dev/ttyUSB0", baud: 3_000_000, hardwareFlowControl: true))
    #expect(try LinkEndpoint("tcp:[::1]:7000") == .tcp(host: "::1", port: "7000"))
  }
}
