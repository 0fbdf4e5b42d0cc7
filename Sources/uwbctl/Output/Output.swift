// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import Synchronization
import SystemPackage

/// An output stream of the program.
struct Output: Sendable {
  let descriptor: FileDescriptor

  /// Whether a person is likely to be reading.
  var isTerminal: Bool { isatty(descriptor.rawValue) != 0 }

  /// Writes all of a text. When the reader has gone away (`uwbctl range | head`), the program ends as
  /// on SIGTERM: in good order.
  func write(_ text: String) {
    do { try descriptor.writeAll(text.utf8) } catch {
      // Once: a second signal would end the program before the chip has been stopped.
      if !hasLostReader.exchange(true, ordering: .relaxed) { kill(getpid(), SIGTERM) }
    }
  }

  /// The width of the terminal in characters; nil where there is none, or it does not tell.
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

/// How results are printed: as text, or as one JSON object a line.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json
}
