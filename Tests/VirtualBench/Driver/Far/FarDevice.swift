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
    /// The chip was selected while the host sent these bytes; it has to answer as many.
    case selected([UInt8], Selection)
    case line(Line, high: Bool, at: UInt64)
    /// Bytes were written to the vendor's device.
    case written([UInt8])
    /// A request to the vendor's device.
    case control(number: UInt32, value: UInt32)
  }

  /// How the host sees a line change; numbers of `Module/uwb_far.h`.
  enum Edge: UInt32 {
    case seen = 0
    /// The edge is lost on its way.
    case lost = 2
    /// High and low again at once.
    case pulse = 4
  }

  /// How a selection was made.
  struct Selection {
    /// Nanoseconds of CLOCK_MONOTONIC.
    var began: UInt64
    /// Hertz.
    var speed: UInt32
    var transfers: UInt32
    var mode: UInt32
    /// Microseconds of the longest pause behind one of its transfers.
    var hold: UInt32
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
        Selection(began: time, speed: word(24), transfers: word(28), mode: word(32), hold: word(36))
      )
    case 2:
      guard let line = Line(rawValue: word(8)) else { return nil }
      return .line(line, high: word(12) != 0, at: time)
    case 5: return .written(Array(buffer[Self.header..<count]))
    case 6: return .control(number: word(8), value: word(12))
    default: return nil
    }
  }

  /// What the chip sends in the selection that the host waits for.
  func answer(_ bytes: [UInt8]) { put(kind: 3, bytes: bytes) }

  /// The chip sets one of its lines.
  func drive(_ line: Line, high: Bool, _ edge: Edge) {
    put(kind: 4, line: line.rawValue, level: (high ? 1 : 0) | edge.rawValue)
  }

  /// Something for whoever reads the vendor's device.
  func offer(_ bytes: [UInt8]) { put(kind: 7, bytes: bytes) }

  /// What the vendor's device (Qorvo's) says of its state.
  func report(state: UInt32) { put(kind: 8, level: state) }

  private func put(kind: UInt32, line: UInt32 = 0, level: UInt32 = 0, bytes: [UInt8] = []) {
    var record: [UInt8] = []
    for word in [kind, UInt32(bytes.count), line, level, 0, 0, 0, 0, 0, 0] {
      withUnsafeBytes(of: word) { record += $0 }
    }
    record += bytes
    guard write(descriptor, record, record.count) == record.count else {
      return say("uwb-far: \(lastError)", on: STDERR_FILENO)
    }
  }
}
