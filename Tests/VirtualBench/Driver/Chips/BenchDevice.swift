// SPDX-License-Identifier: Apache-2.0

import CUWB
import ChipModels
import Glibc

/// The chip's end of the kernel's SPI controller, GPIO chip and vendor's device: /dev/uwb-bench of
/// `Module`. Numbers as in `Module/uwb_bench.h`.
struct BenchDevice {
  /// Actions of the host.
  enum Event {
    /// The chip was selected while the host sent these bytes; it has to answer as many.
    case selected([UInt8], chip_selection)
    case line(cuwb_line, high: Bool, at: UInt64)
    /// Bytes were written to the vendor's device.
    case written([UInt8])
    /// A request to the vendor's device.
    case control(number: UInt32, value: UInt32)
  }

  let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 20_000)

  private static let header = 40

  init(_ path: String = "/dev/uwb-bench") {
    descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { fail("\(path): \(lastError)") }
  }

  /// Returns the next action of the host; nil if there is none.
  mutating func next() -> Event? {
    let count = read(descriptor, &buffer, buffer.count)
    guard count >= Self.header else { return nil }
    func word(_ offset: Int) -> UInt32 {
      buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }
    let time = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self) }
    let bytes = Array(buffer[Self.header..<count])
    switch word(0) {
    case 1:
      let speed = word(24)
      return .selected(
        bytes,
        chip_selection(
          begin_ns: time,
          end_ns: time + UInt64(bytes.count) * 8_000_000_000 / UInt64(max(speed, 1)),
          length: UInt32(bytes.count), speed_hz: speed, mode: word(32), hold_us: word(36),
          irq_was_high: false))
    case 2:
      return word(8) < UInt32(CUWB_LINES)
        ? .line(cuwb_line(rawValue: word(8)), high: word(12) != 0, at: time) : nil
    case 5: return .written(bytes)
    case 6: return .control(number: word(8), value: word(12))
    default: return nil
    }
  }

  /// Sends the chip's bytes for the selection for which the host waits.
  func answer(_ bytes: [UInt8]) { Self.put(to: descriptor, kind: 3, bytes: bytes) }

  /// Sets the state that the vendor's device (Qorvo's) reports.
  func report(state: UInt32) { Self.put(to: descriptor, kind: 8, level: state) }

  /// The functions that a model calls when it changes a line or has bytes for the vendor's device.
  var callbacks: chip_callbacks {
    chip_callbacks(
      context: UnsafeMutableRawPointer(bitPattern: UInt(descriptor)),
      changed: { context, line, high, edge in
        BenchDevice.put(
          to: Int32(UInt(bitPattern: context)), kind: 4, line: line.rawValue,
          level: (high ? 1 : 0) | edge.rawValue)
      },
      offer: { context, bytes, length in
        BenchDevice.put(
          to: Int32(UInt(bitPattern: context)), kind: 7,
          bytes: Array(UnsafeBufferPointer(start: bytes, count: length)))
      })
  }

  private static func put(
    to descriptor: Int32, kind: UInt32, line: UInt32 = 0, level: UInt32 = 0, bytes: [UInt8] = []
  ) {
    var record: [UInt8] = []
    for word in [kind, UInt32(bytes.count), line, level, 0, 0, 0, 0, 0, 0] {
      withUnsafeBytes(of: word) { record += $0 }
    }
    record += bytes
    guard write(descriptor, record, record.count) == record.count else {
      return say("uwb-bench: \(lastError)", on: STDERR_FILENO)
    }
  }
}
