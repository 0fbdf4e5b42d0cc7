// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB

/// `uwbctl monitor`: what goes over a link, decoded, as it goes.
struct Monitor: Command {
  static let configuration = CommandConfiguration(
    abstract: "Show what goes over a link, decoded, until interrupted.",
    discussion: """
      Only listens: the chip is not reset and nothing is sent, unless --reset. One program at a \
      time can have a port; to see what another program and a chip say to each other, let it talk \
      through this one:
        uwbctl monitor --device /dev/ttyACM0 --proxy --link /tmp/uwb
        vendors-script --port /tmp/uwb
      > is to the chip, < is from it; times are in seconds. Bytes that are no packets are not \
      passed on, only counted.
      """)

  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup var monitor: MonitorOptions
  @OptionGroup(title: "Filter") var filter: PacketFilter
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Option(help: "line, details, or json (one object a line).") var format = PacketStyle.line
  @Flag(help: "Show keys and initialisation vectors.") var showSecrets = false

  func execute() async throws {
    let target = try OpenTarget(options, capture)
    defer { target.finish() }
    let proxy = try monitor.terminal()
    defer { proxy?.close() }
    let profile = options.driverOptions.profile
    var monitoring = Monitoring(
      printer: PacketPrinter(
        format, filter: filter, vendor: profile?.vendor, showSecrets: showSecrets,
        start: PacketLink.now()),
      proxy: proxy, write: { standardOutput.write($0) })
    defer { standardError.write(monitoring.summary) }
    try await monitoring.run(
      target.endpoint, profile: profile, tap: target.tap, resets: monitor.reset,
      milliseconds: monitor.milliseconds)
  }
}
