// SPDX-License-Identifier: Apache-2.0

import Accessory
import AccessoryProtocol
import Channels
import ArgumentParser
import CommandSupport
import Formats
import Ranging
import Synchronization
import UCI
import UWB
import UWBLink
import UWBTools

/// Prints the events of an accessory and its apps. On a terminal, each app has an updated line with
/// its last measurement.
final class AccessoryPrinter: Sendable {
  private struct Row {
    var app: Accessory.App
    var text: String
    var hasFailed: Bool
    var trend = Trend()
    /// CLOCK_MONOTONIC in nanoseconds; nil before the first measurement.
    var measuredAt: UInt64?
  }

  private struct State {
    /// The apps that range, in the order in which they began.
    var rows: [Row] = []
    var apps: Set<Accessory.App> = []
    var measured = 0
    var failed = 0
    var live: LiveLines?
  }

  private let format: OutputFormat
  private let state = Mutex(State())

  /// - Parameter live: Whether measurements have updated lines, where the terminal can.
  init(_ format: OutputFormat, live isLive: Bool) {
    self.format = format
    guard isLive, format == .text, standardOutput.canRedraw else { return }
    let live = LiveLines { [weak self] in self?.lines($0) ?? [] }
    state.withLock { $0.live = live }
  }

  private func lines(_ size: Output.Size) -> [String] {
    let (now, rows) = (PacketLink.now(), state.withLock { $0.rows })
    return rows.prefix(max(1, size.rows - 2)).map { row in
      let age = row.measuredAt.map { Double(now &- min($0, now)) / 1e9 }
      let isSilent = (age ?? 0) >= 2
      let note = isSilent ? "silent \(Int(age ?? 0)) s" : ""
      let trend = row.trend.text(columns: 16, until: now, isUTF8: Output.isUTF8)
      return standardOutput.styled(
        "\(printable(row.app.name))  \(row.text)", row.hasFailed ? .bad : nil)
        + "  \(trend)  " + standardOutput.styled(note, .warning)
    }
  }

  /// Updates the line of an app.
  ///
  /// - Returns: Whether the event needs no line of its own.
  private func update(_ event: Accessory.Event) -> Bool {
    let live = state.withLock { state -> LiveLines? in
      switch event {
      case .measured(let app, let measurement):
        let result = measurement.result
        let index = state.rows.firstIndex { $0.app == app } ?? state.rows.count
        if index == state.rows.count {
          state.rows.append(Row(app: app, text: "", hasFailed: false))
        }
        state.rows[index].text = Self.text(result)
        state.rows[index].hasFailed = !result.status.isSuccess
        guard let centimetres = result.distanceCentimetres else {
          state.failed += 1
          return state.live
        }
        state.measured += 1
        state.rows[index].measuredAt = measurement.receivedAt
        state.rows[index].trend.add(Double(centimetres) / 100, at: measurement.receivedAt)
        return state.live
      case .connected(let app): state.apps.insert(app)
      case .stopped(let app, _), .disconnected(let app, _): state.rows.removeAll { $0.app == app }
      default: break
      }
      return nil
    }
    live?.draw()
    return live != nil
  }

  /// Ends the updated lines, and prints the summary on standard error.
  func finish() {
    let (live, apps, measured, failed) = state.withLock {
      ($0.live, $0.apps.count, $0.measured, $0.failed)
    }
    live?.finish()
    guard format == .text else { return }
    standardError.write(
      lines: "\(counted(apps, "app")), \(measured) measured, \(failed) failed\n")
  }

  /// Writes a line above the updated ones.
  private func write(_ line: String, to stream: Output = standardOutput) {
    guard let live = state.withLock({ $0.live }) else { return stream.write(line) }
    let lines = line.split(separator: "\n").map { stream.wrapped(String($0), indent: 2) + "\n" }
    live.write(lines.joined(), to: stream)
  }

  func print(listening listener: SocketListener) {
    let (endpoint, isOpen) = (listener.endpoint.description, listener.isOnAllInterfaces)
    let line: JSONLine = [
      "event": "listening", "app": nil, "endpoint": endpoint, "all_interfaces": isOpen,
    ]
    write(
      format == .json ? line.json + "\n" : "listening at \(printable(endpoint))\n")
    guard isOpen else { return }
    write(
      """
      Everyone in every network of this machine can connect and range, without authentication.
        try: tcp:PORT for this machine only, tcp:ADDRESS:PORT for one network, unix:/PATH for one user

      """, to: standardError)
  }

  func print(_ event: BluetoothPeripheral.Event) {
    switch event {
    case .advertising(let adapter):
      print(
        ["event": "listening", "app": nil, "endpoint": "ble:\(adapter)"],
        "listening at ble:\(adapter)")
    case .servesOnePhone:
      write(
        message(
          "This BlueZ sends each notification to every phone, so one phone is served at a time.",
          try: "Use BlueZ 5.76 or later: bluetoothd --version."), to: standardError)
    case .refused(let phone):
      let cause = "Another phone is being served."
      print(
        ["event": "refused", "app": phone, "cause": cause], "\(printable(phone)): refused: \(cause)"
      )
    case .lost:
      let cause = "bluetoothd has stopped, or its adapter was removed."
      print(["event": "lost", "app": nil, "cause": cause], cause + " Waiting for it to come back.")
    case .failed(let error):
      print(
        [
          "event": "failed", "app": nil, "cause": error.description,
          "next_step": error.recoverySuggestion,
        ], printable(error.description) + (error.recoverySuggestion.map { "\n  try: \($0)" } ?? ""))
    }
  }

  private func print(_ line: JSONLine, _ text: String) {
    write((format == .json ? line.json : text) + "\n")
  }

  func print(_ event: Accessory.Event) {
    if update(event) { return }
    let (app, word, text, values) = Self.described(event)
    var line: JSONLine = ["event": word, "app": app.name]
    for (key, value) in values { line.add(key, value) }
    write((format == .json ? line.json : "\(printable(app.name)): \(text ?? word)") + "\n")
  }

  /// Prints the end of a command. Text is printed for failed commands only.
  func print(_ ended: CommandRunner.Ended) {
    if format == .json {
      let line: JSONLine = [
        "event": "command", "app": ended.job.values["UWB_APP"], "option": ended.job.option,
        "region": ended.job.region, "change": ended.job.change.rawValue,
        "exit_status": ended.outcome.status, "cause": ended.complaint,
      ]
      return write(line.json + "\n")
    }
    if let complaint = ended.complaint { write(complaint + "\n") }
  }

  static let json = JSONEntry(
    "accessory", each: "event",
    [
      "event":
        "listening, connected, offered, started, measured, region, command, stopped, waiting, refused, ignored, disconnected, lost, failed",
      "app": "app concerned", "endpoint?": "address of the socket, or ble: and the adapter",
      "all_interfaces?": "whether everyone in all networks of this machine can connect",
      "address?": "address of the accessory", "role?": "controller or controlee",
      "version?": "version of the configuration data, or of the protocol of an Android phone",
      "session_id?": "session id",
      "status?": "status name of the measurement", "distance_cm?": "centimetres",
      "azimuth_deg?": "degrees", "elevation_deg?": "degrees", "cause?": "cause in words",
      "next_step?": "the next step", "region?": "region that the phone entered, stayed in or left",
      "change?": "entered, dwelled or left",
      "distance_m?": "smoothed distance, metres; the last one for a phone that is silent",
      "distance_sd_m?": "its standard deviation with the error of uncalibrated boards, metres",
      "inside_s?": "seconds since the phone entered",
      "option?": "option of the command that has ended",
      "exit_status?": "its exit status, 128 and the signal that ended it; null: it was not run",
    ])

  /// Returns the app, the stable name of the event for programs, the text if it differs from the
  /// name, and the values.
  private static func described(
    _ event: Accessory.Event
  ) -> (
    app: Accessory.App, word: String, text: String?,
    values: KeyValuePairs<String, (any JSONValue)?>
  ) {
    switch event {
    case .connected(let app): return (app, "connected", nil, [:])
    case .offered(let app, let data):
      let (text, values) = described(data)
      return (app, "offered", text, values)
    case .offeredCapabilities(let app, let version, let address):
      return (
        app, "offered", "received the capabilities of \(address), Android, version \(version)",
        ["address": address.description, "version": "\(version)"]
      )
    case .started(let app, let id):
      return (app, "started", "ranging, session \(id)", ["session_id": id])
    case .measured(let app, let measurement):
      let result = measurement.result
      return (
        app, "measured", text(result),
        [
          "status": result.status.description, "distance_cm": result.distanceCentimetres,
          "azimuth_deg": Fixed(result.azimuth.valid, 2),
          "elevation_deg": Fixed(result.elevation.valid, 2),
        ]
      )
    case .regionChanged(let app, let change, _):
      return (
        app, "region", change.text,
        [
          "region": change.region.name, "change": change.kind.rawValue,
          "cause": change.cause.rawValue, "distance_m": Fixed(change.estimate.distance, 3),
          "distance_sd_m": Fixed(change.estimate.standardDeviation, 3),
          "inside_s": Fixed(change.duration, 1),
        ]
      )
    case .stopped(let app, let reason):
      let words = reason.description
      return (app, "stopped", "stopped ranging: \(printable(words))", ["cause": words])
    case .waiting(let app, let error):
      let cause = error.description
      return (app, "waiting", "waiting for the device: \(printable(cause))", ["cause": cause])
    case .refused(let app, let error):
      let (cause, next) = (error.description, error.recoverySuggestion)
      let text =
        "refused: \(printable(cause))" + (next.map { "\n  try: \(printable($0))" } ?? "")
      return (app, "refused", text, ["cause": cause, "next_step": next])
    case .ignored(let app, let error):
      let cause = error.description
      return (app, "ignored", "ignored: \(printable(cause))", ["cause": cause])
    case .disconnected(let app, let error):
      let cause = error?.description
      return (
        app, "disconnected", cause.map { "disconnected: \(printable($0))" }, ["cause": cause]
      )
    }
  }

  private static func described(
    _ data: AccessoryConfigurationData
  ) -> (text: String, values: KeyValuePairs<String, (any JSONValue)?>) {
    let role = data.uwb.role == .controller ? "controller" : "controlee"
    let address = MACAddress(data.uwb.address).description
    return (
      "received the configuration of \(address), \(role), version \(data.uwb.version)",
      ["address": address, "role": role, "version": "\(data.uwb.version)"]
    )
  }

  private static func text(_ result: TwoWayMeasurement) -> String {
    guard let centimetres = result.distanceCentimetres else { return "\(result.status)" }
    var line = "\(fixed(Double(centimetres) / 100, 2)) m"
    if let azimuth = result.azimuth.valid { line += "  az \(fixed(azimuth, 1))°" }
    if let elevation = result.elevation.valid { line += "  el \(fixed(elevation, 1))°" }
    return line
  }
}
