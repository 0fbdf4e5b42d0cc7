// SPDX-License-Identifier: Apache-2.0
import Benchmark
import Glibc

/// The amount of measurements.
struct Settings {
  /// Whether fewer samples are taken, for CI.
  var quick = false
}

/// The program of the benchmarks. Its arguments are:
///
/// - none: everything, with three tables at the end. It exits with 1 if a time exceeds its limit, a
///   check of reliability fails, or an accuracy is missed that was met before.
/// - `--quick`, or `UWB_QUICK=1` in the environment: the same with fewer samples.
/// - `times`, `--reliability` or `accuracy [--datasets FOLDER] [--page FILE]`: one of the tables.
///   `--page` also writes the figures between the marks of a page.
/// - `scale [--quick]`: many chips on one machine, and one that is nearly idle.
/// - `service [--quick]`: the costs of `uwbd`, which has to be in the folder of this program.
/// - `work NAME COUNT`: the work whose instructions `Benchmarks/Instructions/count` counts.
/// - any other option: the batches, by google/swift-benchmark, whose options these are (`--help`).
@main
enum UWBBenchmarks {
  static func main() {
    var options = Array(CommandLine.arguments.dropFirst())
    func take(_ name: String) -> String? {
      guard let index = options.firstIndex(of: name), index + 1 < options.count else { return nil }
      defer { options.removeSubrange(index...index + 1) }
      return options[index + 1]
    }
    let (datasets, page) = (take("--datasets"), take("--page"))
    let only = (take("--only") ?? "").split(separator: ",").map(String.init)
    if options.first == "work" {
      guard options.count == 3, let work = CountedWork(rawValue: options[1]),
        let count = Int(options[2]), count > 0
      else {
        let names = CountedWork.allCases.map(\.rawValue).joined(separator: ", ")
        print("usage: UWBBenchmarks work NAME COUNT, where NAME is one of \(names)")
        exit(64)
      }
      print(work.run(count))
      return
    }
    if options.first == "scale", options.count > 2 {
      do { try Scale.runChild(Array(options.dropFirst())) } catch { exit(1) }
      return
    }
    let own = ["--quick", "times", "--reliability", "accuracy", "scale", "service"]
    guard options.allSatisfy(own.contains) else {
      Benchmark.main([Batches.makeSuite()])
      return
    }
    let inEnvironment = getenv("UWB_QUICK").map { String(cString: $0) == "1" } ?? false
    let settings = Settings(quick: options.contains("--quick") || inEnvironment)
    #if DEBUG
      print("a debug build: times mean nothing")
    #endif
    let parts = own.dropFirst().filter(options.contains)
    // Times depend on the machine, so only their ratios to other times of the same run are judged.
    var missed: [String] = []
    func judge(_ part: String, isDefault: Bool = true, _ run: () -> Bool) {
      guard parts.contains(part) || parts.isEmpty && isDefault else { return }
      if !run() { missed.append(part) }
    }
    judge("times") { measureTimes(settings) }
    judge("--reliability") { Reliability.write(Reliability.rows(settings)) }
    judge("accuracy") { Accuracy.run(settings, datasets: datasets, only: only, page: page) }
    judge("service", isDefault: false) { ServiceFigures.run(settings) }
    judge("scale", isDefault: false) { Scale.run(settings) }
    guard missed.isEmpty else {
      print("\nlimits were missed, see above: \(missed.joined(separator: ", "))")
      exit(1)
    }
  }

  /// Measures all groups and prints the table. Returns whether each figure is within its limit.
  private static func measureTimes(_ settings: Settings) -> Bool {
    Benchmark.main(
      [Batches.makeSuite()],
      settings: [
        MinTime(seconds: settings.quick ? 0.05 : 0.3), Quiet(true),
        Columns(["name", "median", "p90", "p99", "iterations"]),
      ])
    let groups = [
      DecodeFigures.rows, RingFigures.rows, HandOverFigures.rows, LineFigures.rows,
      EstimationFigures.rows,
    ]
    var (report, gate) = (Report(), Gate())
    report.takeControl()
    for group in groups {
      report.add(gate.measure { group(settings) })
      report.takeControl()
    }
    report.write()
    return gate.write()
  }
}
