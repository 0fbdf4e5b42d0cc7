// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Foundation
import Glibc
import System
import UWBLink

/// A process with many connections to the service, each of which is read when it is readable. It
/// prints a line when the first measurement has arrived, and the figures at the end.
struct ReaderProcess {
  private struct Connection {
    let descriptor: Int32
    var rest: [UInt8] = []
    var received = 0
    var lost = 0
  }

  private let seconds: Int
  private let wanted: Int
  private let stamps: UnsafePointer<UInt64>
  /// Whether the last connection reads nothing until the others have received everything.
  private let stops: Bool
  /// Whether the connections carry packets of the chip rather than replies.
  private let isRelayed: Bool
  private var owner: Connection?
  private var readers: [Connection] = []
  private var delays: [Double] = []
  private var hasBegun = false
  private var buffer = [UInt8](repeating: 0, count: 262_144)

  /// The session with the measurements of `ChipProcess`.
  static let session = """
    {"session_id":42,"parameters":{"DEVICE_TYPE":"controller","DEVICE_ROLE":"initiator",\
    "MULTI_NODE_MODE":"unicast","NUMBER_OF_CONTROLEES":1,"DEVICE_MAC_ADDRESS":"0x0000",\
    "DST_MAC_ADDRESS":"0x0001","RANGING_DURATION":"60000 ms"}}
    """

  /// - Parameters:
  ///   - pause: the value of `every_ms`.
  ///   - arguments: the socket and the number of measurements in a frame. `stop` means that one
  ///     connection stops, and `relay` that the socket is one of `PacketRelay`.
  init(
    connections: Int, frames: Int, seconds: Int, pause: Int, _ arguments: ArraySlice<String>,
    stamps: UnsafePointer<UInt64>
  ) throws {
    let arguments = Array(arguments)
    guard arguments.count >= 2, let measurements = Int(arguments[1]) else {
      throw CocoaError(.featureUnsupported)
    }
    (self.seconds, self.stamps, wanted) = (seconds, stamps, frames * measurements)
    stops = arguments.contains("stop")
    isRelayed = arguments.contains("relay")
    if !isRelayed { owner = try Self.connected(arguments[0]) }
    for _ in 0..<connections {
      let reader = try Self.connected(arguments[0])
      if !isRelayed { Self.call(reader, "Monitor", #"{"every_ms":\#(pause)}"#, more: true) }
      readers.append(reader)
    }
  }

  private static func connected(_ path: String) throws -> Connection {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard withUnixAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
      throw CocoaError(.fileReadUnknown)
    }
    return Connection(descriptor: descriptor)
  }

  private static func call(
    _ connection: Connection, _ method: String, _ parameters: String, more: Bool = false
  ) {
    let text = """
      {"method":"org.swift-uwb.Chips.\(method)","parameters":\(parameters),"more":\(more)}
      """
    let bytes = Array(text.utf8) + [0]
    _ = send(connection.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Returns when the service has opened these chips. A call waits until its chip is open.
  static func waitForChips(_ paths: [String], at path: String) throws {
    let connection = try connected(path)
    defer { close(connection.descriptor) }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    for path in paths {
      call(connection, "Describe", #"{"chip":"\#(path)"}"#)
      guard recv(connection.descriptor, &buffer, buffer.count, 0) > 0 else {
        throw CocoaError(.fileReadUnknown)
      }
    }
  }

  mutating func run() {
    if let owner { startSession(owner) }
    let end = cuwb_test_now() + UInt64(seconds + 20) * 1_000_000_000
    let first = stops ? readers.count - 1 : readers.count
    while readers[..<first].contains(where: { $0.received + $0.lost < wanted }),
      cuwb_test_now() < end
    { read(readers[..<first].indices, waitsFor: 1_000) }
    let figures = Percentiles(delays)
    print("end")
    fflush(nil)
    while stops, readers[first].received + readers[first].lost < wanted, cuwb_test_now() < end {
      read(first..<first + 1, waitsFor: 1_000)
    }
    let missing = readers.map { wanted - $0.received - $0.lost }.reduce(0, +)
    let lost = readers.map(\.lost)
    print(
      figures.p50, figures.p99, missing, lost.dropLast(readers.count - first).reduce(0, +),
      lost.suffix(readers.count - first).reduce(0, +), figures.p90, figures.p999)
    fflush(nil)
    while Glibc.read(STDIN_FILENO, &buffer, 1) > 0 {}
  }

  private mutating func startSession(_ owner: Connection) {
    Self.call(owner, "Start", #"{"profile":\#(Self.session)}"#)
    let answered = recv(owner.descriptor, &buffer, buffer.count, 0)
    guard answered > 0, !buffer.starts(with: Array(#"{"error"#.utf8)) else {
      print(String(decoding: buffer[..<max(0, answered)], as: UTF8.self))
      exit(1)
    }
  }

  private mutating func read(_ range: Range<Int>, waitsFor milliseconds: Int32) {
    var entries = range.map {
      pollfd(fd: readers[$0].descriptor, events: Int16(POLLIN), revents: 0)
    }
    guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return }
    for (entry, index) in zip(entries, range) where entry.revents != 0 {
      let count = recv(entry.fd, &buffer, buffer.count, 0)
      guard count > 0 else { exit(1) }
      take(buffer[..<count], index, at: cuwb_test_now())
    }
  }

  private mutating func take(_ bytes: ArraySlice<UInt8>, _ index: Int, at time: UInt64) {
    var rest = (readers[index].rest + bytes)[...]
    while isRelayed, rest.count >= 4, case let length = 4 + Int(rest[rest.startIndex + 3]),
      rest.count >= length
    {
      let packet = Array(rest.prefix(length))
      rest = rest.dropFirst(length)
      // The payload of session information begins with its sequence number.
      guard packet[0] == 0x62, packet[1] == 0, length >= 8 else { continue }
      let number = packet[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
      take(number - ChipProcess.firstNumber, lost: 0, index, at: time)
    }
    while !isRelayed, let end = rest.firstIndex(of: 0) {
      let message = rest[..<end]
      rest = rest[(end + 1)...]
      let number = Self.number("\"sequence\":", message) - ChipProcess.firstNumber
      take(number, lost: Self.number("\"lost\":", message), index, at: time)
    }
    readers[index].rest = Array(rest)
  }

  private mutating func take(_ number: Int, lost: Int, _ index: Int, at time: UInt64) {
    guard number >= 0 else { return }
    readers[index].received += 1
    readers[index].lost += lost
    // The times of measurements that waited for the stopped connection are meaningless.
    if !stops || index < readers.count - 1 {
      delays.append(Double(time - stamps[number]) / 1_000)
    }
    guard !hasBegun else { return }
    hasBegun = true
    print("begin")
    fflush(nil)
  }

  /// Returns the number of a key; -1 if there is none.
  private static func number(_ key: StaticString, _ message: ArraySlice<UInt8>) -> Int {
    message.withUnsafeBytes { message in
      let (start, length) = (message.baseAddress!, key.utf8CodeUnitCount)
      var place = 0
      while place + length < message.count,
        let quote = memchr(start + place, 0x22, message.count - place - length)
      {
        place = UnsafeRawPointer(quote) - start
        if memcmp(quote, key.utf8Start, length) == 0 {
          return message[(place + length)...].prefix { 48...57 ~= $0 }
            .reduce(0) { 10 * $0 + Int($1 - 48) }
        }
        place += 1
      }
      return -1
    }
  }
}
