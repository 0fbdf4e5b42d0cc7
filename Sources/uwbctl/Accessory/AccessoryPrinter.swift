// SPDX-License-Identifier: Apache-2.0

import UWBLab
import AccessoryProtocol
import UCI
import UWB

/// Prints the events of an accessory and its apps.
struct AccessoryPrinter: Sendable {
  private let format: OutputFormat

  init(_ format: OutputFormat) { self.format = format }

  func print(listening endpoint: ChannelEndpoint) {
    switch format {
    case .text: standardOutput.write("listening at \(printable(endpoint.description))\n")
    case .json:
      var line = JSONLine()
      line.add("event", "listening")
      line.add("app", nil as String?)
      line.add("endpoint", endpoint.description)
      standardOutput.write(line.text + "\n")
    }
  }

  func print(_ event: Accessory.Event) {
    switch format {
    case .text: standardOutput.write(text(event) + "\n")
    case .json: standardOutput.write(json(event) + "\n")
    }
  }

  // MARK: text

  private func text(_ event: Accessory.Event) -> String {
    let app = printable(event.app.name)
    switch event {
    case .connected: return "\(app): connected"
    case .offered(_, let data):
      let role = data.uwb.role == .controller ? "controller" : "controlee"
      return "\(app): received the configuration of \(MACAddress(data.uwb.address)), \(role), "
        + "version \(data.uwb.version)"
    case .started(_, let id): return "\(app): ranging, session \(id)"
    case .measured(_, let measurement): return "\(app): " + text(measurement.result)
    case .stopped(_, let reason): return "\(app): stopped ranging: \(printable(reason.words))"
    case .refused(_, let error):
      return "\(app): refused: \(printable(error.description))"
        + (error.recoverySuggestion.map { "\n  try: \(printable($0))" } ?? "")
    case .ignored(_, let error): return "\(app): ignored: \(printable(error.description))"
    case .disconnected(_, let error):
      return "\(app): disconnected" + (error.map { ": \(printable($0.description))" } ?? "")
    }
  }

  private func text(_ result: TwoWayMeasurement) -> String {
    guard let centimetres = result.distanceCentimetres else { return "\(result.status)" }
    var line = "\(fixed(Double(centimetres) / 100, 2)) m"
    if let azimuth = result.azimuth.valid { line += "  az \(fixed(azimuth, 1))°" }
    if let elevation = result.elevation.valid { line += "  el \(fixed(elevation, 1))°" }
    return line
  }

  // MARK: JSON

  private func json(_ event: Accessory.Event) -> String {
    var line = JSONLine()
    line.add("event", event.word)
    line.add("app", event.app.name)
    switch event {
    case .connected: break
    case .offered(_, let data):
      line.add("address", MACAddress(data.uwb.address).description)
      line.add("role", data.uwb.role == .controller ? "controller" : "controlee")
      line.add("version", "\(data.uwb.version)")
    case .started(_, let id): line.add("session_id", id)
    case .measured(_, let measurement):
      let result = measurement.result
      line.add("status", result.status.description)
      line.add("distance_cm", result.distanceCentimetres)
      line.add("azimuth_deg", result.azimuth.valid, digits: 2)
      line.add("elevation_deg", result.elevation.valid, digits: 2)
    case .stopped(_, let reason): line.add("cause", reason.words)
    case .refused(_, let error):
      line.add("cause", error.description)
      line.add("next_step", error.recoverySuggestion)
    case .ignored(_, let error): line.add("cause", error.description)
    case .disconnected(_, let error): line.add("cause", error?.description)
    }
    return line.text
  }
}

extension Angle {
  /// Degrees; nil where the chip marks the angle as invalid.
  fileprivate var valid: Double? { figureOfMerit > 0 ? degrees : nil }
}

extension Accessory.Event {
  fileprivate var app: Accessory.App {
    switch self {
    case .connected(let app), .offered(let app, _), .started(let app, _), .measured(let app, _),
      .stopped(let app, _), .refused(let app, _), .ignored(let app, _), .disconnected(let app, _):
      app
    }
  }

  /// For programs; never changes.
  fileprivate var word: String {
    switch self {
    case .connected: "connected"
    case .offered: "offered"
    case .started: "started"
    case .measured: "measured"
    case .stopped: "stopped"
    case .refused: "refused"
    case .ignored: "ignored"
    case .disconnected: "disconnected"
    }
  }
}

extension Accessory.StopReason {
  fileprivate var words: String {
    switch self {
    case .byApp: "the app stopped it"
    case .replaced: "the app started a new session"
    case .inactivity: "nothing was measured for a while"
    case .byChip(let error): error.description
    case .closed: "the accessory is shutting down"
    }
  }
}
