// SPDX-License-Identifier: Apache-2.0

import Formats
import Ranging

/// The quantity of a column. The suffix of the column's name is the unit; without a suffix, the
/// first unit here applies. Angles need a suffix, because numbers in radians and in degrees look
/// alike.
enum Quantity: CaseIterable {
  case time, length, angle, level, ratioOfLevels, ratio, ticks, number

  /// The suffixes, and the factor that converts each to seconds, metres, radians, parts or ticks.
  var units: [(suffix: String, factor: Double)] {
    switch self {
    case .time: [("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)]
    case .length: [("m", 1), ("cm", 0.01), ("mm", 0.001)]
    case .angle: [("rad", 1), ("deg", .pi / 180)]
    case .level: [("dbm", 1)]
    case .ratioOfLevels: [("db", 1)]
    case .ratio: [("ppm", 1e-6), ("ppb", 1e-9)]
    case .ticks:
      [
        ("ticks", 1), ("s", DeviceTick.perSecond), ("ms", DeviceTick.perSecond / 1e3),
        ("us", DeviceTick.perSecond / 1e6), ("ns", DeviceTick.perSecond / 1e9),
        ("ps", DeviceTick.perSecond / 1e12),
      ]
    case .number: []
    }
  }

  /// Returns the unit at the end of a column's name if it belongs to the same quantity as `other`.
  static func unit(of name: String, otherThan other: String) -> String? {
    allCases.lazy.map { $0.units.map(\.suffix) }.filter { $0.contains(other) }.joined().first {
      name.hasSuffix("_" + $0)
    }
  }

  /// The units of all quantities, without repetition.
  static let units = allCases.flatMap { $0.units.map(\.suffix) }.reduce(into: [String]()) {
    if !$0.contains($1) { $0.append($1) }
  }
  static let allUnits = Set(units)
}

struct Column {
  var index: Int
  /// The factor that converts a number to seconds, metres, radians or parts.
  var factor: Double
  var name: String
  /// Whether the cells may hold dates.
  var isTime = false
  /// Whether neither the name of the column nor an option states the unit of its angles.
  var lacksUnit = false
}

/// Finds columns by their quantity, and reads cells in their units.
struct TableReader {
  var table: CSVTable
  /// The warnings about columns whose name is similar to a wanted one, but ends with an unknown
  /// unit.
  private(set) var warnings: [String] = []
  private var peerColumn: Column?
  /// The columns of both ends of a pair, which are used in place of a peer.
  private var ends: (from: Column, to: Column)?
  /// Whether the peers are used as anchors.
  private(set) var hasPeersAsAnchors = false

  init(_ table: CSVTable) {
    self.table = table
    peerColumn = find("peer")
    if peerColumn == nil, let from = lookUp("from_id", .number), let to = lookUp("to_id", .number) {
      ends = (from, to)
    }
  }

  // MARK: columns

  /// Returns the column `name_UNIT` with any unit of the quantity, or one with another usual name.
  /// Ignores the case of letters. Returns nil if there is none.
  mutating func find(_ name: String, _ quantity: Quantity = .number) -> Column? {
    if let column = lookUp(name, quantity) { return column }
    if let other = unknownUnit(name, quantity) {
      warnings.append(
        "Line \(table.headerLine): ignoring \(other), which has an unknown unit; known are "
          + "\(accepted(name, quantity)).")
    }
    return nil
  }

  /// Returns a column of angles; nil if there is none.
  mutating func findAngle(_ name: String) throws(LabError) -> Column? {
    try find(name, .angle).map(withUnit)
  }

  /// Returns the column if it has a unit.
  ///
  /// - Throws: `LabError` if it has angles without a unit.
  func withUnit(_ column: Column) throws(LabError) -> Column {
    guard column.lacksUnit else { return column }
    let name = printable(column.name)
    throw .table(
      table.headerLine, "the column \(name) has angles, and no unit.",
      suggestion: "Give --unit \(name)=deg or --unit \(name)=rad, or call it \(name)_deg.")
  }

  func has(_ name: String, _ quantity: Quantity) -> Bool { lookUp(name, quantity) != nil }

  /// Returns a column that the computation requires.
  func require(_ name: String, _ quantity: Quantity = .number) throws(LabError) -> Column {
    if let column = lookUp(name, quantity) { return try withUnit(column) }
    if let other = unknownUnit(name, quantity) {
      throw .table(
        table.headerLine, "the unit of the column \(other) is unknown.",
        suggestion: "Use one of \(accepted(name, quantity)).")
    }
    // Degrees are suggested, because most tables have them.
    let unit = quantity == .angle ? "deg" : quantity.units.first?.suffix
    throw .missingColumn(
      quantity == .ticks ? name : name + (unit.map { "_" + $0 } ?? ""), of: table)
  }

  /// Returns the column of anchors. Without it, the peers are the anchors, and all rows belong to
  /// one device, as in the output of `uwbctl range`.
  mutating func takeAnchors() throws(LabError) -> Column {
    if let column = lookUp("anchor", .number) { return column }
    guard let peers = peerColumn else { return try require("anchor") }
    (peerColumn, hasPeersAsAnchors) = (nil, true)
    return peers
  }

  /// Returns the column of phases with this name, whose unit may be at the end of the name.
  func phaseColumn(_ name: String) throws(LabError) -> Column {
    guard let index = table.header.firstIndex(of: name) else {
      let unit = Quantity.angle.units.first { name.lowercased().hasSuffix("_" + $0.suffix) }
      guard let unit, let other = lookUp(String(name.dropLast(unit.suffix.count + 1)), .angle)
      else { throw .missingColumn(name, of: table) }
      return try withUnit(other)
    }
    let unit = Quantity.angle.units.first { table.names[index].hasSuffix("_" + $0.suffix) }
    return try withUnit(
      Column(index: index, factor: unit?.factor ?? 1, name: name, lacksUnit: unit == nil))
  }

  /// - Parameter name: the name, with or without a unit.
  func lookUp(_ name: String, _ quantity: Quantity) -> Column? {
    let name = name.lowercased()
    let ownUnit = quantity.units.first { name.hasSuffix("_" + $0.suffix) }
    for name in [name, Self.otherNames[name]].compactMap({ $0 }) {
      let names =
        quantity.units.map { ("\(name)_\($0.suffix)", $0.factor) }
        + [(name, (ownUnit ?? quantity.units.first)?.factor ?? 1)]
      for (candidate, factor) in names {
        guard let index = table.names.firstIndex(of: candidate) else { continue }
        return Column(
          index: index, factor: factor, name: table.header[index], isTime: quantity == .time,
          lacksUnit: quantity == .angle && candidate == name && ownUnit == nil)
      }
    }
    return nil
  }

  private static let otherNames = ["range": "distance", "time": "timestamp"]

  private func accepted(_ name: String, _ quantity: Quantity) -> String {
    quantity.units.map { "\(name)_\($0.suffix)" }.joined(separator: ", ")
  }

  /// Returns the name of a column that seems to be the wanted one in an unknown unit; nil for none.
  private func unknownUnit(_ name: String, _ quantity: Quantity) -> String? {
    guard !quantity.units.isEmpty else { return nil }
    return table.names.first { column in
      guard column.hasPrefix(name + "_") else { return false }
      let unit = column.dropFirst(name.count + 1)
      return (1...4).contains(unit.count) && unit.allSatisfy { $0.isLetter || $0 == "µ" }
    }
  }

  // MARK: ranges

  /// The columns of calibrated distances in the output of `uwbctl range` and `uwbctl replay`; nil
  /// without them.
  var corrected: CorrectedColumns? { CorrectedColumns(self) }

  /// Returns the column of ranges.
  ///
  /// - Parameters:
  ///   - name: the name without its unit in tables of other programs.
  ///   - calibration: a calibration that corrects the distance of the chip.
  func requireRange(
    _ name: String = "range", calibration: RangingCalibration?
  ) throws(LabError) -> Column {
    if calibration?.hasDistances != true, let corrected { return corrected.distance }
    return try require(name, .length)
  }

  /// Returns the columns of the constant errors of distances.
  ///
  /// - Parameter calibration: a calibration that corrects the distance of the chip.
  mutating func findConstants(_ calibration: RangingCalibration?) -> ConstantColumns? {
    if calibration?.hasDistances == true { return nil }
    let column = find("bias_sigma", .length)
    return corrected.map(ConstantColumns.corrected) ?? column.map(ConstantColumns.stated)
  }

  // MARK: cells

  /// Returns the number in a cell, in the unit of the quantity. Returns nil if there is none, and
  /// sets `status`.
  func value(_ row: Int, _ column: Column, _ status: inout RowStatus) -> Double? {
    if let number = value(row, column) { return number }
    status.blame(blank(row, column))
    return nil
  }

  /// Returns the number in a cell. The cell may be empty, and the column may be missing.
  func value(_ row: Int, _ column: Column?) -> Double? {
    guard let column else { return nil }
    guard let number = table.number(row, column.index) else {
      return column.isTime ? table.date(row, column.index) : nil
    }
    let value = number * column.factor
    // Larger numbers are not measurements, and their squares would lose precision.
    return abs(value) <= 1e12 ? value : nil
  }

  /// Returns the status of a row in which a required cell has no number.
  func blank(_ row: Int, _ column: Column) -> RowStatus {
    table.isEmpty(row, column.index) ? .missing(column.name) : .invalid(column.name)
  }

  /// Returns the standard deviation in a cell, without the part in the column `constant`. Returns
  /// `usual` if it is missing or not positive.
  func deviation(_ row: Int, _ column: Column?, constant: Column?, usual: Double) -> Double {
    guard let whole = value(row, column), whole > 0 else { return usual }
    guard let part = value(row, constant) else { return whole }
    // Both cells are rounded, so the difference is at least a centimetre.
    return min(whole, max(0.01, max(0, whole * whole - part * part).squareRoot()))
  }

  /// Returns the stamp in a cell. Ticks are an integer, which may be negative, or a number with a
  /// fraction. In other units, numbers too large for a precision of centimetres are rejected.
  func stamp(_ row: Int, _ column: Column, _ status: inout RowStatus) -> TickStamp? {
    if column.factor == 1, let ticks = table.integer(row, column.index) { return TickStamp(ticks) }
    if let ticks = table.number(row, column.index).map({ $0 * column.factor }),
      column.factor == 1 || abs(ticks) < 0x1p50, let stamp = TickStamp(exactly: ticks)
    {
      return stamp
    }
    status.blame(blank(row, column))
    return nil
  }

  func text(_ row: Int, _ column: Column) -> String { table.text(row, column.index) }

  /// Returns the peer of a row, or both ends if the table has columns for these. Returns an empty
  /// text if it has neither.
  func peer(_ row: Int) -> String {
    if let ends { return text(row, ends.from) + "-" + text(row, ends.to) }
    return peerColumn.map { text(row, $0) } ?? ""
  }

  // MARK: rows

  /// Returns the usable rows, in their order.
  ///
  /// - Throws: `LabError` if there are no rows, or none is usable.
  func rows<T>(_ body: (Int, inout RowStatus) -> T?) throws(LabError) -> LabRows<T> {
    var result = LabRows<T>(values: [], warnings: warnings)
    var problems = RowProblems()
    for row in 0..<table.rowCount {
      var status = RowStatus.ok
      if let value = body(row, &status), status.isOK { result.values.append(value) }
      problems.add(status, line: table.line(row))
    }
    if table.rowCount == 0 { throw .noRows(table) }
    result.warnings += try problems.warnings(for: table, of: table.rowCount)
    return result
  }
}

/// The contents of the usable rows of a table.
package struct LabRows<Value> {
  /// The value of each usable row.
  package internal(set) var values: [Value]
  /// Sentences about rows and columns that could not be used.
  package internal(set) var warnings: [String]
}

/// The columns with the standard deviation of a distance's constant error.
enum ConstantColumns {
  case corrected(CorrectedColumns)
  /// The column `bias_sigma_m`.
  case stated(Column)

  /// Returns the deviation in a row in metres; nil without a value.
  func value(_ row: Int, _ reader: TableReader) -> Double? {
    switch self {
    case .corrected(let columns): columns.constant(row, reader)
    case .stated(let column): reader.value(row, column).map(abs)
    }
  }
}

/// The columns of `uwbctl range` for the calibrated distance and its deviations. The output also
/// has the distance of the chip.
struct CorrectedColumns {
  let distance: Column
  /// The part of the deviation that is independent of other rows.
  let noise: Column
  private let whole: Column
  private let shortTerm: Column

  fileprivate init?(_ reader: TableReader) {
    guard reader.has("distance_cm", .length),
      let distance = reader.lookUp("computed_m", .length),
      let noise = reader.lookUp("computed_noise_m", .length),
      let whole = reader.lookUp("estimate_sd_m", .length),
      let shortTerm = reader.lookUp("estimate_short_sd_m", .length)
    else { return nil }
    (self.distance, self.noise, self.whole, self.shortTerm) = (distance, noise, whole, shortTerm)
  }

  /// Returns the deviation of the constant error in a row; nil without an estimate.
  func constant(_ row: Int, _ reader: TableReader) -> Double? {
    guard let all = reader.value(row, whole), let part = reader.value(row, shortTerm) else {
      return nil
    }
    return max(0, all * all - part * part).squareRoot()
  }
}
