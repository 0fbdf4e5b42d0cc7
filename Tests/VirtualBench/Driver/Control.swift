// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The named pipe through which stages control the chips' server, one command per line.
enum Control {
  struct Reader {
    let descriptor: Int32
    private var buffer = LineBuffer()

    init(_ path: String) {
      // The pipe is open for writing as well, so that reads never report its end.
      descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { fail("\(path): \(lastError)") }
    }

    mutating func lines() -> [String] { buffer.lines(from: descriptor) ?? [] }
  }

  /// `tell FIFO COMMAND`; fails without a reader.
  static func tell(_ arguments: [String]) {
    guard arguments.count == 2 else { fail("tell FIFO COMMAND") }
    guard send(arguments[1], to: arguments[0]) else { fail("\(arguments[0]): \(lastError)") }
  }

  static func send(_ line: String, to path: String) -> Bool { put(line + "\n", into: path) }

  static func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = Array(hexadecimal.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16)
    }
  }
}
