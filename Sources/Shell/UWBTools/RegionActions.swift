// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Dispatch
import Formats
import Glibc
package import Ranging
import System
import SystemPackage
package import UWB
import UWBLink

/// Runs commands and sets GPIO lines when peers enter, stay in and leave regions. Ranging never
/// waits for either.
package final class RegionActions: Sendable {
  private struct Line {
    var output: OutputLine
    /// The region; nil for the largest one.
    var region: String?
    /// The peers inside the region.
    var inside: Set<String> = []
    var hasFailed = false
  }

  private let options: RegionOptions
  private let largest: String?
  private let commands: CommandRunner
  private let lines: Locked<[Line]>
  /// The queue of the lines: setting a line on an I²C expander takes milliseconds.
  private let queue = DispatchQueue(label: "gpio lines")

  /// Requests the lines.
  ///
  /// - Throws: `LinkError`.
  package init(_ options: RegionOptions) throws {
    self.options = options
    largest = try options.rules?.regions.last?.name
    commands = CommandRunner(limit: options.commandTime.duration)
    lines = Locked(
      try options.gpio.map { line in
        Line(
          output: try OutputLine(line.line, isActiveLow: line.isActiveLow), region: line.region)
      })
    // Resets the lines even if a second signal ends the program at once.
    let outputs = lines.withLock { $0.map(\.output) }
    Ending.onExit { for output in outputs { output.close() } }
  }

  /// Sets the handler for the end of each command. The thread of the commands calls the handler.
  package func report(_ body: @escaping @Sendable (CommandRunner.Ended) -> Void) {
    commands.report(to: body)
  }

  /// Performs the actions for a change.
  ///
  /// - Parameter app: The app of an accessory. It identifies a phone, because addresses change.
  package func take(_ change: RegionChange, _ measurement: EstimatedMeasurement, app: String? = nil)
  {
    let peer = measurement.peer.description
    if change.kind != .dwelled { setLines(change, by: app ?? peer) }
    guard let (option, command) = options.command(for: change.kind) else { return }
    var values = [
      "UWB_EVENT": String(option.dropFirst("--on-".count)), "UWB_CAUSE": change.cause.rawValue,
      "UWB_REGION": change.region.name, "UWB_PEER": peer,
      "UWB_DISTANCE_M": fixed(change.estimate.distance, 3),
      "UWB_DEVIATION_M": fixed(change.estimate.standardDeviation, 3),
      "UWB_INSIDE_S": fixed(change.duration, 1),
    ]
    values["UWB_APP"] = app
    values["UWB_AZIMUTH_DEG"] = measurement.azimuthDegrees.map { fixed($0, 1) }
    values["UWB_ELEVATION_DEG"] = measurement.elevationDegrees.map { fixed($0, 1) }
    commands.run(
      .init(
        option: option, command: command, values: values, region: change.region.name,
        change: change.kind))
  }

  private func setLines(_ change: RegionChange, by peer: String) {
    queue.async { [self] in
      lines.withLock { lines in
        for index in lines.indices where (lines[index].region ?? largest) == change.region.name {
          if change.kind == .entered {
            lines[index].inside.insert(peer)
          } else {
            lines[index].inside.remove(peer)
          }
          let error = lines[index].output.set(!lines[index].inside.isEmpty)
          guard let error, !lines[index].hasFailed else { continue }
          lines[index].hasFailed = true
          note("A GPIO line cannot be set: \(error).", try: "Check with gpioinfo (package gpiod).")
        }
      }
    }
  }

  /// Releases the lines, which become inactive. Waits for the commands, at most for the time limit
  /// of a single command.
  package func finish() async {
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        lines.withLock { lines in
          for line in lines { line.output.close() }
        }
        continuation.resume()
      }
    }
    await commands.finish()
    Ending.onExit(nil)
  }
}

extension EstimatedMeasurement {
  /// The azimuth computed from phases, or else the azimuth reported by the chip.
  fileprivate var azimuthDegrees: Double? {
    azimuth.map { $0.angle * 180 / .pi } ?? measurement.result.azimuth.valid
  }
  fileprivate var elevationDegrees: Double? {
    elevation.map { $0.angle * 180 / .pi } ?? measurement.result.elevation.valid
  }
}

extension RegionChange {
  /// The description, such as `entered near (1.24 ± 0.06 m)`.
  package var text: String {
    let distance = "\(fixed(estimate.distance, deviation: estimate.standardDeviation)) m"
    let seconds = "\(fixed(duration, 1)) s"
    switch (kind, cause) {
    case (.entered, _): return "entered \(region.name) (\(distance))"
    case (.dwelled, _): return "has stayed in \(region.name) for \(seconds) (\(distance))"
    case (.left, .distance): return "left \(region.name) after \(seconds) (\(distance))"
    case (.left, .silence): return "left \(region.name) after \(seconds): nothing was measured"
    case (.left, .ended): return "left \(region.name) after \(seconds): ranging has ended"
    }
  }
}
