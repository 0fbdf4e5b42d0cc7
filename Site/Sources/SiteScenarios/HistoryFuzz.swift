// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import SiteServer
internal import UWBSite

/// Damaged files of a history, up to the places and events that are read of them.
package struct HistoryFuzz {
  /// The counts of a run, and the first sentences that do not name the file.
  package struct Result: Sendable, Hashable {
    package var files = 0
    /// The number of files that were refused, as a whole or from some part on.
    package var refused = 0
    package var places = 0
    package var wrong: [String] = []
  }

  private let folder: HistoryFolder
  private let file: URL
  private let whole: [UInt8]
  private var generator: SplitMix64

  /// Writes a day into a new folder, which the caller removes.
  package init(folder path: String, seed: UInt64) throws {
    folder = HistoryFolder(path)
    try folder.create()
    var batch = HistoryBatch()
    let start: Int64 = 1_795_737_600_000
    for number in 0..<300 as Range<Int64> {
      let place = TagPlace(
        time: 0, position: [Double(number) / 100, 2, 1], velocity: [0.1, 0, 0],
        spread: Spread(xx: 0.01, xy: 0, xz: 0, yy: 0.01, yz: 0, zz: 0.04), motion: .walk, moving: 1)
      batch.places.append(
        HistoryPlace(tag: "tag \(number % 3)", time: start + 100 * number, place))
    }
    for number in 0..<20 as Range<Int64> {
      batch.events.append(
        HistoryEvent(
          time: start + 1000 * number, decided: start + 1000 * number, tag: "tag 1",
          kind: "entered", body: #"{"t": 1, "zone": "dock"}"#))
    }
    batch.measurements = Self.measurements(start)
    var writer = HistoryWriter(folder)
    _ = writer.write(batch, now: 0)
    writer.close()
    let name = try FileManager.default.contentsOfDirectory(atPath: path).first {
      $0.hasSuffix(".sqlite")
    }
    file = URL(fileURLWithPath: "\(path)/\(name ?? "")")
    whole = Array(try Data(contentsOf: file))
    generator = SplitMix64(seed: seed)
  }

  private static func measurements(_ start: Int64) -> [HistoryMeasurement] {
    (0..<200 as Range<Int64>).map { number in
      let isDifference = number % 7 == 0
      let line = RangeLine(
        time: 0, tag: "tag \(number % 3)", anchor: "A\(number % 4)",
        reference: isDifference ? "A9" : nil,
        [isDifference ? .difference(-1.5) : .distance(Double(number) / 50)],
        deviation: number % 2 == 0 ? 0.1 : nil, blocked: number % 5 == 0 ? 0.5 : 0)
      return HistoryMeasurement(time: 1000 * start + 10_000 * number, line)
    }
  }

  /// Reads damaged copies of the file.
  package mutating func run(_ count: Int) throws -> Result {
    var result = Result(files: count)
    for _ in 0..<count {
      try Data(damaged()).write(to: file)
      do throws(HistoryFailure) { result.places += try read() } catch {
        result.refused += 1
        let isNamed = "\(error)".contains(file.lastPathComponent)
        if !isNamed, result.wrong.count < 10 { result.wrong.append("\(error)") }
      }
    }
    return result
  }

  private func read() throws(HistoryFailure) -> Int {
    let history = try History(folder)
    var count = 0
    for day in history.days {
      _ = try history.summary(day)
      try history.places(History.Query(), day) { place in
        count += HistoryText.csv(place).isEmpty ? 0 : 1
        return true
      }
      try history.events(History.Query(), day) { event in !HistoryText.text(event).isEmpty }
      try history.measurements(History.Query(), day) { !HistoryText.csv($0).isEmpty }
    }
    return count
  }

  /// Returns the file with one to eight changes: bytes, blocks, and a missing end.
  private mutating func damaged() -> [UInt8] {
    var bytes = whole
    for _ in 0...generator.below(8) where !bytes.isEmpty {
      // The header and the first page have the greatest effect.
      let at = generator.below(generator.below(3) == 0 ? min(bytes.count, 512) : bytes.count)
      switch generator.below(8) {
      case 0: bytes.removeLast(generator.below(bytes.count))
      case 1:
        for index in at..<min(bytes.count, at + generator.below(600)) { bytes[index] = 0 }
      case 2:
        for index in at..<min(bytes.count, at + 8) { bytes[index] = 0xFF }
      default: bytes[at] = UInt8(truncatingIfNeeded: generator.next())
      }
    }
    return bytes
  }
}
