// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB

struct Monitor: Command {
  static let configuration = CommandConfiguration(
    abstract: "Decode the packets on a link until interrupted.",
    discussion: """
      Only listens: without --reset the chip is not reset and nothing is sent. A port can be open in \
      one program at a time; to watch another program and a chip, connect the program through this \
      one:
        uwbctl monitor --device /dev/ttyACM0 --proxy --link /tmp/uwb
        vendors-script --port /tmp/uwb
      > is to the chip, < is from it; times are in seconds. Bytes that do not form packets are counted, \
      but not passed on.
      """)

  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup var monitor: MonitorOptions
  @OptionGroup(title: "Filter") var filter: PacketFilter
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Option(help: "Output format: line, details, or json (one object a line).") var format =
    PacketStyle.line
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
      limit: monitor.time.limit)
  }
}
