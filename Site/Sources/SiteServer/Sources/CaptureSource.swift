// SPDX-License-Identifier: Apache-2.0

internal import UWB
internal import UWBSite

/// The measurements of a capture, as the driver estimates them, and messages of one-way ranging.
struct CapturedRanges: Recording {
  private var items: [SourceItem]
  private var index = 0

  /// Reads a capture of `uwbctl` that `board` has recorded.
  init(file path: String, board: String) throws(CaptureError) {
    let capture = try CaptureReader.read(file: path)
    items = capture.problems.map { .bad("\($0)") }
    var measured = capture.estimates().map { Self.item($0, board) }
    measured += capture.oneWayMeasurements().map { message in
      let line = OneWayLine(message, device: board)
      return (Double(message.receivedAt) / 1e9, line.map(SourceItem.message) ?? .failed)
    }
    // A capture may contain several boards in turn, so its times can go back.
    items += measured.enumerated().sorted {
      ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
    }.map(\.element.item)
  }

  mutating func next() -> SourceItem? {
    guard index < items.count else { return nil }
    defer { index += 1 }
    return items[index]
  }

  private static func item(
    _ estimate: EstimatedMeasurement, _ board: String
  ) -> (time: Double, item: SourceItem) {
    let time = Double(estimate.measurement.receivedAt) / 1e9
    guard let distance = estimate.distance else { return (time, .failed) }
    var fields: [String: RangeLine.Field] = [
      "t": .number(time), "device": .text(board), "peer": .text("\(estimate.peer)"),
      "distance_m": .number(max(0, distance)),
    ]
    if let noise = estimate.distanceNoise, noise > 0 { fields["sd_m"] = .number(noise) }
    if let blocked = estimate.nonLineOfSight { fields["nlos_probability"] = .number(blocked) }
    for (key, angle) in [("azimuth", estimate.azimuth), ("elevation", estimate.elevation)] {
      guard let angle else { continue }
      fields["computed_\(key)_deg"] = .number(angle.angle * 180 / .pi)
      fields["computed_\(key)_sd_deg"] = .number(angle.standardDeviation * 180 / .pi)
    }
    let result = estimate.measurement.result
    for (key, angle) in [("azimuth", result.azimuth), ("elevation", result.elevation)] {
      fields["\(key)_deg"] = .number(angle.degrees)
      fields["\(key)_fom"] = .number(Double(angle.figureOfMerit))
    }
    do throws(RangeLine.Problem) {
      guard let line = try RangeLine(device: nil, { fields[$0] }) else { return (time, .failed) }
      return (time, .measurement(line))
    } catch { return (time, .bad("a measurement of the capture: \(error)")) }
  }
}
