// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Glibc
import SystemPackage
import UCI
import UWB
import UWBLink
import UWBSimulator
import UWBTools

struct Monitor: DeviceCommand {
  static let configuration = CommandConfiguration(
    abstract: "Decode the packets on a link until interrupted.",
    discussion: """
      Sends nothing to the chip, except with --reset. A port can be open in one program at a time; to \
      watch the packets between another program and a chip, connect the program through this one:
        uwbctl monitor --device /dev/ttyACM0 --proxy --link /tmp/uwb
        vendors-script --port /tmp/uwb
      > marks packets to the chip, < packets from it; times are in seconds. Bytes that do not form \
      packets are counted, but not forwarded.
      """)

  @OptionGroup(title: "Device") var device: DeviceOption
  @OptionGroup(title: "Device") var chip: ChipOptions
  @OptionGroup var monitor: MonitorOptions
  @OptionGroup(title: "Filter") var filter: PacketFilter
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Option(help: "Output format; json is one object a line.") var format =
    PacketStyle.line
  @Flag(help: "Show keys and initialisation vectors.") var showSecrets = false

  func execute() async throws {
    let printer = PacketPrinter(
      format, filter: filter, vendor: options.driverOptions.profile?.vendor,
      showSecrets: showSecrets, start: PacketLink.now())
    try await monitor.run(options, capture, printer) { standardOutput.write($0) }
  }
}

struct CaptureCommand: DeviceCommand {
  static let configuration = CommandConfiguration(
    commandName: "capture",
    abstract: "Record the packets on a link in a file (pcapng).",
    discussion: """
      Sends nothing to the chip, except with --reset; with --proxy another program uses the chip \
      through this one. To see the packets as well, use monitor --capture FILE; most commands record \
      their own packets with --capture. Keys are recorded as zeros without --include-secrets.
      """)

  @Argument(help: "The file, or - for standard output; an existing one is overwritten.")
  var file: String
  @OptionGroup(title: "Device") var device: DeviceOption
  @OptionGroup(title: "Device") var chip: ChipOptions
  @OptionGroup var monitor: MonitorOptions
  @Flag(help: "Record keys in clear instead of as zeros.") var includeSecrets = false

  func execute() async throws {
    Ending.endWithCapture()
    var capture = CaptureOptions()
    capture.capture = file
    capture.includeSecrets = includeSecrets
    let printer = PacketPrinter(.line, vendor: options.driverOptions.profile?.vendor)
    let name = file == "-" ? "standard output" : printable(file)
    try await monitor.run(options, capture, printer, about: "\(name): ") { _ in }
  }
}

/// The options that `monitor` and `capture` share.
struct MonitorOptions: ParsableArguments {
  @Option(name: [.customShort("n"), .long], help: "Stop after this many packets.")
  var count: Int?
  @Option(name: TimeLimit.name, help: TimeLimit.help) var duration: Seconds?

  @Flag(help: "Reset the chip first, and read its device information.")
  var reset = false

  @Flag(
    help: """
      Create a pseudo-terminal for another program, such as a vendor's script, forward packets in \
      both directions, and print its path.
      """)
  var proxy = false

  @Option(help: "With --proxy: create this symbolic link to the pseudo-terminal.")
  var link: String?

  func validate() throws {
    try TimeLimit.check(duration)
    if let count, count < 1 { throw ValidationError("--count takes 1 or more.") }
    if link != nil, !proxy { throw ValidationError("--link needs --proxy.") }
  }

  /// Monitors a device.
  ///
  /// - Parameters:
  ///   - title: The text before the summary on standard error.
  ///   - write: Prints a piece of output.
  func run(
    _ options: DeviceOptions, _ capture: CaptureOptions, _ printer: PacketPrinter,
    about title: String = "", write: @escaping (String) -> Void
  ) async throws {
    let target = try await OpenTarget(options.device, options.chip, capture)
    defer { target.finish() }
    let terminal = proxy ? try ProxyTerminal(link: link) : nil
    defer { terminal?.close() }
    if let terminal {
      note("Open this in the other program: \(link ?? terminal.path)")
    }
    var monitoring = Monitoring(printer: printer, proxy: terminal, write: write, count: count)
    defer {
      if monitoring.hasOpened { standardError.write(lines: title + monitoring.summary) }
    }
    try await monitoring.run(
      target.endpoint, profile: options.driverOptions.profile, tap: target.tap, resets: reset,
      limit: duration?.duration)
  }
}
