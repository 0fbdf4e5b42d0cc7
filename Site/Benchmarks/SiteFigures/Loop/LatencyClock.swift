// SPDX-License-Identifier: Apache-2.0

import Foundation
import SiteServer
import Synchronization
import UWBSite

/// The result of a measurement.
struct LatencyResult {
  var latencies: [Double]
  /// The processor time of each turn of the loop in seconds: beside a latency, whether the loop or
  /// the machine was late.
  var turns: [Double]
  /// The part of a core that the process has used, without its feeder and its clients.
  var load: Double
  /// MiB after the first rounds and after the last one.
  var memory: (first: Int, last: Int)
}

/// The moment at which the last line of each tag's round was written, and the delays until its end.
final class LatencyClock: Sendable {
  private struct State {
    var sent: [Double?]
    var latencies: [Double] = []
    var turns: [Double] = []
  }

  private let state: Mutex<State>

  init(tags: Int) { state = Mutex(State(sent: Array(repeating: nil, count: tags))) }

  static var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

  func send(_ tag: Int) { state.withLock { $0.sent[tag] = Self.now } }

  /// Notes the first end of a round.
  func end(_ tag: Int) {
    let now = Self.now
    state.withLock { state in
      guard let sent = state.sent[tag] else { return }
      state.latencies.append(now - sent)
      state.sent[tag] = nil
    }
  }

  var latencies: [Double] { state.withLock(\.latencies) }

  /// Notes the processor time of a turn of the loop.
  func endTurn(_ seconds: Double) { state.withLock { $0.turns.append(seconds) } }

  var turns: [Double] { state.withLock(\.turns) }
}

/// Notes the end of each round.
final class LatencySink: SiteSink {
  private let clock: LatencyClock
  private var last: Double?

  init(_ clock: LatencyClock) { self.clock = clock }

  func receive(_ batch: SiteBatch) {
    let now = ProcessorTime.ofThread
    if let last { clock.endTurn(now - last) }
    last = now
    for case .place(let tag, _, _) in batch.events.lazy.map(\.kind) {
      if let number = Int(tag) { clock.end(number) }
    }
  }
}

/// Reads lines, and finds the last one of each round.
struct LineRelay {
  private let path: String
  private let clock: LatencyClock
  private let isEnded: @Sendable () -> Bool

  init(_ path: String, _ clock: LatencyClock, _ isEnded: @escaping @Sendable () -> Bool) {
    (self.path, self.clock, self.isEnded) = (path, clock, isEnded)
  }

  func run() {
    guard let file = FileHandle(forReadingAtPath: path) else { return }
    var splitter = LineSplitter()
    while !isEnded(), case let data = file.availableData, !data.isEmpty {
      splitter.add(Array(data)[...])
      while let line = splitter.next() {
        // The last line of a round has the last anchor. The tag is between quotation marks.
        let text = String(decoding: line, as: UTF8.self)
        guard text.contains("\"A7\""), let tag = text.split(separator: "\"").dropFirst(5).first
        else { continue }
        if let number = Int(tag) { clock.end(number) }
      }
    }
  }
}

/// Processor time in seconds.
enum ProcessorTime {
  static var ofThread: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + 1e-9 * Double(time.tv_nsec)
  }
}
