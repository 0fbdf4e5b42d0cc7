// SPDX-License-Identifier: Apache-2.0

package import UWBSite

/// A measurement in the history as its source has sent it, with the time of the run.
///
/// Values are stored in whole micrometres and microradians. Deviations are rounded up.
package struct HistoryMeasurement: Sendable, Hashable {
  /// The time in microseconds since 1970.
  package var time: Int64
  /// The line with a single quantity, and its time in seconds since 1970.
  package var line: RangeLine

  package init(time: Int64, _ line: RangeLine) {
    (self.time, self.line) = (time, line)
    self.line.time = Double(time) / 1e6
  }

  /// Returns a record for each quantity of a measurement; none without a usable time.
  static func records(_ measurement: SiteMeasurement, epoch: Double) -> [HistoryMeasurement] {
    guard let time = measurement.time.map({ ($0 + epoch) * 1e6 }), abs(time) < 1e17 else {
      return []
    }
    return measurement.line.quantities.map { quantity in
      var line = measurement.line
      line.quantities = [quantity]
      return HistoryMeasurement(time: Int64(time.rounded()), line)
    }
  }

  // MARK: columns

  static let columns = "time, tag, board, reference, kind, value, deviation, blocked"

  /// The code of the kind of quantity, and the value in millionths.
  var value: (kind: Int64, value: Int64) {
    func millionths(_ value: Double) -> Int64 {
      Int64(max(-1e15, min(1e15, (value * 1e6).rounded())))
    }
    return switch line.quantities[0] {
    case .distance(let metres): (0, millionths(metres))
    case .difference(let metres): (1, millionths(metres))
    case .azimuth(let radians): (2, millionths(radians))
    case .elevation(let radians): (3, millionths(radians))
    }
  }

  var deviation: Int64? {
    let own =
      switch line.quantities[0] {
      case .distance, .difference: line.deviation
      case .azimuth, .elevation: line.angleDeviation.map { $0 * .pi / 180 }
      }
    return own.map { Int64(max(1, min(1e15, ($0 * 1e6).rounded(.up)))) }
  }

  /// The probability of a blocked path in thousandths; nil for 0, which then takes no space.
  var blocked: Int64? { line.blocked > 0 ? Int64((line.blocked * 1000).rounded()) : nil }

  /// Reads the columns; nil for impossible values.
  init?(
    time: Int64, boards: (tag: String, anchor: String, reference: String?),
    kind: Int64, value: Int64, deviation: Int64?, blocked: Int64?
  ) {
    let number = Double(value) / 1e6
    let quantity: RangeLine.Quantity
    switch kind {
    case 0 where value >= 0: quantity = .distance(number)
    case 1 where boards.reference != nil: quantity = .difference(number)
    case 2: quantity = .azimuth(number)
    case 3: quantity = .elevation(number)
    default: return nil
    }
    if let deviation, deviation <= 0 { return nil }
    let own = deviation.map { Double($0) / 1e6 }
    var line = RangeLine(
      time: 0, tag: boards.tag, anchor: boards.anchor, reference: boards.reference, [quantity],
      blocked: min(max(Double(blocked ?? 0) / 1000, 0), 1))
    if kind < 2 { line.deviation = own } else { line.angleDeviation = own.map { $0 * 180 / .pi } }
    self.init(time: time, line)
  }
}

extension HistoryText {
  /// The first line of a table of measurements.
  package static let measurementColumns =
    "t,tag,anchor,anchor_a,anchor_b,distance_m,difference_m,azimuth_deg,elevation_deg,sd_m,"
    + "sd_deg,nlos_probability"

  /// Returns the measurement as a line that `uwbsite run` reads.
  package static func json(_ record: HistoryMeasurement) -> JSONValue {
    .object(
      cells(record).map { name, value in
        JSONMember(name, value)
      })
  }

  package static func csv(_ record: HistoryMeasurement) -> String {
    let cells = Dictionary(cells(record)) { one, _ in one }
    return measurementColumns.split(separator: ",").map { name in
      switch cells[String(name)] {
      case .string(let text)?: quoted(text)
      case let value?: value.description
      case nil: ""
      }
    }.joined(separator: ",")
  }

  private static func cells(_ record: HistoryMeasurement) -> [(String, JSONValue)] {
    let line = record.line
    var cells: [(String, JSONValue)] = [("t", .number(line.time)), ("tag", .string(line.tag))]
    if case .difference? = line.quantities.first {
      cells.append(("anchor_a", .string(line.reference ?? "")))
      cells.append(("anchor_b", .string(line.anchor)))
    } else {
      cells.append(("anchor", .string(line.anchor)))
    }
    switch line.quantities.first {
    case .distance(let metres)?: cells.append(("distance_m", .number(metres)))
    case .difference(let metres)?: cells.append(("difference_m", .number(metres)))
    case .azimuth(let radians)?: cells.append(("azimuth_deg", .number(radians * 180 / .pi)))
    case .elevation(let radians)?: cells.append(("elevation_deg", .number(radians * 180 / .pi)))
    case nil: break
    }
    if let deviation = line.deviation { cells.append(("sd_m", .number(deviation))) }
    if let deviation = line.angleDeviation { cells.append(("sd_deg", .number(deviation))) }
    if line.blocked > 0 { cells.append(("nlos_probability", .number(line.blocked))) }
    return cells
  }
}
