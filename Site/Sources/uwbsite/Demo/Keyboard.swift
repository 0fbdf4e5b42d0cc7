// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Single keys of a terminal, which are read without waiting.
final class Keyboard {
  private var former: termios?

  /// Starts to read keys as they are pressed; does nothing without a terminal.
  init() {
    var settings = termios()
    guard isatty(STDIN_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &settings) == 0,
      // A program in the background would be stopped by a change of the terminal.
      tcgetpgrp(STDIN_FILENO) == getpgrp()
    else { return }
    former = settings
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
  }

  /// Restores the terminal.
  func close() {
    guard var former else { return }
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &former)
    self.former = nil
  }

  /// Returns whether q was pressed.
  static func hasQuit() -> Bool {
    var one = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard isatty(STDIN_FILENO) == 1, unsafe poll(&one, 1, 0) > 0 else { return false }
    var key: UInt8 = 0
    guard unsafe read(STDIN_FILENO, &key, 1) == 1 else { return false }
    return key == UInt8(ascii: "q") || key == UInt8(ascii: "Q")
  }

  /// Returns the size of the terminal at standard output; nil without a terminal.
  static func size() -> (width: Int, height: Int)? {
    guard isatty(STDOUT_FILENO) == 1 else { return nil }
    var size = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return (80, 24)
    }
    return (Int(size.ws_col), max(2, Int(size.ws_row)))
  }
}
