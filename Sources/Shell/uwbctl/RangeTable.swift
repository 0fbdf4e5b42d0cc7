// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Formats
import Ranging
import UCI
import UWB
import UWBTools

/// The live table of peers, with as many columns as fit, the most important ones first.
struct RangeTable {
  /// A row of the table: a peer, and the duration of its silence.
  struct Row {
    var address: MACAddress
    var peer: RangeSummary.Peer?
    var trend: Trend?
    /// The present time, CLOCK_MONOTONIC in nanoseconds.
    var now: UInt64 = 0
    /// Seconds without a measurement; nil while the gap is too short to show.
    var silence: Double?
  }

  private struct Column: Sendable {
    let title: String
    /// The usual width of the cells, so that columns stay in place.
    let width: Int
    /// The priority: rank 0 is shown first, and higher ranks if there is room.
    let rank: Int
    let cell: @Sendable (Row) -> String
  }

  /// The columns in display order.
  private static let columns: [Column] = [
    Column(title: "peer", width: 6, rank: 0) { $0.address.description },
    Column(title: "distance", width: 8, rank: 5) { row in
      text(row.last?.result.distanceCentimetres) { "\(fixed(Double($0) / 100, 2)) m" }
    },
    Column(title: "estimate ± sd", width: 13, rank: 0) { row in
      text(row.last?.estimate) {
        "\(fixed($0.distance, deviation: $0.standardDeviation).replacing("± ", with: "±")) m"
      }
    },
    Column(title: "short-term", width: 10, rank: 1) { row in
      text(row.last?.estimate) {
        "±\(fixed($0.shortTermDeviation, decimals(for: $0.standardDeviation))) m"
      }
    },
    Column(title: "trend", width: leastTrend, rank: 3) { _ in "" },
    Column(title: "speed", width: 9, rank: 8) { row in
      text(row.last?.estimate) { "\(fixed($0.velocity, 2)) m/s" }
    },
    Column(title: "azimuth", width: 7, rank: 2) { row in
      text(row.last?.result.azimuth.valid) { "\(fixed($0, 1))°" }
    },
    Column(title: "elevation", width: 9, rank: 7) { row in
      text(row.last?.result.elevation.valid) { "\(fixed($0, 1))°" }
    },
    Column(title: "RSSI", width: 9, rank: 4) { row in
      text(row.last?.rssi) { "\(fixed($0, 1)) dBm" }
    },
    Column(title: "path", width: 4, rank: 6) { row in
      text(row.last?.nonLineOfSight) { $0 ? "NLoS" : "LoS" }
    },
    Column(title: "ok/failed", width: 9, rank: 0) { row in
      "\(row.peer?.measured ?? 0)/\(row.peer?.failed ?? 0)"
    },
  ]

  private static let distance = columns.firstIndex { $0.title == "distance" } ?? 0
  private static let estimate = columns.firstIndex { $0.title == "estimate ± sd" } ?? 0
  private static let trend = columns.firstIndex { $0.title == "trend" } ?? 0
  /// The duration of the trend in seconds, in a narrow window.
  private static let leastTrend = 8
  /// The duration of the trend in seconds, in a wide window.
  private static let mostTrend = 32
  private static let gap = 2
  /// The width of a note such as `silent 59 min`.
  private static let noteWidth = 13

  /// The widest cells so far, because columns do not shrink.
  private var widths = columns.map { max($0.title.count, $0.width) }

  /// Returns the header and a line for each row, without line feeds.
  mutating func lines(_ rows: [Row], columns available: Int) -> [String] {
    var cells = rows.map { row in Self.columns.map { $0.cell(row) } }
    for line in cells {
      for (index, cell) in line.enumerated() { widths[index] = max(widths[index], cell.count) }
    }
    widths[Self.trend] = Self.leastTrend
    let shown = shown(in: available)
    let used = shown.reduce(-Self.gap) { $0 + widths[$1] + Self.gap }
    let free = available - used - Self.gap - Self.noteWidth
    widths[Self.trend] += min(max(0, free), Self.mostTrend - Self.leastTrend)
    for (index, row) in rows.enumerated() {
      cells[index][Self.trend] =
        row.trend?.text(columns: widths[Self.trend], until: row.now, isUTF8: Output.isUTF8)
        ?? ""
    }
    func line(_ cells: [String]) -> String {
      shown.map { index in
        // The first column names the row, and is left-aligned.
        index == 0 ? cells[0].left(widths[0]) : cells[index].right(widths[index] + Self.gap)
      }.joined()
    }
    let title = line(Self.columns.map(\.title))
    return [title + "  age"]
      + zip(rows, cells).map { row, cells in
        let note = row.note(room: available - title.columns - Self.gap)
        return line(cells) + (note.isEmpty ? "" : String(repeating: " ", count: Self.gap) + note)
      }
  }

  /// Returns the columns that fit beside the note at the end of a row, in order.
  private func shown(in available: Int) -> [Int] {
    // The narrowest windows have room only for the distance that the chip reports, which is shorter
    // than an estimate.
    let isNarrow = available < widths[0] + Self.gap + widths[Self.estimate]
    let first = isNarrow ? Self.distance : Self.estimate
    let ranks = Self.columns.enumerated().map { index, column in
      index == first ? 0 : max(column.rank, index == Self.estimate ? 1 : 0)
    }
    let order = Self.columns.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
    var left = available - Self.gap - Self.noteWidth + Self.gap
    var chosen: [Int] = []
    for index in order {
      let needed = widths[index] + Self.gap
      guard ranks[index] == 0 || needed <= left else { continue }
      chosen.append(index)
      left -= needed
    }
    return chosen.sorted()
  }

  private static func text<Value>(_ value: Value?, _ words: (Value) -> String) -> String {
    value.map(words) ?? "–"
  }
}

extension RangeTable.Row {
  fileprivate var last: RangeRow? { peer?.last }

  /// Returns the age of the last measurement, as in `0.2 s` or `silent 12 s`, with the reason of a
  /// failed round. After a long silence, the reason is left out where there is no room.
  fileprivate func note(room: Int) -> String {
    let status = last.flatMap { $0.result.status.isSuccess ? nil : "\($0.result.status)" }
    let age = peer?.measuredAt.map { Self.duration(Double(now &- min($0, now)) / 1e9) } ?? ""
    let words = silence.map { "silent " + Self.duration($0) } ?? age
    let both = words + (words.isEmpty ? "" : ", ") + (status ?? "")
    let note = status == nil || silence != nil && both.count > room ? words : both
    let style: Style? = silence != nil ? .warning : status != nil ? .bad : nil
    return standardOutput.styled(note, style)
  }

  private static func duration(_ seconds: Double) -> String {
    switch seconds {
    case ..<1: "\(fixed(seconds, 1)) s"
    case ..<60: "\(Int(seconds)) s"
    case ..<3_600: "\(Int(seconds / 60)) min"
    default: "\(Int(min(seconds, 1e9) / 3_600)) h"
    }
  }
}
