// SPDX-License-Identifier: Apache-2.0

import Foundation
import SiteServer
import Synchronization
import UWBSite

/// A hall with eight anchors, and a feeder of ranges of tags at rest.
enum LatencyScene {
  private static let anchors: [SIMD3<Double>] = [
    [0, 0, 2.5], [20, 0, 3], [20, 15, 2.5], [0, 15, 3], [10, 0, 3], [20, 7, 2.5], [10, 15, 3],
    [0, 7, 2.5],
  ]

  static func site(tags: Int) throws -> Site {
    let anchors = anchors.enumerated().map { index, place in
      "{\"id\": \"A\(index)\", \"position_m\": [\(place.x), \(place.y), \(place.z)],"
        + " \"position_sd_m\": [0.02, 0.02, 0.02]}"
    }
    let tags = (0..<tags).map { "{\"id\": \"\($0)\", \"height_m\": 1}" }
    let text =
      "{\"version\": 1, \"gauge\": {\"kind\": \"measured\"}, "
      + "\"anchors\": [\(anchors.joined(separator: ", "))], "
      + "\"tags\": [\(tags.joined(separator: ", "))]}"
    return try Site(json: Array(text.utf8))
  }

  /// Feeds a pipe while the body reads it at a path.
  ///
  /// - Parameter body: returns seconds of processor time that are not its own.
  static func measure(
    tags: Int, seconds: Int,
    _ body:
      @escaping @Sendable (String, LatencyClock, @escaping @Sendable () -> Bool) throws -> Double
  ) throws -> LatencyResult {
    let (pipe, clock, isEnded) = (Pipe(), LatencyClock(tags: tags), StopFlag())
    let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
    let (start, spent) = (LatencyClock.now, Foundation.clock())
    let others = Mutex(ProcessorTime.ofThread)
    let finished = DispatchSemaphore(value: 0)
    DispatchQueue(label: "reader").async {
      do {
        let seconds = try body(path, clock, { isEnded.isSet })
        others.withLock { $0 -= seconds }
      } catch { print("\(error)") }
      finished.signal()
    }
    let memory = feed(pipe.fileHandleForWriting, tags, seconds, clock)
    Thread.sleep(forTimeInterval: 0.2)
    isEnded.set()
    try pipe.fileHandleForWriting.close()
    finished.wait()
    let feeder = ProcessorTime.ofThread - others.withLock { $0 }
    let load = Double(Foundation.clock() - spent) / Double(CLOCKS_PER_SEC) - feeder
    return LatencyResult(
      latencies: clock.latencies, turns: clock.turns, load: load / (LatencyClock.now - start),
      memory: memory)
  }

  /// The memory of the process in MiB.
  private static var memory: Int {
    let status = FileManager.default.contents(atPath: "/proc/self/status") ?? Data()
    let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first {
      $0.hasPrefix("VmRSS:")
    }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) / 1024
  }

  /// The first rounds, in which the places of all tags are searched at once.
  static let warmUp = 20

  /// Writes the rounds of all tags, evenly over each tenth of a second.
  ///
  /// - Returns: the memory after the first rounds and after the last one.
  private static func feed(
    _ file: FileHandle, _ tags: Int, _ seconds: Int, _ clock: LatencyClock
  ) -> (first: Int, last: Int) {
    var generator = SplitMix64(seed: 3)
    let start = LatencyClock.now
    var first = memory
    for round in 0..<(10 * seconds) {
      if round == warmUp { first = memory }
      for tag in 0..<tags {
        let due = start + (Double(round) + Double(tag) / Double(tags)) / 10
        let wait = due - LatencyClock.now
        if wait > 1e-4 { Thread.sleep(forTimeInterval: wait) }
        var lines = ""
        for (index, anchor) in anchors.enumerated() {
          let arm = SIMD3(2 + Double(tag % 17), 2 + Double(tag % 11), 1) - anchor
          let range = (arm * arm).sum().squareRoot() + 0.05 * (generator.uniform() - 0.5)
          lines += "{\"t\": \(due - start), \"tag\": \"\(tag)\", \"anchor\": \"A\(index)\", "
          lines += "\"distance_m\": \(range)}\n"
        }
        if round >= warmUp { clock.send(tag) }
        try? file.write(contentsOf: Data(lines.utf8))
      }
    }
    return (first, memory)
  }
}

private final class StopFlag: Sendable {
  private let flag = Atomic<Bool>(false)
  var isSet: Bool { flag.load(ordering: .relaxed) }
  func set() { flag.store(true, ordering: .relaxed) }
}
