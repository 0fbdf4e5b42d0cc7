// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// A call whose parameters have the types of the interface.
public struct VarlinkRequest: Sendable {
  /// The name of the method without its interface.
  public let method: String
  /// The parameters: an object of JSON.
  public let parameters: [UInt8]
  /// Whether the program accepts several replies.
  public let more: Bool
  /// The user ID of the program.
  public let user: UInt32
  let replies: RequestReplies

  /// Sends a reply that others follow, and returns when the system accepts further ones. So a
  /// program that reads slowly slows down only its own replies.
  ///
  /// - Parameter parameters: An object of JSON.
  /// - Throws: `VarlinkError` when the program wants no further reply: it has disconnected, or has
  ///   called without the flag `more` and got its reply.
  public func reply(_ parameters: [UInt8]) async throws(VarlinkError) {
    try await replies.send(parameters)
  }
}

/// The replies to one call, from a task of their own.
@ServiceActor final class RequestReplies: VarlinkStream {
  private weak var connection: VarlinkConnection?
  /// Whether the replies are a stream of the connection.
  nonisolated let isStream: Bool
  private var waiting: (bytes: [UInt8], isLast: Bool)?
  /// The task that waits until its reply is taken.
  private var sender: CheckedContinuation<Void, Never>?
  private var hasEnded = false

  init(_ connection: VarlinkConnection, isStream: Bool) {
    (self.connection, self.isStream) = (connection, isStream)
  }

  func send(_ parameters: [UInt8]) async throws(VarlinkError) {
    if !isStream { finish(.success(parameters)) }
    guard !hasEnded else { throw .ended("the program wants no further reply") }
    await withCheckedContinuation { continuation in
      // Other jobs may run before the continuation is created.
      guard !hasEnded else { return continuation.resume() }
      sender = continuation
      offer(Self.message(parameters, continues: true), isLast: false)
    }
    guard !hasEnded else { throw .ended("the program has disconnected") }
  }

  /// Sends the last reply.
  func finish(_ result: Result<[UInt8], VarlinkError>) {
    guard !hasEnded else { return }
    hasEnded = true
    let bytes =
      switch result {
      case .success(let parameters): Self.message(parameters)
      case .failure(let error): Self.message(error.parameters, error: error.name)
      }
    if isStream { offer(bytes, isLast: true) } else { connection?.answer(.reply(bytes)) }
  }

  /// Handles the end of the connection.
  func end() {
    hasEnded = true
    waiting = nil
    sender.take()?.resume()
  }

  private func offer(_ bytes: [UInt8], isLast: Bool) {
    waiting = (bytes, isLast)
    connection?.sendReplies()
    closeOnceStuck()
  }

  /// Checks while a reply waits whether the program accepts bytes.
  private func closeOnceStuck() {
    guard waiting != nil else { return }
    ServiceQueue.shared.later(after: .seconds(60)) { [weak self] in
      guard let self, waiting != nil else { return }
      connection?.closeIfStuck()
      closeOnceStuck()
    }
  }

  func appendReplies(to output: inout OutputBuffer, more: Bool) -> Bool {
    guard let (bytes, isLast) = waiting.take() else { return false }
    output.append(bytes)
    sender.take()?.resume()
    return isLast
  }

  private static func message(
    _ parameters: [UInt8], continues: Bool = false, error: String? = nil
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(parameters.count + 64)
    bytes.append(UInt8(ascii: "{"))
    if let error { bytes += #""error":\#(JSON.string(error)),"#.utf8 }
    bytes += #""parameters":"#.utf8
    bytes += parameters
    bytes += (continues ? #","continues":true}"# : "}").utf8
    bytes.append(0)
    return bytes
  }
}
