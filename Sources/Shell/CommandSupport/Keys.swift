// SPDX-License-Identifier: Apache-2.0

import Glibc
import System
import Synchronization

/// The keys of a live view. While they are on, the terminal passes each key at once, without
/// showing it.
///
/// They are on only while standard input is a terminal in whose foreground this program runs. Each
/// end of the program, and each stop, restores the mode of the terminal.
enum Keys {
  private struct State {
    /// The mode of the terminal before the keys were turned on; nil while they are off.
    var before: termios?
    var watch: DescriptorWatch?
    var pressed: (@Sendable (UInt8) -> Void)?
    /// Whether the keys must stay off: the program reads answers from standard input, is about to
    /// stop, or exits.
    var isHeld = false
  }
  private static let state = Mutex(State())

  static var areOn: Bool { state.withLock { $0.watch != nil } }

  /// Turns the keys on where that is possible, and again after `fg`.
  ///
  /// - Parameter pressed: Called with each byte, on a queue of its own.
  static func turnOn(_ pressed: @escaping @Sendable (UInt8) -> Void) {
    state.withLock { state in
      state.pressed = pressed
      var mode = termios()
      guard !state.isHeld, standardInput.isTerminal, standardInput.isInForeground,
        unsafe tcgetattr(0, &mode) == 0
      else { return }
      let isRaw = mode.c_lflag & tcflag_t(ICANON) == 0
      if state.watch != nil, isRaw { return }
      state.before = state.before ?? mode
      mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
      mode.c_cc.6 = 1  // VMIN: reading returns after one byte.
      mode.c_cc.5 = 0  // VTIME: reading has no time limit.
      unsafe tcsetattr(0, TCSANOW, &mode)
      state.watch =
        state.watch
        ?? DescriptorWatch(0, label: "keys") {
          read()
        } ended: {
        }
    }
  }

  /// Turns the keys off, and restores the mode of the terminal, for the rest of the program.
  static func giveWay() { turnOff(isHeld: true) }

  /// Turns the keys off while `body` stops the program.
  static func giveWay(while body: () -> Void) {
    let wasHeld = state.withLock { $0.isHeld }
    turnOff(isHeld: true)
    body()
    state.withLock { $0.isHeld = wasHeld }
  }

  /// Turns the keys off, and restores the mode of the terminal.
  static func turnOff() { turnOff(isHeld: nil) }

  /// - Parameter isHeld: Whether the keys must stay off from now on; nil keeps the present rule.
  private static func turnOff(isHeld: Bool?) {
    state.withLock { state in
      state.isHeld = isHeld ?? state.isHeld
      state.watch?.cancel()
      state.watch = nil
      guard var mode = state.before.take(), standardInput.isInForeground else { return }
      unsafe tcsetattr(0, TCSANOW, &mode)
    }
  }

  /// Reads the pressed keys. Returns false to stop watching standard input.
  private static func read() -> Bool {
    // Reading in the background would stop the program (SIGTTIN).
    guard standardInput.isInForeground else {
      turnOff()
      return false
    }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe Glibc.read(0, &bytes, bytes.count)
    if count < 0, [EINTR, EAGAIN].contains(errno) { return true }
    // The terminal was closed.
    guard count > 0 else { return false }
    let pressed = state.withLock { $0.watch == nil ? nil : $0.pressed }
    for byte in bytes[..<count] { pressed?(byte) }
    return true
  }
}
