// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The program that runs inside of the virtual bench; `run` in this folder boots the machine. It
/// simulates chips behind the kernel's virtual devices, unplugs cables, and evaluates the kernel's
/// records. The stages in `Guest/stages` call it.
@main
enum VirtualBench {
  static func main() async {
    var arguments = Array(CommandLine.arguments.dropFirst())
    let command = arguments.isEmpty ? "" : arguments.removeFirst()
    switch command {
    case "chips": ChipServer.run(arguments)
    case "tell": Control.tell(arguments)
    case "replug": Replug.run(arguments)
    case "usbmon": USBMonitor.run(arguments)
    case "order": Order.run(arguments)
    case "chip": ChipModelServer.run(arguments)
    case "sessions": await Sessions.run(arguments)
    case "rounds": await Rounds.run(arguments)
    case "latency": Latency.run(arguments)
    case "image": FirmwareImage.run(arguments)
    case "bluetooth": await BluetoothEnds.run(arguments)
    case "accessory-times": await AccessoryTimes.run(arguments)
    case "controller": ControllerBridge.run(arguments)
    case "restored-app": await RestoredApp.run(arguments)
    case "sequence": RestoredApp.sequence(arguments)
    default:
      fail(
        "chips, tell, replug, usbmon, order, chip, sessions, rounds, latency, image, bluetooth, "
          + "accessory-times, controller, restored-app and sequence are its commands, not '\(command)'"
      )
    }
  }
}

/// Prints the reason and exits with 1.
func fail(_ text: String) -> Never {
  say("VirtualBench: \(text)", on: STDERR_FILENO)
  exit(1)
}

/// Writes a line without buffering.
func say(_ line: String, on descriptor: Int32 = STDOUT_FILENO) {
  let bytes = Array((line + "\n").utf8)
  _ = write(descriptor, bytes, bytes.count)
}

/// Removes an option and its value from the arguments.
func option(_ name: String, in arguments: inout [String]) -> String? {
  guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else { return nil }
  defer { arguments.removeSubrange(index...(index + 1)) }
  return arguments[index + 1]
}

/// CLOCK_MONOTONIC in nanoseconds.
func monotonic() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Returns the timeout of poll(2) until `time`; nil: no limit.
func milliseconds(until time: UInt64?, from now: UInt64) -> Int32 {
  time.map { $0 > now ? Int32(clamping: ($0 - now + 999_999) / 1_000_000) : 0 } ?? -1
}

/// The text of the last error.
var lastError: String { String(cString: strerror(errno)) }

/// Writes a text into a file in one write.
@discardableResult
func put(_ text: String, into path: String) -> Bool {
  let descriptor = open(path, O_WRONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return false }
  defer { close(descriptor) }
  return write(descriptor, text, text.utf8.count) == text.utf8.count
}

/// Returns the text of a small file.
func text(of path: String) -> String? {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: 65_536)
  let count = read(descriptor, &bytes, bytes.count)
  return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
}

/// Splits bytes into lines as they arrive.
struct LineBuffer {
  private var rest: [UInt8] = []

  /// Returns the whole lines that have arrived; nil at the end of the file.
  mutating func lines(from descriptor: Int32) -> [String]? {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    let count = read(descriptor, &buffer, buffer.count)
    if count < 0 { return errno == EAGAIN || errno == EINTR ? [] : nil }
    guard count > 0 else { return nil }
    rest += buffer[..<count]
    var lines: [String] = []
    while let end = rest.firstIndex(of: 0x0A) {
      lines.append(String(decoding: rest[..<end], as: UTF8.self))
      rest.removeFirst(end + 1)
    }
    return lines
  }
}
