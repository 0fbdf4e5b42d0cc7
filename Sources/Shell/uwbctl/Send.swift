// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import UCI
import UCIReference
import UWB
import UWBTools

struct Send: DeviceCommand {
  static let configuration = CommandConfiguration(
    abstract: "Send packets in hexadecimal, and show the answers.",
    discussion: """
      For example:
        uwbctl send --device /dev/ttyACM0 20 02 00 00
        uwbctl send --device /dev/ttyACM0 21050000 --wait 5
      Each argument is one packet or several in a row, unless all are single bytes. With --command \
      1:3 they are the payload of the command with that group and opcode, which is split into packets. The response of \
      each command is awaited before the next one is sent. The chip is only reset with --reset; NXP's \
      chips do not answer before NXP_CORE_DEVICE_INIT (2E 00 00 02 00 00).
      """)

  @Argument(help: "Packets with their headers.") var hex: [String]
  @OptionGroup(title: "Device") var device: DeviceOption
  @OptionGroup(title: "Device") var chip: ChipOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Option(help: "The arguments are the payload of this command: GID:OID, such as 1:3.")
  var command: String?
  @Option(help: "Payload bytes in one packet of --command.") var segment = 255
  @Option(help: "How many seconds to listen after the last response.") var wait = Seconds(0.3)
  @Option(help: "How many seconds to wait for each response.") var timeout = Seconds(2)
  @Option(help: "Output format; json is one object a line.") var format =
    PacketStyle.details
  @Flag(help: "Reset the chip first, which ends its sessions.") var reset = false
  @Flag(help: "Send packets even if they are invalid.") var force = false
  @Flag(help: "Show keys and initialisation vectors.") var showSecrets = false

  func validate() throws {
    _ = try SendPlan.packets(hex, command: command, segment: segment)
  }

  func execute() async throws {
    let profile = options.driverOptions.profile
    let plan = SendPlan(
      try SendPlan.packets(hex, command: command, segment: segment),
      dialect: Dialect(vendor: profile?.vendor ?? .unknown))
    if !plan.problems.isEmpty {
      for problem in plan.problems { note(problem) }
      guard force else {
        throw Failure(.usage, try: "Correct the packets, or send them anyway with --force.")
      }
    }
    let target = try await OpenTarget(options.device, options.chip, capture)
    defer { target.finish() }
    let link = try await PacketLink(target.endpoint, record: target.tap)
    try await link.use { try await send(plan, over: link, profile) }
  }

  private func send(
    _ plan: SendPlan, over link: PacketLink, _ profile: DeviceProfile?
  ) async throws {
    if let profile { link.adopt(profile) }
    var printer = PacketPrinter(
      format, vendor: profile?.vendor, showSecrets: showSecrets, start: PacketLink.now())
    func show(_ packet: WirePacket) { standardOutput.write(printer.text(packet)) }
    func listen(_ time: Duration) async throws {
      try await link.receive(for: time) {
        show($0)
        return false
      }
    }
    let timeout = timeout.duration
    func resetChip() async throws {
      if try await !link.reset(timeout: timeout, seen: show) {
        note("The chip did not report READY after its reset.")
      }
    }
    /// Sends all messages. Returns the number of unanswered commands, and whether the chip answered
    /// only with errors.
    func sendAll() async throws -> (silent: Int, hasFailed: Bool) {
      var silent = 0
      var hasFailed = false
      for message in plan.messages {
        guard message[0][0] >> 5 == MessageType.command.rawValue else {
          for packet in message { try await link.send(packet) }
          continue
        }
        let answer = try await link.ask(message, timeout: timeout) { packet in
          show(packet)
          if packet.deviceState == .error { hasFailed = true }
        }
        if answer == nil { silent += 1 }
      }
      return (silent, hasFailed)
    }
    // Packets that already wait are not responses.
    try await listen(.milliseconds(30))
    let skipped = link.statistics?.bytesSkipped ?? 0
    if reset { try await resetChip() }
    var (silent, hasFailed) = try await sendAll()
    if silent > 0, hasFailed, !reset {
      try await Prompt.confirmReset()
      try await resetChip()
      (silent, hasFailed) = try await sendAll()
    }
    try await listen(wait.duration)
    guard silent > 0 else { return }
    let noise = (link.statistics?.bytesSkipped ?? 0) - skipped
    throw Failure(
      noise > 0 ? .protocolError : .silent,
      "\(silent) of \(counted(plan.messages.count, "command was", "commands were")) not answered "
        + "within "
        + "\(fixed(timeout / .seconds(1), 1)) s"
        + (noise > 0
          ? "; \(counted(noise, "byte came that is", "bytes came that are")) not UCI." : "."),
      try: "uwbctl doctor \(options.device)")
  }
}
