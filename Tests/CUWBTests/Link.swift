// SPDX-License-Identifier: Apache-2.0

import CUWB
import CUWBTestSupport
import Foundation
import Glibc

extension cuwb_result: @retroactive Equatable {
  static func == (left: cuwb_result, right: cuwb_result) -> Bool {
    left.outcome == right.outcome && left.error == right.error
  }
}

extension cuwb_result {
  static let ok = cuwb_result(outcome: CUWB_OK, error: 0)
  static let timeout = cuwb_result(outcome: CUWB_TIMEOUT, error: 0)
  static let woken = cuwb_result(outcome: CUWB_WOKEN, error: 0)
  static let closed = cuwb_result(outcome: CUWB_CLOSED, error: 0)
  static let gone = cuwb_result(outcome: CUWB_GONE, error: 0)
  static let tooLong = cuwb_result(outcome: CUWB_TOO_LONG, error: 0)
  static let invalid = cuwb_result(outcome: CUWB_INVALID, error: 0)
  static func failed(_ error: Int32) -> cuwb_result {
    cuwb_result(outcome: CUWB_FAILED, error: error)
  }
}

struct OpenFailure: Error, Equatable {
  let result: cuwb_result
}

/// A link that is closed with its last reference. One thread may read while another one writes.
final class Link: @unchecked Sendable {
  let link: OpaquePointer

  private init(_ open: (UnsafeMutablePointer<OpaquePointer?>) -> cuwb_result) throws {
    var link: OpaquePointer?
    let result = open(&link)
    guard result == .ok, let link else { throw OpenFailure(result: result) }
    self.link = link
  }

  deinit {
    cuwb_link_close(link)
  }

  convenience init(descriptor: Int32) throws {
    try self.init { cuwb_open_descriptor(descriptor, $0) }
  }

  convenience init(serial path: String, baud: UInt32 = 115_200, shared: Bool = false) throws {
    let options = cuwb_serial_options(baud: baud, rts_cts: false, shared: shared)
    try self.init { cuwb_open_serial(path, options, $0) }
  }

  convenience init(bridge path: String, _ options: cuwb_bridge_options) throws {
    try self.init { cuwb_open_bridge(path, options, $0) }
  }

  convenience init(host: String, port: String, timeout: Int32 = 10_000) throws {
    try self.init { cuwb_open_tcp(host, port, timeout, $0) }
  }

  var descriptor: Int32 { cuwb_link_descriptor(link) }
  var stats: cuwb_stats { cuwb_link_get_stats(link) }

  func read(capacity: Int = 8_192, timeout: Int32 = 10_000) -> (
    result: cuwb_result, bytes: [UInt8], frame: cuwb_frame
  ) {
    var frame = cuwb_frame()
    var result = cuwb_result()
    let bytes = [UInt8](unsafeUninitializedCapacity: capacity + 1) { memory, count in
      result = cuwb_read_frame(link, memory.baseAddress!, capacity, timeout, &frame)
      count = result == .ok ? Int(frame.length) : 0
    }
    return (result, bytes, frame)
  }

  func write(_ bytes: [UInt8], timeout: Int32 = 10_000) -> cuwb_result {
    cuwb_write_frame(link, bytes, bytes.count, timeout)
  }

  func wake() {
    cuwb_link_wake(link)
  }
}

/// A descriptor of the other side. It is closed with its last reference at the latest.
final class Peer: @unchecked Sendable {
  private(set) var descriptor: Int32

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    close()
  }

  func close() {
    guard descriptor >= 0 else { return }
    // Ends a socket also while a program that another test starts has a copy of the descriptor.
    shutdown(descriptor, Int32(SHUT_RDWR))
    Glibc.close(descriptor)
    descriptor = -1
  }

  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress!, $0.count) }
      precondition(count > 0, "write: \(errno)")
      rest = rest.dropFirst(count)
    }
  }

  /// Returns exactly `count` bytes, or fewer at the end of the stream.
  func receive(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: count)
    while bytes.count < count {
      let got = Glibc.read(descriptor, &piece, count - bytes.count)
      guard got > 0 else { break }
      bytes += piece.prefix(got)
    }
    return bytes
  }
}

func socketPair() throws -> (link: Link, peer: Peer) {
  var ends: [Int32] = [-1, -1]
  precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
  return (try Link(descriptor: ends[0]), Peer(ends[1]))
}

func pipeEnds() -> (reading: Int32, writing: Int32) {
  var ends: [Int32] = [-1, -1]
  precondition(pipe(&ends) == 0)
  return (ends[0], ends[1])
}

/// Both sides of a pseudo-terminal, and the name of the side that resembles a serial device.
func pseudoTerminal() -> (master: Peer, slave: Peer, path: String) {
  var terminal = cuwb_test_terminal()
  precondition(cuwb_test_open_terminal(&terminal))
  let path = withUnsafeBytes(of: terminal.path) {
    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
  }
  return (Peer(terminal.master), Peer(terminal.slave), path)
}

/// Runs `body` on a thread of its own; `wait` returns when it has ended.
final class Worker: @unchecked Sendable {
  private let ended = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () -> Void) {
    Thread { [ended] in
      body()
      ended.signal()
    }.start()
  }

  func wait() {
    ended.wait()
  }
}
