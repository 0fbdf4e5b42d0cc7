// SPDX-License-Identifier: Apache-2.0

/// What a column measures. The unit is the end of its name; without one it is the first here.
enum Quantity {
  case time, length, angle, level, ratio, ticks, number

  /// Ends of names, and what a number is multiplied by.
  var units: [(suffix: String, factor: Double)] {
    switch self {
    case .time: [("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)]
    case .length: [("m", 1), ("cm", 0.01), ("mm", 0.001)]
    case .angle: [("rad", 1), ("deg", .pi / 180)]
    case .level: [("dbm", 1)]
    case .ratio: [("ppm", 1e-6), ("ppb", 1e-9)]
    case .ticks: [("ticks", 1)]
    case .number: []
    }
  }
}

/// A column that was asked for.
struct Column {
  var index: Int
  /// What a number is multiplied by to be in seconds, metres, radians or parts.
  var factor: Double
  var name: String
}

extension CSVTable {
  /// The column of that quantity, whose name is `name`, an underscore and a unit; nil when there is
  /// none. Case does not matter.
  func find(_ name: String, _ quantity: Quantity) -> Column? {
    if let column = lookUp(name, quantity) { return column }
    if let other = unknownUnit(name, quantity) {
      standardError.write(
        "uwbctl: Line \(headerLine): \(printable(other)) is not used: its unit is not known, "
          + "\(accepted(name, quantity).joined(separator: ", ")) are.\n")
    }
    return nil
  }

  private func lookUp(_ name: String, _ quantity: Quantity) -> Column? {
    for unit in quantity.units {
      if let column = column(named: "\(name)_\(unit.suffix)", unit.factor) { return column }
    }
    return column(named: name, quantity.units.first?.factor ?? 1)
  }

  private func accepted(_ name: String, _ quantity: Quantity) -> [String] {
    quantity.units.map { "\(name)_\($0.suffix)" }
  }

  /// A column that seems to be what is looked for, in a unit that is none.
  private func unknownUnit(_ name: String, _ quantity: Quantity) -> String? {
    guard !quantity.units.isEmpty else { return nil }
    let start = name.lowercased() + "_"
    return header.first { column in
      let lower = column.lowercased()
      return lower.hasPrefix(start)
        && (1...4).contains(lower.count - start.count)
        && lower.dropFirst(start.count).allSatisfy { $0.isLetter || $0 == "µ" }
    }
  }

  /// The same for a column without which nothing can be computed.
  func require(_ name: String, _ quantity: Quantity) throws(ComputeError) -> Column {
    guard let column = lookUp(name, quantity) else {
      if let other = unknownUnit(name, quantity) {
        throw .unknownUnit(
          line: headerLine, column: other, accepted: accepted(name, quantity))
      }
      let unit = quantity.units.first.map { "_" + $0.suffix } ?? ""
      throw .missingColumn(quantity == .ticks ? name : name + unit, has: header)
    }
    return column
  }

  private func column(named name: String, _ factor: Double) -> Column? {
    let wanted = name.lowercased()
    return header.firstIndex { $0.lowercased() == wanted }.map {
      Column(index: $0, factor: factor, name: header[$0])
    }
  }

  /// The number in a cell, in the unit of the quantity. nil when there is none; `status` then says
  /// which, unless it already says something.
  func value(_ row: Int, _ column: Column, _ status: inout RowStatus) -> Double? {
    if let number = number(row, column.index) { return number * column.factor }
    status.blame(column.name, isEmpty: isEmpty(row, column.index))
    return nil
  }

  /// The number in a cell that may be empty, or whose column may not exist.
  func value(_ row: Int, _ column: Column?) -> Double? {
    column.flatMap { column in number(row, column.index).map { $0 * column.factor } }
  }
}

/// What became of a row: one word for programs.
struct RowStatus {
  static let ok = RowStatus(word: "ok")
  var word: String
  var isOK: Bool { word == "ok" }

  /// Says that a cell is empty or no number. The first complaint counts.
  mutating func blame(_ column: String, isEmpty: Bool) {
    guard isOK else { return }
    let name = column.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }
    word = (isEmpty ? "missing_" : "invalid_") + String(name)
  }
}
