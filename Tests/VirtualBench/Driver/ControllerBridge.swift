// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `VirtualBench controller PORT`: a Bluetooth controller that is simulated outside of the machine.
/// Copies its packets between a port of the machine and the kernel, until the other end closes.
enum ControllerBridge {
  static func run(_ arguments: [String]) {
    guard arguments.count == 1 else { fail("controller PORT") }
    let port = open(arguments[0], O_RDWR | O_CLOEXEC)
    guard port >= 0 else { fail("\(arguments[0]): \(lastError)") }
    let kernel = open("/dev/vhci", O_RDWR | O_CLOEXEC)
    guard kernel >= 0 else { fail("/dev/vhci: \(lastError)") }
    // The first write creates the controller at once. Without it, a second passes.
    write([0xFF, 0x00], to: kernel)
    var incoming: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      var entries = [port, kernel].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&entries, 2, -1) >= 0 else { continue }
      if entries[0].revents != 0 {
        let count = read(port, &buffer, buffer.count)
        guard count > 0 else { return }
        incoming += buffer[..<count]
        // Each write to the kernel is one packet.
        while let length = packetLength(incoming), incoming.count >= length {
          write(Array(incoming[..<length]), to: kernel)
          incoming.removeFirst(length)
        }
      }
      if entries[1].revents != 0 {
        let count = read(kernel, &buffer, buffer.count)
        guard count > 0 else { return }
        // The kernel answers the first write with the controller's number, which is not a packet.
        if buffer[0] != 0xFF { write(Array(buffer[..<count]), to: port) }
      }
    }
  }

  /// The length of the first packet, with the octet for its kind; nil: too few octets have arrived.
  private static func packetLength(_ bytes: [UInt8]) -> Int? {
    guard let kind = bytes.first else { return nil }
    // The position of the length, and its number of octets.
    let (index, size): (Int, Int) =
      switch kind {
      case 1: (3, 1)
      case 2: (3, 2)
      case 3: (3, 1)
      case 4: (2, 1)
      case 5: (3, 2)
      default: fail("there are no packets of kind \(kind)")
      }
    guard bytes.count >= index + size else { return nil }
    let low = Int(bytes[index])
    let length = size == 1 ? low : low | Int(bytes[index + 1] & (kind == 5 ? 0x3F : 0xFF)) << 8
    return index + size + length
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress!, $0.count) }
      if count < 0 {
        guard errno == EINTR || errno == EAGAIN else { fail("a packet is lost: \(lastError)") }
        continue
      }
      rest = rest.dropFirst(count)
    }
  }
}
