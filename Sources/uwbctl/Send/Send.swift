// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import UCI
import UWB

/// `uwbctl send`: packets as they are, and what the chip says to them.
struct Send: Command {
  static let configuration = CommandConfiguration(
    abstract: "Send packets given in hexadecimal, and show what the chip answers.",
    discussion: """
      For example:
        uwbctl send --device /dev/ttyACM0 20 02 00 00
        uwbctl send --device /dev/ttyACM0 21050000 --wait 5
      Each argument is one packet or several in a row, unless all are single bytes. With --payload \
      they are the payload of one command, which is cut into packets: --command 0x21:0x03. After \
      each command its response is waited for. The chip is not reset unless --reset; NXP's chips \
      answer nothing before NXP_CORE_DEVICE_INIT (2E 00 00 02 00 00).
      """)

  @Argument(help: "Packets, header included.") var hex: [String]
  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Option(help: "The arguments are the payload of this command: GID:OID, such as 1:3.")
  var command: String?
  @Option(help: "Bytes of payload in one packet of --command.") var segment = 255
  @Option(help: "Show what comes for so many seconds after the last response.") var wait = 0.3
  @Option(help: "Seconds to wait for each response.") var timeout = 2.0
  @Option(help: "line, details, or json (one object a line).") var format = PacketStyle.details
  @Flag(help: "Reset the chip first; sessions on it end.") var reset = false
  @Flag(help: "Send what makes no sense, too.") var force = false
  @Flag(help: "Show keys and initialisation vectors.") var showSecrets = false

  func validate() throws {
    guard (0...1e6).contains(wait), (0...1e6).contains(timeout) else {
      throw ValidationError("--wait and --timeout take seconds, 0 or more.")
    }
    guard (1...255).contains(segment) else { throw ValidationError("--segment takes 1 to 255.") }
    _ = try frames()
  }

  /// What the arguments say.
  func frames() throws -> [[UInt8]] {
    do {
      guard let command else {
        return try FrameText.lines(arguments: hex).flatMap { try FrameText.frames($0) }
      }
      let numbers = command.split(separator: ":").compactMap { Self.number($0) }
      guard numbers.count == 2, numbers[0] < 16, numbers[1] < 64 else {
        throw ValidationError("--command takes GID:OID, such as 1:3 or 0x1:0x03.")
      }
      return Segmentation.packets(
        type: .command, opcode: Opcode(GroupID(rawValue: numbers[0]), numbers[1]),
        payload: try FrameText.bytes(hex.joined(separator: " ")), limit: segment)
    } catch let error as FrameTextError {
      throw ValidationError("\(error)")
    }
  }

  private static func number(_ text: Substring) -> UInt8? {
    text.lowercased().hasPrefix("0x") ? UInt8(text.dropFirst(2), radix: 16) : UInt8(text)
  }

  func execute() async throws {
    let profile = options.driverOptions.profile
    let plan = SendPlan(try frames(), dialect: Dialect(vendor: profile?.vendor ?? .unknown))
    if !plan.problems.isEmpty {
      for problem in plan.problems { standardError.write("uwbctl: \(printable("\(problem)"))\n") }
      guard force else {
        standardError.write("  try: Correct it, or send it nevertheless with --force.\n")
        throw ExitCode(ExitStatus.usage.rawValue)
      }
    }
    let target = try OpenTarget(options, capture)
    defer { target.finish() }
    let link = try PacketLink(target.endpoint, record: target.tap)
    defer { link.close() }
    if let profile { link.adopt(profile) }
    var printer = PacketPrinter(
      format, vendor: profile?.vendor, showSecrets: showSecrets, start: PacketLink.now())
    func show(_ packet: WirePacket) { standardOutput.write(printer.text(packet)) }
    // What has been waiting is no answer to anything.
    try await link.take(milliseconds: 30) {
      show($0); return false
    }
    if reset {
      _ = try await link.ask(
        Segmentation.packets(DeviceReset()), milliseconds: Int(timeout * 1_000), seen: show)
      try await link.take(milliseconds: 200) {
        show($0); return false
      }
    }
    var silent = 0
    for message in plan.messages {
      guard message[0][0] >> 5 == MessageType.command.rawValue else {
        for packet in message { try link.send(packet) }
        continue
      }
      if try await link.ask(message, milliseconds: Int(timeout * 1_000), seen: show) == nil {
        silent += 1
      }
    }
    try await link.take(milliseconds: Int(wait * 1_000)) {
      show($0); return false
    }
    guard silent > 0 else { return }
    standardError.write(
      "uwbctl: \(silent) of \(plan.messages.count) commands were not answered within "
        + "\(fixed(timeout, 1)) s.\n  try: uwbctl doctor \(printable(options.device))\n")
    throw ExitCode(ExitStatus.silent.rawValue)
  }
}
