// SPDX-License-Identifier: Apache-2.0
import Glibc
import JSON
import System
import UWBTestSupport
import Varlink

/// A server with methods for each kind of outcome.
@ServiceActor final class ServerBench: VarlinkHandler {
  nonisolated let path: String
  private nonisolated let folder: TemporaryFolder
  private nonisolated let server: VarlinkServer
  /// The connections whose calls of `Wait` are not answered yet.
  private var waiting: [VarlinkConnection] = [] { didSet { resume() } }
  private(set) var closed = 0 { didSet { resume() } }
  /// The tests that wait for a state of the server.
  private var awaited: [(state: @ServiceActor (ServerBench) -> Bool, test: Turn)] = []
  private(set) var mirrors: [Mirror] = []

  private static let interface = """
    interface org.example.test
    method Echo(text: string) -> (text: string)
    method Wait() -> ()
    method Count(to: int) -> (number: int)
    method Mirror() -> ()
    error InvalidMessage (reason: string)

    """

  private init() throws {
    folder = try TemporaryFolder()
    path = folder.path("socket")
    server = try VarlinkServer(
      try VarlinkService(
        product: "bench", version: "1", interfaces: [Self.interface],
        upgrading: ["org.example.test.Mirror"]))
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    makeNonBlocking(socket)
    guard withUnixAddress(path, { bind(socket, $0, $1) }) == 0, listen(socket, 8) == 0 else {
      throw BenchFailure(what: "cannot listen: \(errno)")
    }
    server.start(listeningAt: socket) { self.server.connect($0, of: $1.uid).handler = self }
  }

  static func lend(_ body: @Sendable (ServerBench) async throws -> Void) async throws {
    let bench = try ServerBench()
    defer { bench.stop() }
    try await body(bench)
  }

  private func stop() {
    server.stop()
    folder.remove()
  }

  /// Returns when a call of `Wait` has arrived.
  func waitForCall() async { await wait { !$0.waiting.isEmpty } }

  /// Returns when a number of connections have ended.
  func waitForEnds(_ count: Int) async { await wait { $0.closed >= count } }

  private func wait(for state: @escaping @ServiceActor (ServerBench) -> Bool) async {
    await withCheckedContinuation { test in
      // In here, because other jobs may run before the continuation is created.
      if state(self) { test.resume() } else { awaited.append((state, test)) }
    }
  }

  private func resume() {
    for (state, test) in awaited where state(self) { test.resume() }
    awaited.removeAll { $0.state(self) }
  }

  func finish() { server.stop(answersCalls: true) }

  func answerWaiting() {
    for connection in waiting { connection.answer(.reply(VarlinkReply().bytes)) }
    waiting = []
  }

  nonisolated func client() throws -> RawClient { try RawClient(path) }

  /// Connects clients, and disconnects them, while the service can do nothing else.
  func connectInAJob(_ count: Int) throws {
    for _ in 0..<count { _ = try RawClient(path, patience: 30) }
  }

  // MARK: handler

  func perform(
    _ method: String, _ call: VarlinkCall, over connection: VarlinkConnection
  ) -> VarlinkConnection.Outcome {
    switch method {
    case "Echo": return .reply(VarlinkReply(call.parameters).bytes)
    case "Wait":
      waiting.append(connection)
      return .later
    case "Count": return .stream(Counter(to: Int(call.parameters["to"]?.integer ?? 0)))
    default:
      mirrors.append(Mirror(connection))
      return .upgrade(mirrors[mirrors.count - 1], reply: VarlinkReply().bytes)
    }
  }

  func rejection(of error: VarlinkMessageError) -> VarlinkReply {
    VarlinkReply(["reason": .string("\(error)")], error: "org.example.test.InvalidMessage")
  }

  func closed(_ connection: VarlinkConnection) { closed += 1 }
}

private typealias Turn = CheckedContinuation<Void, Never>

struct BenchFailure: Error { var what: String }

/// Replies with the numbers from 1.
private final class Counter: VarlinkStream {
  private let last: Int
  private var number = 0

  init(to last: Int) { self.last = last }

  func appendReplies(to output: inout OutputBuffer, more: Bool) -> Bool {
    while output.count < 32_768, number < last {
      number += 1
      let continues = more && number < last
      output.append(
        VarlinkReply(["number": .integer(Int64(number))], continues: continues).bytes)
      if !continues { return true }
    }
    return false
  }
}

/// Returns the bytes that it receives.
final class Mirror: VarlinkUpgrade {
  private(set) var hasEnded = false
  private weak var connection: VarlinkConnection?

  init(_ connection: VarlinkConnection) { self.connection = connection }

  func start() { connection?.send(Array("begin".utf8)) }
  func receive(_ bytes: ArraySlice<UInt8>) { connection?.send(Array(bytes)) }
  func end() { hasEnded = true }
}

/// A program that sends and receives bytes. Its calls block.
final class RawClient {
  private let descriptor: Int32
  private var framing = VarlinkFraming()

  /// - Parameter patience: The time-out in seconds for connecting; 0: none.
  init(_ path: String, patience: Int = 0) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var time = timeval(tv_sec: patience, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    guard withUnixAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
      throw BenchFailure(what: "cannot connect: \(errno)")
    }
  }

  deinit { close(descriptor) }

  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  func send(_ bytes: [UInt8]) {
    _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  func send(
    _ method: String, _ parameters: [String: JSON] = [:], more: Bool = false, upgrade: Bool = false
  ) {
    send(
      VarlinkCall("org.example.test.\(method)", parameters, more: more, upgrade: upgrade).bytes)
  }

  /// The bytes that have arrived; empty when the connection has ended.
  func read() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = Glibc.read(descriptor, &buffer, buffer.count)
    return Array(buffer.prefix(max(0, count)))
  }

  /// The next reply; nil when the connection has ended.
  func receive() throws -> VarlinkReply? {
    while true {
      if let message = try framing.next() { return try VarlinkReply(message) }
      let bytes = read()
      guard !bytes.isEmpty else { return nil }
      framing.append(bytes)
    }
  }
}
