// SPDX-License-Identifier: Apache-2.0
import Benchmark
import Glibc

/// How long and how much to measure.
struct Settings {
  /// For CI: fewer samples.
  var quick = false
}

/// Without options: everything, with two tables at the end; ends with 1 when what has to be reliable
/// is not. With `--quick`, or `UWB_QUICK=1` in the environment: the same with fewer samples. With
/// `--reliability`: the second table only. With any other option the batches only, by
/// google/swift-benchmark, whose options they are (`--help` lists them).
@main
enum UWBBenchmarks {
  static func main() {
    let options = CommandLine.arguments.dropFirst()
    guard options.allSatisfy({ ["--quick", "--reliability"].contains($0) }) else {
      Benchmark.main([Batches.makeSuite()])
      return
    }
    let inEnvironment = getenv("UWB_QUICK").map { String(cString: $0) == "1" } ?? false
    let settings = Settings(quick: options.contains("--quick") || inEnvironment)
    #if DEBUG
      print("a debug build: these figures mean nothing")
    #endif
    if !options.contains("--reliability") { measureTimes(settings) }
    // Times depend on the machine, so they are for people to judge; these have to be reached.
    guard Reliability.write(Reliability.rows(settings)) else { exit(1) }
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
    report.write()
  }
}
