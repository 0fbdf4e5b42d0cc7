// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import UWB

struct CaptureCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "capture",
    abstract: "Record the packets on a link in a file (pcapng) until interrupted.",
    discussion: """
      Like monitor, which prints the packets: without --reset the chip is not reset and nothing is \
      sent; with --proxy another program talks to the chip through this one. Other commands record \
      their packets with --capture. Keys are recorded as zeros unless --include-secrets is given.
      """)

  @Argument(help: "The file; an existing one is overwritten.") var file: String
  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup var monitor: MonitorOptions
  @Flag(help: "Record keys in clear instead of as zeros.") var includeSecrets = false

  func execute() async throws {
    var capture = CaptureOptions()
    capture.capture = file
    capture.includeSecrets = includeSecrets
    let target = try OpenTarget(options, capture)
    defer { target.finish() }
    let proxy = try monitor.terminal()
    defer { proxy?.close() }
    let profile = options.driverOptions.profile
    var monitoring = Monitoring(
      printer: PacketPrinter(.line, vendor: profile?.vendor), proxy: proxy, write: { _ in })
    defer { standardError.write("\(printable(file)): \(monitoring.summary)") }
    try await monitoring.run(
      target.endpoint, profile: profile, tap: target.tap, resets: monitor.reset,
      limit: monitor.time.limit)
  }
}
