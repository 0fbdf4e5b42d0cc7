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
    report.takeControl()
    report.add(DecodeFigures.rows(Settings()))
    report.takeControl()
    report.write()
  }
}
