// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Glibc

/// How long and how much to measure.
struct Settings {
  /// For CI: fewer samples.
  var quick = false
}

@main
enum UWBBenchmarks {
  static func main() {
    var report = Report()
    let settings = Settings(quick: CommandLine.arguments.contains("--quick"))
    report.takeControl()
    report.add(DecodeFigures.rows(settings))
    report.takeControl()
    report.add(RingFigures.rows(settings))
    report.takeControl()
    report.add(HandOverFigures.rows(settings))
    report.add(LineFigures.rows(settings))
    report.takeControl()
    report.write()
  }
}
