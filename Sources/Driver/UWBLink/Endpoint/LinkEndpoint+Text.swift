// SPDX-License-Identifier: Apache-2.0
internal import SystemPackage

extension LinkEndpoint {
  /// Creates an endpoint from the name of a device.
  ///
  /// | form | meaning |
  /// |---|---|
  /// | `/dev/ttyACM0`, `/dev/ttyUSB0?baud=3000000&rtscts` | a serial port; paths may be relative |
  /// | `usb:SERIAL`, `usb:SERIAL?if=2` | the port of the USB device with that number, interface 2 |
  /// | `spi:/dev/spidev0.0?chip=sr150&irq=GPIO24&ri=GPIO23&ce=GPIO18&fw=FILE` | NXP SR1xx on SPI |
  /// | `spi:/dev/spidev0.0?chip=sr250&irq=0:24&rst=0:18` | NXP SR2xx on SPI |
  /// | `spi:/dev/spidev0.0?chip=qm35&irq=…&rdy=…&rst=…&exton=…&wakeup=…` | Qorvo QM35 on SPI |
  /// | `sr1xx:/dev/srxxx?fw=FILE` | NXP's kernel driver |
  /// | `uci:/dev/uci0` | Qorvo's kernel driver |
  /// | `nxp-usb:/dev/ttyACM0`, `nxp-usb:/dev/ttyACM0?chip=sr150` | an NXP board on USB |
  /// | `tcp:host:port`, `tcp:[::1]:port` | a simulator or a serial server |
  /// | `uwbd:`, `uwbd:SOCKET?chip=NAME&linger=30` | a chip of the service that shares chips |
  ///
  /// A line is a name, or GPIO chip and offset (`gpiochip0:24`, `0:24`). `speed=` is the SPI clock
  /// in hertz. `start=keep` does not restart a running chip; `start=cycle` switches the chip off
  /// and on. `board=murata-2bp` selects the antenna wiring for an NXP chip (`NXPBoard`).
  ///
  /// - Throws: `LinkError` with code `invalidEndpoint`.
  public init(_ text: String) throws(LinkError) {
    var parts = try EndpointText(text)
    switch parts.scheme {
    case "tcp": self = try Self.tcp(text, parts)
    case "usb": self = try Self.usb(&parts)
    case "spi": self = .spi(try SPIEndpoint(&parts))
    case "sr1xx": self = .srxxx(try SRxxxEndpoint(&parts))
    case "uci":
      self = .qorvoCharacterDevice(
        path: FilePath(try parts.path("/dev/uci0")), start: try parts.word("start") ?? .keep)
    case "uwbd":
      self = .service(
        socket: parts.address.isEmpty ? Self.serviceSocket : FilePath(parts.address),
        chip: try parts.value("chip"), linger: try parts.linger())
    case "nxp-usb": self = .nxpBoard(try NXPBoardEndpoint(&parts))
    default:
      self = .serial(
        path: FilePath(try parts.path("/dev/ttyACM0")), baud: try parts.number("baud") ?? 115_200,
        hardwareFlowControl: try parts.flag("rtscts"))
    }
    if parts.scheme != "tcp" { try parts.finish() }
  }

  private static func tcp(
    _ text: String, _ parts: EndpointText
  ) throws(LinkError) -> LinkEndpoint {
    let rest = text.dropFirst(4)
    guard let colon = rest.lastIndex(of: ":") else { throw parts.invalid("there is no port") }
    let port = rest[rest.index(after: colon)...]
    var host = rest[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty else { throw parts.invalid("there is no host") }
    guard let number = UInt16(port), number > 0 else {
      throw parts.invalid("the port has to be a number from 1 to 65535")
    }
    return .tcp(host: String(host), port: String(number))
  }

  private static func usb(_ parts: inout EndpointText) throws(LinkError) -> LinkEndpoint {
    guard !parts.address.isEmpty else { throw parts.invalid("there is no serial number") }
    return .usb(
      serial: parts.address, interface: try parts.number("if"),
      baud: try parts.number("baud") ?? 115_200, hardwareFlowControl: try parts.flag("rtscts"))
  }
}

extension SPIEndpoint {
  init(_ parts: inout EndpointText) throws(LinkError) {
    let device = try parts.path("/dev/spidev0.0")
    guard let chip = try parts.word("chip", Chip.self) else {
      let chips = Chip.allCases.map(\.rawValue).joined(separator: ", ")
      throw parts.invalid("the chip is missing: chip=… with one of \(chips)")
    }
    var lines: [Line: String] = [:]
    for line in Line.allCases {
      guard let key = line.key(chip.family) else { continue }
      lines[line] = try parts.value(key)
      if lines[line] == nil, line.isNeeded(chip.family) {
        throw parts.invalid("the line \(key)=… is missing; \(chip.rawValue) needs it")
      }
    }
    self.init(
      device: FilePath(device), chip: chip, lines: lines, speed: try parts.number("speed"),
      start: try parts.word("start") ?? .keep,
      // Only a separate command writes flash.
      firmware: chip.family == .sr1xx ? try parts.value("fw").map { FilePath($0) } : nil,
      board: chip.family == .hsspi ? nil : try parts.value("board"))
  }
}

extension SRxxxEndpoint {
  init(_ parts: inout EndpointText) throws(LinkError) {
    self.init(
      path: FilePath(try parts.path("/dev/srxxx")), start: try parts.word("start") ?? .keep,
      firmware: try parts.value("fw").map { FilePath($0) }, board: try parts.value("board"))
  }
}

extension NXPBoardEndpoint {
  init(_ parts: inout EndpointText) throws(LinkError) {
    let path = try parts.path("/dev/ttyACM0")
    let chip = try parts.word("chip", SPIEndpoint.Chip.self) ?? .sr250
    guard chip.family != .hsspi else { throw parts.invalid("\(chip.rawValue) is not NXP's") }
    self.init(
      path: FilePath(path), baud: try parts.number("baud") ?? 3_000_000,
      start: try parts.word("start") ?? .cycle, startsInLoader: chip.family == .sr2xx,
      board: try parts.value("board"))
  }
}

extension LinkEndpoint: CustomStringConvertible {
  /// The name that `init(_:)` parses, without settings. A descriptor is named by its number.
  public var description: String {
    switch self {
    case .serial(let path, _, _): path.string
    case .usb(let serial, let interface, _, _):
      "usb:\(serial)" + (interface.map { "?if=\($0)" } ?? "")
    case .spi(let spi): "spi:\(spi.device)"
    case .srxxx(let device): "sr1xx:\(device.path)"
    case .qorvoCharacterDevice(let path, _): "uci:\(path)"
    case .nxpBoard(let board): "nxp-usb:\(board.path)"
    case .tcp(let host, let port): "tcp:\(host.contains(":") ? "[\(host)]" : host):\(port)"
    case .service(let socket, let chip, let linger): Self.serviceText(socket, chip, linger)
    case .descriptor(let descriptor): "descriptor \(descriptor.rawValue)"
    }
  }

  private static func serviceText(_ socket: FilePath, _ chip: String?, _ linger: Duration) -> String
  {
    let seconds = linger.components.seconds
    let options = [chip.map { "chip=\($0)" }, seconds > 0 ? "linger=\(seconds)" : nil]
      .compactMap(\.self)
    return "uwbd:\(socket)" + (options.isEmpty ? "" : "?" + options.joined(separator: "&"))
  }
}

extension LinkEndpoint {
  /// The schemes of names that are not paths, without their colons.
  package static let schemes = ["usb", "spi", "sr1xx", "uci", "nxp-usb", "tcp", "uwbd"]
}

/// The parsed text of a device's name: `scheme:address?key=value&flag`. A path has no scheme.
struct EndpointText {
  let text: String
  let scheme: String?
  /// The text between the scheme and the options.
  let address: String
  private var options: [(key: String, value: String?)]
  /// The keys requested so far, in order.
  private var known: [String] = []

  init(_ text: String) throws(LinkError) {
    self.text = text
    var rest = Substring(text)
    scheme = LinkEndpoint.schemes.first { rest.hasPrefix($0 + ":") }
    if let scheme { rest = rest.dropFirst(scheme.count + 1) }
    let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    address = parts.first.map(String.init) ?? ""
    options = []
    for option in parts.count > 1 ? parts[1].split(separator: "&") : [] {
      let sides = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let key = String(sides[0])
      guard !options.contains(where: { $0.key == key }) else {
        throw invalid("'\(key)' is given twice")
      }
      options.append((key, sides.count > 1 ? String(sides[1]) : nil))
    }
  }

  func invalid(_ why: String) -> LinkError {
    LinkError(.invalidEndpoint, endpoint: text, detail: why)
  }

  /// Removes an option with a value, and returns the value, or nil if the option is absent.
  mutating func value(_ key: String) throws(LinkError) -> String? {
    known.append(key + "=…")
    guard let index = options.firstIndex(where: { $0.key == key }) else { return nil }
    guard let value = options.remove(at: index).value, !value.isEmpty else {
      throw invalid("'\(key)' has no value")
    }
    return value
  }

  /// Removes a numeric option, and returns its number.
  mutating func number<N: FixedWidthInteger>(
    _ key: String, _ type: N.Type = N.self
  ) throws(LinkError) -> N? {
    guard let text = try value(key) else { return nil }
    guard let number = N(text) else {
      throw invalid("'\(key)' has to be a number from \(N.min) to \(N.max)")
    }
    return number
  }

  /// Removes an option whose value is one of several words.
  mutating func word<W: RawRepresentable & CaseIterable>(
    _ key: String, _ type: W.Type = W.self
  ) throws(LinkError) -> W? where W.RawValue == String {
    guard let text = try value(key) else { return nil }
    guard let word = W(rawValue: text) else {
      let words = W.allCases.map(\.rawValue).joined(separator: ", ")
      throw invalid("'\(key)' has to be one of \(words)")
    }
    return word
  }

  /// Removes an option without a value, and reports whether it was present.
  mutating func flag(_ key: String) throws(LinkError) -> Bool {
    known.append(key)
    guard let index = options.firstIndex(where: { $0.key == key }) else { return false }
    guard options.remove(at: index).value == nil else { throw invalid("'\(key)' has no value") }
    return true
  }

  /// Removes the option `linger`, the time for which sessions outlive their program.
  mutating func linger() throws(LinkError) -> Duration {
    guard let text = try value("linger") else { return .zero }
    guard let seconds = Int(text), 0...86_400 ~= seconds else {
      throw invalid("'linger' has to be a whole number of seconds from 0 to 86400, a day")
    }
    return .seconds(seconds)
  }

  /// Returns the address as a path, which may be relative.
  func path(_ example: String) throws(LinkError) -> String {
    guard !address.isEmpty else { throw invalid("the path is empty; an example is \(example)") }
    // A mistyped scheme must not become a file name.
    guard address.contains("/") || !address.contains(":") else {
      throw invalid(
        "the scheme is not one of \(LinkEndpoint.schemes.joined(separator: ", ")); for a file with a colon in "
          + "its name put ./ before it")
    }
    return address
  }

  /// Throws if an option remains that was not requested.
  func finish() throws(LinkError) {
    guard let first = options.first else { return }
    throw invalid(
      known.isEmpty
        ? "it takes no options"
        : "'\(first.key)' is not an option; \(known.joined(separator: ", ")) are")
  }
}
