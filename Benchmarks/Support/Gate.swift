// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Checks the limits of figures on machines that may be busy with other work.
///
/// A figure that misses its limit is measured again, and fails if it misses the limit in each try.
/// A figure that needs an idle machine is not judged if other processes disturbed each try.
struct Gate {
  /// The verdict on one figure.
  enum Verdict: String {
    case ok = "ok  "
    case fail = "FAIL"
    case notJudged = "busy"
  }

  struct Try {
    var text: String
    var isWithin: Bool
    /// Whether the figure needs an idle machine, and other processes were using the processors.
    var isDisturbed: Bool
  }

  static let tries = 3

  /// The greatest number of times that a group of this gate is measured.
  private let most: Int

  private var figures: [(name: String, reason: String, tries: [Try])] = []

  init(tries most: Int = Gate.tries) { self.most = most }

  /// Measures a group until each of its figures was within its limit once, but at most `tries`
  /// times.
  ///
  /// Returns the rows of the first measurement.
  mutating func measure(_ group: () -> [Row]) -> [Row] {
    let first = measureOnce(group)
    var isWithin = first.isWithin
    for _ in 1..<most where !isWithin { isWithin = measureOnce(group).isWithin }
    return first.rows
  }

  /// Returns the rows, and whether each figure was within its limit in this try or an earlier one.
  private mutating func measureOnce(_ group: () -> [Row]) -> (rows: [Row], isWithin: Bool) {
    let (rows, isDisturbed) = Processors.watch(group)
    var isWithin = true
    for row in rows {
      guard let limit = row.limit, let judged = row.judged else { continue }
      let index = figures.firstIndex { $0.name == row.name } ?? figures.count
      if index == figures.count { figures.append((row.name, limit.reason, [])) }
      figures[index].tries.append(
        Try(
          text: judged.text, isWithin: judged.isWithin,
          isDisturbed: isDisturbed && limit.needsIdleMachine))
      isWithin = isWithin && figures[index].tries.contains(where: \.isWithin)
    }
    return (rows, isWithin)
  }

  /// Prints each figure with its tries. Returns whether no figure failed.
  func write() -> Bool {
    print("\nlimits, of at most \(most) tries each (!: other processes used the processors)")
    for figure in figures {
      let verdict = Self.verdict(figure.tries)
      let tries = figure.tries.map { $0.text + ($0.isDisturbed ? " !" : "") }
      print("\(verdict.rawValue)  \(figure.name): \(tries.joined(separator: "; "))")
      if verdict != .ok { print("      the limit: \(figure.reason)") }
    }
    return figures.allSatisfy { Self.verdict($0.tries) != .fail }
  }

  private static func verdict(_ tries: [Try]) -> Verdict {
    if tries.contains(where: \.isWithin) { return .ok }
    return tries.allSatisfy(\.isDisturbed) ? .notJudged : .fail
  }
}

/// The times of all processors, and of this process.
struct Processors {
  /// Calls `body`. Returns its result, and whether other processes used more than a fifth of the
  /// processors during the call.
  static func watch<Result>(_ body: () -> Result) -> (result: Result, areShared: Bool) {
    let before = Processors()
    let result = body()
    return (result, Processors().areShared(since: before))
  }

  /// The kernel's ticks for all processes (`busy`), and for all processes and idling (`all`).
  private let busy: Double
  private let all: Double
  private let ownSeconds: Double

  private init() {
    // The columns are: cpu user nice system idle iowait irq softirq steal (proc_stat(5)).
    let file = try? String(contentsOfFile: "/proc/stat", encoding: .ascii)
    let ticks = (file ?? "").prefix { $0 != "\n" }.split(separator: " ").dropFirst().prefix(8)
      .compactMap { Double($0) }
    all = ticks.reduce(0, +)
    busy = all - ticks.dropFirst(3).prefix(2).reduce(0, +)
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    ownSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }

  /// Returns whether other processes used the processors. They use less than 0.02 on an idle
  /// machine; one compiler on two processors uses 0.5.
  private func areShared(since start: Processors) -> Bool {
    let own = (ownSeconds - start.ownSeconds) * Double(sysconf(Int32(_SC_CLK_TCK)))
    return busy - start.busy - own > 0.2 * max(1, all - start.all)
  }
}
