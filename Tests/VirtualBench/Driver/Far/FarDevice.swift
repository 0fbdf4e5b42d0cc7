// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The far side of the kernel's SPI controller and GPIO chip: /dev/uwb-far of `Module`.
struct FarDevice {
  /// A line beside SPI; numbers of `Module/uwb_far.h`.
  enum Line: UInt32 {
    case interrupt = 0
    case ready, awake, power, read, wake
  }

  /// What the host has done.
  enum Event {
    /// The chip was selected while the host sent these octets; it has to answer as many.
    case selected([UInt8], Selection)
    case line(Line, high: Bool)
  }

  /// How a selection was made.
  struct Selection {
    /// Nanoseconds of CLOCK_MONOTONIC.
    var began: UInt64
    /// Hertz.
    var speed: UInt32
    var transfers: UInt32
    var mode: UInt32
  }

  let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 20_000)

  private static let header = 40

  init(_ path: String = "/dev/uwb-far") {
    descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { fail("\(path): \(lastError)") }
  }

  /// The next thing the host has done; nil: nothing.
  mutating func next() -> Event? {
    let count = read(descriptor, &buffer, buffer.count)
    guard count >= Self.header else { return nil }
    func word(_ offset: Int) -> UInt32 {
      buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }
    let time = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self) }
    switch word(0) {
    case 1:
      return .selected(
        Array(buffer[Self.header..<count]),
        Selection(began: time, speed: word(24), transfers: word(28), mode: word(32)))
    case 2:
      guard let line = Line(rawValue: word(8)) else { return nil }
      return .line(line, high: word(12) != 0)
    default: return nil
    }
  }

  /// What the chip sends in the selection that the host waits for.
  func answer(_ octets: [UInt8]) { put(kind: 3, octets: octets) }

  /// The chip sets one of its lines.
  func drive(_ line: Line, high: Bool) { put(kind: 4, line: line.rawValue, level: high ? 1 : 0) }

  private func put(kind: UInt32, line: UInt32 = 0, level: UInt32 = 0, octets: [UInt8] = []) {
    var record: [UInt8] = []
    for word in [kind, UInt32(octets.count), line, level, 0, 0, 0, 0, 0, 0] {
      withUnsafeBytes(of: word) { record += $0 }
    }
    record += octets
    guard write(descriptor, record, record.count) == record.count else {
      return say("uwb-far: \(lastError)", on: STDERR_FILENO)
    }
  }
}
