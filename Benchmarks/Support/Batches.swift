// SPDX-License-Identifier: Apache-2.0
import Benchmark
import CUWBTestSupport
import Ranging

/// Work in batches on one thread for the tool of google/swift-benchmark, with its filters, formats
/// and comparisons. Each iteration is a batch of 1024 frames or samples.
///
/// The table also measures this work, alternating with the compared work, which the tool cannot do.
enum Batches {
  static func makeSuite() -> BenchmarkSuite {
    let suite = BenchmarkSuite(name: "batch of 1024")
    let one = DecodeFigures(measurements: 1)
    let eight = DecodeFigures(measurements: 8)
    let ring = RingFigures()
    var estimator = RangeEstimator()
    var time = 0.0
    var sink: UInt64 = 0
    suite.benchmark("decode 1 measurement") { sink &+= one.swift() }
    suite.benchmark("decode 1 measurement, C") { sink &+= one.c() }
    suite.benchmark("decode 8 measurements") { sink &+= eight.swift() }
    suite.benchmark("decode 8 measurements, C") { sink &+= eight.c() }
    suite.benchmark("ring") { sink &+= ring.sameThread() }
    for peer in ring.peers { suite.benchmark(peer.name) { sink &+= ring.sameThread(peer) } }
    suite.benchmark("range estimator") {
      for index in 0..<1024 {
        time += 0.1
        let estimate = estimator.update(
          RangeSample(time: time, distance: 4 + Double(index & 15) / 100))
        if estimate?.isOutlier == true { sink &+= 1 }
      }
    }
    return suite
  }
}
