// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Glibc
import Synchronization

/// The aim of a figure.
enum Aim {
  /// The greatest ratio of the p50 to the compared p50.
  case ratio(Double)
  /// The greatest difference of the p50 from the compared p50.
  case above(Double)
  /// The greatest p50, and the greatest p99 if it matters.
  case atMost(p50: Double, p99: Double?)
  /// The number of allocations for each frame.
  case allocations(Double)
}

/// A limit of a figure, compared with another figure of the same run. The benchmarks fail beyond
/// it.
struct Limit {
  enum Kind {
    /// The greatest ratio of the p50 to the other p50.
    case ratio(Double)
    /// The greatest difference of the p50 from the other p50, if both are near zero.
    case above(Double)
  }

  var kind: Kind
  /// The measured figure, and the reason why the limit is different.
  var reason: String
  /// Whether the figure depends on caches or on a second processor, which other processes may use.
  var needsIdleMachine: Bool

  init(_ kind: Kind, reason: String, needsIdleMachine: Bool = false) {
    (self.kind, self.reason, self.needsIdleMachine) = (kind, reason, needsIdleMachine)
  }
}

/// One line of the table.
struct Row {
  var figure: String
  var unit: String
  var values: Percentiles
  /// The number of heap allocations for each frame; nil if they were not counted.
  var allocations: Double?
  /// The compared work, measured in the same run, and its percentiles.
  var floor: (name: String, values: Percentiles)?
  var aim: Aim?
  /// The limit for CI.
  var limit: Limit?

  /// The name of the row, which is unique in a run.
  var name: String { floor.map { "\(figure) / \($0.name)" } ?? figure }

  /// The figure to which `limit` applies, as text, and whether it is within the limit.
  var judged: (text: String, isWithin: Bool)? {
    guard let limit, let floor else { return nil }
    switch limit.kind {
    case .ratio(let most):
      let ratio = values.p50 / floor.values.p50
      return ("\(decimal(ratio, 2))x, limit \(decimal(most, 2))x", ratio <= most)
    case .above(let most):
      let difference = values.p50 - floor.values.p50
      return (
        "\(decimal(difference, 0)) \(unit) more, limit \(decimal(most, 0))", difference <= most
      )
    }
  }

  var ratio: Double? { floor.map { values.p50 / $0.values.p50 } }

  /// The aim, and whether it was met.
  var verdict: String {
    func said(_ text: String, _ met: Bool) -> String { text + (met ? " met" : " MISSED") }
    switch aim {
    case .ratio(let limit): return said("<= \(limit)x", (ratio ?? .infinity) <= limit)
    case .above(let limit):
      let difference = values.p50 - (floor?.values.p50 ?? 0)
      return said("<= floor + \(limit)", difference <= limit)
    case .atMost(let p50, let p99):
      let tail = p99.map { ", p99 <= \($0)" } ?? ""
      return said(
        "p50 <= \(p50)" + tail, values.p50 <= p50 && values.p99 <= p99 ?? .infinity)
    case .allocations(let limit):
      return said("<= \(limit) allocations", (allocations ?? .infinity) <= limit)
    case nil: return ""
    }
  }
}

/// Returns a number with `digits` digits after the point in any locale.
func decimal(_ value: Double, _ digits: Int) -> String {
  guard value.isFinite else { return "-" }
  let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
  let scaled = Int((value.magnitude * scale).rounded())
  let sign = value < 0 && scaled != 0 ? "-" : ""
  let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int(scale))
  guard digits > 0 else { return "\(sign)\(whole)" }
  let part = String(rest)
  return "\(sign)\(whole)." + String(repeating: "0", count: digits - part.count) + part
}

/// Collects rows and prints them as one table.
struct Report {
  private(set) var rows: [Row] = []
  /// The p50 of round trips between two threads that exchange only cache lines, measured
  /// repeatedly, in nanoseconds.
  private(set) var controls: [Double] = []

  mutating func add(_ rows: [Row]) { self.rows += rows }

  /// Measures such round trips once.
  mutating func takeControl() {
    controls.append(
      Percentiles(nanoseconds(20_000) { cuwb_test_ping_pong($0, 20_000) }).p50)
  }

  func write() {
    print("\n" + Self.machine)
    let shown = controls.map { number($0) }.joined(separator: ", ")
    print("control: round trip of a cache line between two processors, p50 in ns: \(shown)")
    if let least = controls.min(), let most = controls.max(), most > 1.5 * least || most > 400 {
      print("control: UNSTEADY or far; figures between two threads tell little in this run")
    }
    for line in RingPeer.absent { print(line) }
    if !cuwb_test_allocations_are_counted() { print("allocations are not counted here") }
    print(
      "clock: one reading takes \(number(HandOverFigures.clock)) ns, subtracted where it says so")
    print("percentiles of batches where the figure says so, of single events otherwise\n")
    let header = [
      "figure", "unit", "p50", "p90", "p99", "p99.9", "alloc/frame", "compared with", "its p50",
      "its p99", "ratio", "aim",
    ]
    let lines = [header] + rows.map(cells)
    let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    for (index, line) in lines.enumerated() {
      let padded = line.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        let isText = [0, 1, 7, 11].contains(column)
        return isText ? cell + space : space + cell
      }
      print("| " + padded.joined(separator: " | ") + " |")
      if index == 0 {
        print("|" + widths.map { String(repeating: "-", count: $0 + 2) + "|" }.joined())
      }
    }
  }

  private func cells(_ row: Row) -> [String] {
    let v = row.values
    return [
      row.figure, row.unit, number(v.p50), number(v.p90), number(v.p99), number(v.p999),
      row.allocations.map { number($0) } ?? "", row.floor?.name ?? "",
      row.floor.map { number($0.values.p50) } ?? "", row.floor.map { number($0.values.p99) } ?? "",
      row.ratio.map { decimal($0, 2) } ?? "", row.verdict,
    ]
  }

  private func number(_ value: Double) -> String {
    value == 0 ? "0" : decimal(value, value.magnitude < 10 ? 2 : value.magnitude < 100 ? 1 : 0)
  }

  /// The processors and the kernel of this machine.
  static var machine: String {
    var name = utsname()
    uname(&name)
    let release = withUnsafeBytes(of: &name.release) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    let architecture = withUnsafeBytes(of: &name.machine) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return
      "machine: \(cuwb_test_processors()) processors, \(processorModel) (\(architecture)), "
      + "Linux \(release), load \(load)"
  }

  private static func text(_ path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  private static var processorModel: String {
    text("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
      .flatMap { $0.split(separator: ":").last.map { String($0.dropFirst()) } }
      ?? "unnamed processor"
  }

  private static var load: String {
    text("/proc/loadavg").split(separator: " ").first.map(String.init) ?? "?"
  }
}
