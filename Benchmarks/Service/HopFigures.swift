// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The time from a chip to programs at the socket of the service. It is compared with the time
/// through a process that only forwards the packets.
struct HopFigures {
  private let hertz: Int
  private let programs: Int
  private let seconds: Int

  /// The error if measurements are missing; its third number is their count.
  private struct Missing: Error, CustomStringConvertible { var description: String }

  private static let reason = "2.4 at 100 Hz on a busy machine; caches are cold between rounds"

  /// Prints the delays and the gate. Returns whether each limit held.
  ///
  /// - Throws: The error of a process.
  static func measure(seconds: Int, isQuick: Bool) throws -> Bool {
    var gate = Gate(tries: isQuick ? 1 : 3)
    var failure: (any Error)?
    let rows = gate.measure {
      do { return try Self.rows(seconds: seconds, isQuick: isQuick) } catch {
        failure = error
        return []
      }
    }
    if let failure { throw failure }
    for row in rows {
      print(
        "| \(row.figure) | \(decimal(row.values.p50, 0)), p99 \(decimal(row.values.p99, 0)) us "
          + "| \(row.floor.map { decimal($0.values.p50, 0) } ?? "") us by a relay | \(row.verdict) |"
      )
    }
    return gate.write()
  }

  private static func rows(seconds: Int, isQuick: Bool) throws -> [Row] {
    var rows: [Row] = []
    for hertz in [10, 100, 1_000] {
      let hop = HopFigures(hertz: hertz, programs: 1, seconds: seconds)
      let (service, relay) = (try hop.delays(isRelayed: false), try hop.delays(isRelayed: true))
      rows.append(
        Row(
          figure: "chip to program, \(hertz) Hz", unit: "us", values: service,
          floor: ("relay", relay), aim: .ratio(2),
          limit: Limit(.ratio(5), reason: reason, needsIdleMachine: true)))
      guard hertz == 100, !isQuick else { continue }
      for programs in [10, 50] {
        let many = HopFigures(hertz: hertz, programs: programs, seconds: seconds)
        let (ofService, ofRelay) = (
          try many.delays(isRelayed: false), try many.delays(isRelayed: true)
        )
        // The median is the delay of the middle program, which half of the other programs precede.
        let further = Double(programs - 1) / 2
        rows.append(
          Row(
            figure: "each further one of \(programs) programs, \(hertz) Hz", unit: "us",
            values: Percentiles([(ofService.p50 - service.p50) / further]),
            floor: ("relay", Percentiles([(ofRelay.p50 - relay.p50) / further])),
            aim: .atMost(p50: 10, p99: nil),
            limit: Limit(.above(30), reason: "a call of send(2)", needsIdleMachine: true)))
      }
    }
    return rows
  }

  /// Returns the delays of all programs in microseconds.
  private func delays(isRelayed: Bool) throws -> Percentiles {
    let frames = hertz * seconds
    let bench = try ServiceFigures.Bench(chips: 1, hertz: hertz, frames: frames, measurements: 1)
    var relay: Child?
    var socket = bench.socket
    if isRelayed {
      bench.service.process.terminate()
      bench.service.process.waitUntilExit()
      socket += ".relay"
      unlink(socket)
      relay = try Child(["packets", bench.paths[0], socket, "\(programs)"])
      _ = try relay?.readLine()
    }
    let readers = try Child(
      ["readers", "\(programs)"] + bench.sizes + ["0", socket, "1"] + (isRelayed ? ["relay"] : []))
    _ = try (readers.readLine(), readers.readLine())
    let numbers = try readers.readLine().split(separator: " ").map { Double($0) ?? 0 }
    try readers.end()
    // The relay exits when its chip has ended.
    try bench.end()
    try relay?.end()
    unlink(socket)
    guard numbers.count == 7, numbers[2] == 0 else {
      throw Missing(
        description: "\(hertz) Hz, \(programs) programs\(isRelayed ? ", relay" : ""): \(numbers)")
    }
    var delays = Percentiles([numbers[0]])
    (delays.p90, delays.p99, delays.p999) = (numbers[5], numbers[1], numbers[6])
    return delays
  }
}
