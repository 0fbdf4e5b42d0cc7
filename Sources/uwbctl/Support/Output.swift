// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Synchronization
import SystemPackage

/// Writes text whole, also when the kernel takes it in parts.
struct Output: Sendable {
  let descriptor: FileDescriptor

  /// Whether a person is likely to be reading.
  var isTerminal: Bool { isatty(descriptor.rawValue) != 0 }

  /// When the reader has gone away (`uwbctl range | head`), the program ends as it does on SIGTERM:
  /// in good order.
  func write(_ text: String) {
    do { try descriptor.writeAll(text.utf8) } catch {
      // Once: a second signal would end the program before the chip has been stopped.
      if !hasLostReader.exchange(true, ordering: .relaxed) { kill(getpid(), SIGTERM) }
    }
  }

  /// Characters that fit into a line of the terminal; nil where it is none, or does not say.
  var columns: Int? {
    var size = winsize()
    guard ioctl(descriptor.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return nil
    }
    return Int(size.ws_col)
  }
}

private let hasLostReader = Atomic(false)

let standardOutput = Output(descriptor: .standardOutput)
let standardError = Output(descriptor: .standardError)

/// How results are written: for people, or one JSON object a line for programs.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json
}

/// A number with so many digits behind the point.
func fixed(_ value: Double, _ digits: Int) -> String {
  guard value.isFinite else { return "null" }
  var scale = 1.0
  for _ in 0..<digits { scale *= 10 }
  let scaled = Int((abs(value) * scale).rounded())
  let whole = scaled / Int(scale)
  let sign = value < 0 && scaled > 0 ? "-" : ""
  guard digits > 0 else { return "\(sign)\(whole)" }
  let rest = String(scaled % Int(scale))
  return "\(sign)\(whole)." + String(repeating: "0", count: digits - rest.count) + rest
}

extension String {
  /// Padded on the left to a width.
  func right(_ width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
  /// Padded on the right to a width.
  func left(_ width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
