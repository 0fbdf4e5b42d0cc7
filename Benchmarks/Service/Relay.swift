// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import SystemPackage
import UWBSimulator

/// A process that does the least that any service has to do: it forwards the messages between a
/// chip and a program. It prints the path of its pseudo-terminal.
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

/// A process that sends each packet of a chip to all programs, as a few lines of C would. It prints
/// a line when it accepts connections.
struct PacketRelay {
  private let chip: Int32
  private let listener: Int32
  private let programs: Int

  /// - Parameters:
  ///   - path: the socket.
  ///   - programs: the number of programs that it waits for.
  init(chip: String, at path: String, programs: Int) {
    self.programs = programs
    self.chip = open(chip, O_RDWR | O_NOCTTY | O_CLOEXEC)
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    _ = withUnixAddress(path) { bind(listener, $0, $1) }
    listen(listener, 128)
    print("on")
    fflush(nil)
  }

  /// Starts the session, and runs until a program disconnects.
  func run() {
    let connections = (0..<programs).map { _ in accept(listener, nil, nil) }
    // SESSION_START of session 42.
    _ = write(chip, [0x22, 0x00, 0x00, 0x04, 42, 0, 0, 0], 8)
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(chip, &buffer, buffer.count)
      guard count > 0 else { return }
      for connection in connections {
        guard send(connection, buffer, count, Int32(MSG_NOSIGNAL)) == count else { return }
      }
    }
  }
}
