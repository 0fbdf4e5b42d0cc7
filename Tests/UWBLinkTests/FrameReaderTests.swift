// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemPackage
import System
import Testing
import UWBLink
import UWBTestSupport

@Suite("Reader of a link", .timeLimit(.minutes(10)))
struct FrameReaderTests {
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

  @Test("Frames reach the handler, and the end is reported")
  func frames() async throws {
    let (ours, theirs) = try Self.pair()
    let collected = Collected()
    let reader = FrameReader(
      try Link(.descriptor(ours)),
      handler: { bytes, _ in
        collected.frames.withLock { $0.append(bytes.withUnsafeBytes { Array($0) }) }
        collected.arrival.yield(1)
      }, ended: { collected.end.yield($0) })
    try reader.start()
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
    await reader.stopped.wait()
    #expect(collected.frames.withLock { $0 } == [Self.notification, long, Self.notification])
  }

  /// A connection as between another program and a chip.
  @Test("What a host sends is read where the other end is one")
  func host() async throws {
    let (ours, theirs) = try Self.pair()
    let collected = Collected()
    let reader = FrameReader(
      try Link(.descriptor(ours)),
      handler: { bytes, _ in
        collected.frames.withLock { $0.append(bytes.withUnsafeBytes { Array($0) }) }
        collected.arrival.yield(1)
      }, ended: { _ in })
    var framing = Link.Framing()
    framing.fromHost = true
    reader.setFraming(framing)
    try reader.start()
    let data = [0x00, 0x0C, 0x00] + [UInt8](repeating: 1, count: 12)
    let frames: [[UInt8]] = [
      // A command without and one with a payload, data for a peer, data for a logical link, a test.
      [0x20, 0x03, 0x00, 0x00], [0x21, 0x01, 0x00, 0x01, 0x2A], [0x01] + data, [0x03] + data,
      [0x80, 0x00, 0x01, 0x00, 0x2A], [0x20, 0x00, 0x00, 0x01, 0x00],
    ]
    var arrivals = collected.arrivals.makeAsyncIterator()
    for frame in frames {
      _ = try theirs.writeAll(frame)
      _ = await arrivals.next()
    }
    reader.stop()
    await reader.stopped.wait()
    #expect(collected.frames.withLock { $0 } == frames)
    try theirs.close()
  }

  @Test("stop() ends a reader that waits")
  func stop() async throws {
    let (ours, theirs) = try Self.pair()
    let collected = Collected()
    let reader = FrameReader(
      try Link(.descriptor(ours)), handler: { _, _ in }, ended: { collected.end.yield($0) })
    try reader.start()
    reader.stop()
    await reader.stopped.wait()
    collected.end.finish()
    var ends = collected.ends.makeAsyncIterator()
    #expect(await ends.next() == nil, "stopping is not a failure of the link")
    try theirs.close()
  }

  @Test("Tasks that prefer the reader run on its thread, and elsewhere after its end")
  func executor() async throws {
    let (ours, theirs) = try Self.pair()
    let reader = FrameReader(
      try Link(.descriptor(ours)), handler: { _, _ in }, ended: { _ in })
    try reader.start()
    let on = await Task(executorPreference: reader) { reader.isCurrent }.value
    #expect(on)
    reader.stop()
    await reader.stopped.wait()
    let off = await Task(executorPreference: reader) { reader.isCurrent }.value
    #expect(!off)
    try theirs.close()
  }

  @Test("A reader that stays goes on with the next link on the same thread")
  func nextLink() async throws {
    let (ours, theirs) = try Self.pair()
    let collected = Collected()
    let reader = FrameReader(
      try Link(.descriptor(ours)), staysForNextLink: true,
      handler: { bytes, _ in
        collected.frames.withLock { $0.append(bytes.withUnsafeBytes { Array($0) }) }
        collected.arrival.yield(1)
      }, ended: { collected.end.yield($0) })
    try reader.start()
    var arrivals = collected.arrivals.makeAsyncIterator()
    var ends = collected.ends.makeAsyncIterator()
    _ = try theirs.writeAll(Self.notification)
    _ = await arrivals.next()
    try theirs.close()
    #expect(await ends.next()?.code == .closedByPeer)
    // Between two links, the reader still runs tasks.
    #expect(await Task(executorPreference: reader) { reader.isCurrent }.value)
    // A link that has ended, and a link that is replaced while it is read from.
    for _ in 0..<2 {
      let (ours, theirs) = try Self.pair()
      reader.attach(try Link(.descriptor(ours)))
      _ = try theirs.writeAll(Self.notification)
      _ = await arrivals.next()
      #expect(await Task(executorPreference: reader) { reader.isCurrent }.value)
    }
    let (last, theirLast) = try Self.pair()
    reader.attach(try Link(.descriptor(last)))
    // In any state, the descriptor is closed after the last reference is released.
    reader.detach()
    var byte: UInt8 = 0
    #expect(read(theirLast.rawValue, &byte, 1) == 0)
    reader.stop()
    await reader.stopped.wait()
    collected.end.finish()
    #expect(await ends.next() == nil, "what is replaced or let go of has not ended")
    #expect(collected.frames.withLock { $0.count } == 3)
  }

  /// Tasks run both while frames are read and between two links.
  @Test("A task that yields in a loop does not keep frames from being read")
  func yieldingTask() async throws {
    let (ours, theirs) = try Self.pair()
    let collected = Collected()
    let reader = FrameReader(
      try Link(.descriptor(ours)), staysForNextLink: true,
      handler: { bytes, _ in
        collected.frames.withLock { $0.append(bytes.withUnsafeBytes { Array($0) }) }
        collected.arrival.yield(1)
      }, ended: { collected.end.yield($0) })
    try reader.start()
    let task = Task(executorPreference: reader) {
      while !Task.isCancelled { await Task.yield() }
    }
    var arrivals = collected.arrivals.makeAsyncIterator()
    var ends = collected.ends.makeAsyncIterator()
    for _ in 0..<3 {
      _ = try theirs.writeAll(Self.notification)
      _ = await arrivals.next()
    }
    try theirs.close()
    #expect(await ends.next()?.code == .closedByPeer)
    let (next, theirNext) = try Self.pair()
    reader.attach(try Link(.descriptor(next)))
    _ = try theirNext.writeAll(Self.notification)
    _ = await arrivals.next()
    task.cancel()
    await task.value
    reader.stop()
    await reader.stopped.wait()
    try theirNext.close()
  }

  @Test("A device that hangs up ends the reader with that error")
  func hangUp() async throws {
    let terminal = try ScriptedTerminal { _ in [] }
    let collected = Collected()
    let reader = FrameReader(
      try Link(.serial(path: FilePath(terminal.path))), handler: { _, _ in },
      ended: { collected.end.yield($0) })
    try reader.start()
    terminal.hangUp()
    var ends = collected.ends.makeAsyncIterator()
    #expect(await ends.next()?.code == .deviceGone)
    await reader.stopped.wait()
  }

  @Test("A thread that cannot be started is an error, and the link is let go of")
  func threadFailure() async throws {
    let (ours, theirs) = try Self.pair()
    let link = try Link(.descriptor(ours))
    let closed = link.closed
    let reader = FrameReader(link, handler: { _, _ in }, ended: { _ in })
    // The priority does not exist.
    let error = #expect(throws: LinkError.self) { try reader.start(priority: 200) }
    #expect(error?.code == .threadUnavailable)
    #expect(error?.errno == .invalidArgument)
    #expect(error?.recoverySuggestion?.contains("1 to 99") == true)
    await reader.stopped.wait()
    #expect(!(await Task(executorPreference: reader) { reader.isCurrent }.value))
    _ = consume link
    await closed.wait()
    try theirs.close()
  }

  @Test("The reader thread leaves signals to the program's own threads")
  func signals() async throws {
    let (ours, theirs) = try Self.pair()
    let reader = FrameReader(try Link(.descriptor(ours)), handler: { _, _ in }, ended: { _ in })
    try reader.start()
    let blocked = await Task(executorPreference: reader) {
      var mask = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &mask)
      return [SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGSEGV].map { sigismember(&mask, $0) == 1 }
    }.value
    #expect(blocked == [true, true, true, true, false])
    reader.stop()
    await reader.stopped.wait()
    try theirs.close()
  }

  @Test(
    "Each failure to open has its cause",
    arguments: [
      ("/dev/does-not-exist", LinkError.Code.notFound), ("/dev/null", .notASerialDevice),
      ("tcp:127.0.0.1:1", .connectionRefused), ("/dev/null?baud=12345", .invalidEndpoint),
    ])
  func failures(_ text: String, _ code: LinkError.Code) throws {
    let endpoint = try LinkEndpoint(text)
    let error = #expect(throws: LinkError.self) { try Link(endpoint) }
    #expect(error?.code == code)
    #expect(error?.recoverySuggestion != nil)
  }

  @Test(
    "Names that are no device are refused",
    arguments: ["", "ubs:1", "nxp-usb:", "tcp:host", "tcp::1", "tcp:h:0", "tcp:h:x", "/dev/x?b=1"])
  func badNames(_ text: String) {
    #expect(throws: LinkError.self) { try LinkEndpoint(text) }
  }

  @Test("Names of devices are read")
  func names() throws {
    #expect(try LinkEndpoint("/dev/ttyACM0") == .serial(path: "/dev/ttyACM0"))
    #expect(
      try LinkEndpoint("/dev/ttyUSB0?baud=3000000&rtscts")
        == .serial(path: "/dev/ttyUSB0", baud: 3_000_000, hardwareFlowControl: true))
    #expect(try LinkEndpoint("ttyACM0") == .serial(path: "ttyACM0"))
    #expect(try LinkEndpoint("../chip:a") == .serial(path: "../chip:a"))
    #expect(try LinkEndpoint("tcp:[::1]:7000") == .tcp(host: "::1", port: "7000"))
  }
}
