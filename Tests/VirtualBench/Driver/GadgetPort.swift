// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A board on the virtual USB: a kernel gadget, and the serial port at its other end, where the
/// chip is.
struct GadgetPort {
  /// The port, such as /dev/ttyGS0.
  let terminal: String
  /// The gadget's folder in configfs.
  let gadget: String
  /// The controller into which the gadget is plugged, such as dummy_udc.0.
  let controller: String

  /// A microcontroller between USB and the chip.
  var bridge: Bridge?

  private(set) var descriptor: Int32 = -1
  private var queue: [UInt8] = []
  /// The controller's state of the cable; the kernel wakes pollers when it changes.
  let state: Int32
  private(set) var isConfigured = false

  /// `/dev/ttyGS0,/sys/kernel/config/usb_gadget/NAME,dummy_udc.0`, optionally followed by
  /// `,bridge`; or `pty,LINK` for a pseudo-terminal without a cable, for comparison.
  init(_ text: String) {
    let parts = text.split(separator: ",").map(String.init)
    if parts.count == 2, parts[0] == "pty" {
      (terminal, gadget, controller, state) = (parts[1], "", "", -1)
      descriptor = pseudoTerminal(parts[1])
      return
    }
    guard parts.count == 3 || parts.count == 4 && parts[3] == "bridge" else {
      fail("'\(text)' is not TERMINAL,GADGET,CONTROLLER[,bridge]")
    }
    bridge = parts.count == 4 ? Bridge() : nil
    (terminal, gadget, controller) = (parts[0], parts[1], parts[2])
    state = open("/sys/class/udc/\(controller)/state", O_RDONLY | O_CLOEXEC)
    guard state >= 0 else { fail("\(controller) is not there: \(lastError)") }
  }

  // MARK: the cable

  var hasCable: Bool { state >= 0 }

  /// Reads the state again. Returns true if it has become configured, false if it no longer is.
  mutating func stateChange() -> Bool? {
    var buffer = [UInt8](repeating: 0, count: 64)
    lseek(state, 0, SEEK_SET)
    let count = read(state, &buffer, buffer.count)
    let now = count > 0 && String(decoding: buffer[..<count], as: UTF8.self) == "configured\n"
    guard now != isConfigured else { return nil }
    isConfigured = now
    return now
  }

  func plug() {
    guard put(controller + "\n", into: gadget + "/UDC") else {
      return say("plug: \(lastError)", on: STDERR_FILENO)
    }
  }

  func unplug() {
    guard put("\n", into: gadget + "/UDC") else {
      return say("unplug: \(lastError)", on: STDERR_FILENO)
    }
  }

  // MARK: the chip's side of the line

  mutating func openTerminal() {
    guard descriptor < 0 else { return }
    descriptor = open(terminal, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    var settings = termios()
    guard descriptor >= 0, tcgetattr(descriptor, &settings) == 0 else { return closeTerminal() }
    cfmakeraw(&settings)
    tcsetattr(descriptor, TCSANOW, &settings)
  }

  mutating func closeTerminal() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
    queue = []
    bridge?.forget()
  }

  /// Returns the bytes from the host; nil after a hang-up.
  mutating func received() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = read(descriptor, &buffer, buffer.count)
    if count < 0, errno == EAGAIN || errno == EINTR { return [] }
    return count > 0 ? Array(buffer[..<count]) : nil
  }

  mutating func send(_ bytes: [UInt8]) {
    queue += bytes
    flush()
  }

  mutating func flush() {
    guard descriptor >= 0, !queue.isEmpty else { return }
    let written = write(descriptor, queue, queue.count)
    if written > 0 { queue.removeFirst(written) }
  }

  /// Waits until all bytes have been transmitted to the host.
  func drain() { if descriptor >= 0 { tcdrain(descriptor) } }

  var waiting: [pollfd] {
    [
      pollfd(fd: state, events: Int16(POLLPRI), revents: 0),
      pollfd(
        fd: descriptor, events: Int16(queue.isEmpty ? POLLIN : POLLIN | POLLOUT), revents: 0),
    ]
  }
}
