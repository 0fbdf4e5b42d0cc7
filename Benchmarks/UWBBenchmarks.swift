// SPDX-License-Identifier: Apache-2.0
import Benchmark
import Glibc

/// How long and how much to measure.
struct Settings {
  /// For CI: fewer samples.
  var quick = false
}

/// Without arguments: everything, with three tables at the end; ends with 1 when what has to be
/// reliable is not, or an accuracy is missed that was reached before. With `--quick`, or `UWB_QUICK=1`
/// in the environment: the same with fewer samples. With `--reliability`: the second table only. With
/// `accuracy [--datasets FOLDER]`: the third one only. With `scale [--quick]`: many chips on one
/// machine, and one at rest. With `service [--quick]`: what `uwbd` adds and takes. With
/// `work NAME COUNT`: the work whose
/// instructions `Benchmarks/Instructions/count` counts. With any other option the batches only, by
/// google/swift-benchmark, whose options they are (`--help` lists them).
@main
enum UWBBenchmarks {
  static func main() {
    var options = Array(CommandLine.arguments.dropFirst())
    var datasets: String?
    if let index = options.firstIndex(of: "--datasets"), index + 1 < options.count {
      datasets = options[index + 1]
      options.removeSubrange(index...index + 1)
    }
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
    let own = ["--quick", "--reliability", "accuracy", "scale", "service"]
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
    if parts.isEmpty { measureTimes(settings) }
    // Times depend on the machine, so they are for people to judge; these have to be reached.
    var isWell = true
    if parts.isEmpty || parts.contains("--reliability") {
      isWell = Reliability.write(Reliability.rows(settings)) && isWell
    }
    if parts.isEmpty || parts.contains("accuracy") {
      isWell = Accuracy.run(settings, datasets: datasets) && isWell
    }
    if parts.contains("service") { isWell = ServiceFigures.run(settings) && isWell }
    if parts.contains("scale") { isWell = Scale.run(settings) && isWell }
    if !isWell { exit(1) }
  }

  private static func measureTimes(_ settings: Settings) {
    Benchmark.main(
      [Batches.makeSuite()],
      settings: [
        MinTime(seconds: settings.quick ? 0.05 : 0.3), Quiet(true),
        Columns(["name", "median", "p90", "p99", "iterations"]),
      ])
    var report = Report()
    report.takeControl()
    report.add(DecodeFigures.rows(settings))
    report.takeControl()
    report.add(RingFigures.rows(settings))
    report.takeControl()
    report.add(HandOverFigures.rows(settings))
    report.takeControl()
    report.add(LineFigures.rows(settings))
    report.takeControl()
    report.add(EstimationFigures.rows(settings))
    report.takeControl()
    report.write()
  }
}
