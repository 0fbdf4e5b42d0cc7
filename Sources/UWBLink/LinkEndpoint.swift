// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// Where a chip is.
public enum LinkEndpoint: Sendable, Hashable {
  /// A serial device: a tty, a USB CDC port, a pseudo-terminal.
  case serial(path: FilePath, baud: UInt32 = 115_200, hardwareFlowControl: Bool = false)
  /// The serial port of the USB device with this serial number, whatever its path: looked for when
  /// the link is opened. `interface` tells apart several ports of one device; nil: it has only one.
  case usb(
    serial: String, interface: UInt8? = nil, baud: UInt32 = 115_200,
    hardwareFlowControl: Bool = false)
  /// A simulator or a serial server that carries bare UCI.
  case tcp(host: String, port: String)
  /// A descriptor that is open for reading and writing. The link takes it over and closes it.
  case descriptor(FileDescriptor)

  /// From text: `/dev/ttyACM0`, `/dev/ttyUSB0?baud=3000000&rtscts`, `usb:SERIAL`, `usb:SERIAL?if=2`
  /// (interface 2 of that device), `tcp:host:port`, `tcp:[::1]:port`.
  ///
  /// - Throws: `LinkError` with code `invalidEndpoint`.
  public init(_ text: String) throws(LinkError) {
    func invalid(_ why: String) -> LinkError {
      LinkError(.invalidEndpoint, endpoint: text, detail: why)
    }
    if text.hasPrefix("tcp:") {
      let rest = text.dropFirst(4)
      guard let colon = rest.lastIndex(of: ":") else { throw invalid("there is no port") }
      let port = rest[rest.index(after: colon)...]
      var host = rest[..<colon]
      if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
      guard !host.isEmpty else { throw invalid("there is no host") }
      guard let number = UInt16(port), number > 0 else {
        throw invalid("the port has to be a number from 1 to 65535")
      }
      self = .tcp(host: String(host), port: String(number))
      return
    }
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = parts.first, !path.isEmpty else { throw invalid("the path is empty") }
    let isUSB = path.hasPrefix("usb:")
    if isUSB, path.count == 4 { throw invalid("there is no serial number") }
    guard isUSB || path.contains("/") else {
      throw invalid("a serial device is named by its path, such as /dev/ttyACM0")
    }
    var interface: UInt8?
    var baud: UInt32 = 115_200
    var flowControl = false
    for option in parts.count > 1 ? parts[1].split(separator: "&") : [] {
      if option == "rtscts" {
        flowControl = true
      } else if option.hasPrefix("baud="), let value = UInt32(option.dropFirst(5)) {
        baud = value
      } else if isUSB, option.hasPrefix("if="), let value = UInt8(option.dropFirst(3)) {
        interface = value
      } else {
        throw invalid(
          "'\(option)' is not an option; baud=N and rtscts are" + (isUSB ? ", and if=N" : ""))
      }
    }
    if isUSB {
      self = .usb(
        serial: String(path.dropFirst(4)), interface: interface, baud: baud,
        hardwareFlowControl: flowControl)
      return
    }
    self = .serial(
      path: FilePath(String(path)), baud: baud, hardwareFlowControl: flowControl)
  }
}

extension LinkEndpoint: CustomStringConvertible {
  /// The form `init(_:)` reads; a descriptor is named by its number.
  public var description: String {
    switch self {
    case .serial(let path, _, _): path.string
    case .usb(let serial, let interface, _, _):
      "usb:\(serial)" + (interface.map { "?if=\($0)" } ?? "")
    case .tcp(let host, let port): "tcp:\(host.contains(":") ? "[\(host)]" : host):\(port)"
    case .descriptor(let descriptor): "descriptor \(descriptor.rawValue)"
    }
  }
}
