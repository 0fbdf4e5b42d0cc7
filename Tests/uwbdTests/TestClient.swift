// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Glibc
import JSON
import System
import UWBLink
import Varlink

@testable import UWBService

/// A program that uses the service, over a real socket. Its calls block.
final class TestClient: Sendable {
  struct Failure: Error { var what: String }

  private let descriptor: Int32
  private let framing = LockedFraming()

  private final class LockedFraming: @unchecked Sendable {
    // A client is used by one test.
    var framing = VarlinkFraming(limit: 1 << 20)
  }

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard withUnixAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
      throw Failure(what: "cannot connect: \(errno)")
    }
    var time = timeval(tv_sec: 300, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close() }

  private let isOpen = Flag()
  private final class Flag: @unchecked Sendable { var value = true }

  /// Closes the socket, as the exit of the program does.
  func close() {
    guard isOpen.value else { return }
    isOpen.value = false
    // Another test may be starting a program, which inherits the descriptor until it executes.
    shutdown(descriptor, Int32(SHUT_RDWR))
    Glibc.close(descriptor)
  }

  /// Shuts down the sending direction only.
  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// The call also returns when the service closes the connection meanwhile.
  ///
  /// - Returns: whether all bytes were sent.
  @discardableResult func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(
          descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  func send(
    _ method: String, _ parameters: [String: JSON] = [:], more: Bool = false, oneway: Bool = false
  ) {
    let name = method.contains(".") ? method : "\(Chips.interface).\(method)"
    send(VarlinkCall(name, parameters, more: more, oneway: oneway).bytes)
  }

  /// The next reply; nil: the service has closed the connection.
  func receive() throws -> VarlinkReply? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      if let message = try framing.framing.next() { return try VarlinkReply(message) }
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EAGAIN { throw Failure(what: "no reply for five minutes") }
      guard count > 0 else { return nil }
      framing.framing.append(buffer[..<count])
    }
  }

  @discardableResult
  func call(
    _ method: String, _ parameters: [String: JSON] = [:], more: Bool = false
  ) throws -> VarlinkReply {
    send(method, parameters, more: more)
    guard let reply = try receive() else { throw Failure(what: "\(method): the connection ended") }
    return reply
  }

  /// Returns the measurements of a call of `Monitor`, until an error or until there are enough.
  func measurements(_ count: Int = .max) throws -> (found: [[String: JSON]], end: VarlinkReply?) {
    var found: [[String: JSON]] = []
    while found.count < count {
      guard let reply = try receive() else { return (found, nil) }
      guard reply.error == nil else { return (found, reply) }
      found.append(reply.parameters)
    }
    return (found, nil)
  }
}

extension VarlinkReply {
  /// The method without its interface.
  var errorName: String? { error?.split(separator: ".").last.map(String.init) }
}
