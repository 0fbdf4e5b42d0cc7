// SPDX-License-Identifier: Apache-2.0

/// A figure of a link with faults: the share of successful trials.
struct Reliability {
  var figure: String
  /// The number of trials, and the number of successes.
  var trials: Int
  var good: Int
  /// The least share of successes.
  var aim: Double
  /// The compared reader, with its successes and trials in the same run.
  var compared: (name: String, good: Int, trials: Int)?
  /// Further information for readers of the table.
  var note = ""

  var rate: Double { Double(good) / Double(max(1, trials)) }
  var isMet: Bool { trials > 0 && rate >= aim }

  /// Whether other processes used the processors during each try. A figure that depends on the real
  /// clock is then not judged if it misses its aim.
  var isDisturbed = false

  static func rows(_ settings: Settings) -> [Reliability] {
    FramerFigures.rows(settings)
      + [CommandFigures.rows, ReplugFigures.rows].flatMap { group in timed { group(settings) } }
  }

  /// Measures until each figure has met its aim, at most `Gate.tries` times.
  private static func timed(_ group: () -> [Reliability]) -> [Reliability] {
    var (rows, isDisturbed) = Processors.watch(group)
    for _ in 1..<Gate.tries where !rows.allSatisfy(\.isMet) {
      let (next, areShared) = Processors.watch(group)
      (rows, isDisturbed) = (next, isDisturbed && areShared)
    }
    for index in rows.indices { rows[index].isDisturbed = isDisturbed }
    return rows
  }

  /// Prints a table. Returns whether every aim is met.
  static func write(_ figures: [Reliability]) -> Bool {
    let header = ["reliability", "trials", "good", "aim", "", "compared with", "its good", "note"]
    let lines =
      [header]
      + figures.map { figure in
        [
          figure.figure, "\(figure.trials)", percent(figure.good, figure.trials),
          ">= " + fixed(100 * figure.aim, 1) + " %",
          figure.isMet ? "met" : figure.isDisturbed ? "busy" : "MISSED",
          figure.compared?.name ?? "",
          figure.compared.map { percent($0.good, $0.trials) } ?? "", figure.note,
        ]
      }
    let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    print("")
    for (index, line) in lines.enumerated() {
      let padded = line.enumerated().map { column, cell in
        cell + String(repeating: " ", count: widths[column] - cell.count)
      }
      print("| " + padded.joined(separator: " | ") + " |")
      if index == 0 {
        print("|" + widths.map { String(repeating: "-", count: $0 + 2) + "|" }.joined())
      }
    }
    return figures.allSatisfy { $0.isMet || $0.isDisturbed }
  }

  private static func percent(_ part: Int, _ whole: Int) -> String {
    part == whole ? "100 %" : fixed(100 * Double(part) / Double(max(1, whole)), 3) + " %"
  }

  private static func fixed(_ value: Double, _ digits: Int) -> String {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    // The value is rounded down, so that no figure looks better than it is.
    let scaled = Int(value * scale)
    let rest = String(scaled % Int(scale))
    return "\(scaled / Int(scale))." + String(repeating: "0", count: digits - rest.count) + rest
  }
}
