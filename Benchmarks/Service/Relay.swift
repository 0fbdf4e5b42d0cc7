// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import UWBSimulator

/// A process with the minimum of any service: it forwards the messages between a chip and a
/// program. Prints the path of its pseudo-terminal.
struct Relay {
  private let chip: Int32
  private let terminal: PseudoTerminal

  init(_ path: String) throws {
    terminal = try PseudoTerminal()
    chip = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    print(terminal.path)
    fflush(nil)
  }

  /// Runs until the end of standard input.
  func run() {
    let program = terminal.master.rawValue
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      var polled = [chip, program, STDIN_FILENO].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      guard poll(&polled, 3, -1) >= 0, polled[2].revents == 0 else { return }
      for (source, target) in [(chip, program), (program, chip)] {
        guard polled[source == chip ? 0 : 1].revents != 0 else { continue }
        let count = read(source, &buffer, buffer.count)
        if count > 0 { _ = write(target, buffer, count) }
      }
    }
  }
}
