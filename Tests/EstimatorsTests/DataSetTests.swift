// SPDX-License-Identifier: Apache-2.0
import Estimators
import FoundationEssentials
import Ranging
import Testing
import UWBTestSupport

/// Public recordings with ground truth, where they are available: the folder in UWB_DATASETS, or
/// ../shared/datasets.
private enum DataSets {
  static let folder = ProcessInfo.processInfo.environment["UWB_DATASETS"] ?? "../shared/datasets"
  static func has(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(folder)/\(name)")
  }

  /// The rows of a CSV file by the names of its columns.
  static func rows(_ path: String) throws -> [[String: String]] {
    let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    let lines = text.split(whereSeparator: \.isNewline)
    guard let names = lines.first?.split(separator: ",").map(String.init) else { return [] }
    return lines.dropFirst().map { line in
      let cells = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      return Dictionary(zip(names, cells), uniquingKeysWith: { first, _ in first })
    }
  }
}

@Suite(.computes) struct DataSetTests {
  /// Ranges of one kind of path, corrected for the clocks, with the filtered level.
  private func ranges(_ kind: String, _ distances: [Int]) throws -> [KnownRange] {
    var parameters = TwoWayParameters()
    parameters.counter = TickCounter(bits: 32)
    let root = "\(DataSets.folder)/hanyang/Static_measurements/\(kind)"
    var result: [KnownRange] = []
    for folder in try FileManager.default.contentsOfDirectory(atPath: root).sorted() {
      guard let height = Double(folder.dropFirst("height_".count).dropLast(2)) else { continue }
      for distance in distances {
        var clock = ClockOffsetTracker(parameters)
        var level = LevelTracker()
        let up = height / 100 - 1
        let truth = (Double(distance * distance) + up * up).squareRoot()
        for row in try DataSets.rows("\(root)/\(folder)/\(distance)m.csv") {
          func number(_ name: String) -> Double? { row[name].flatMap { Double($0) } }
          func stamp(_ name: String) -> TickStamp? {
            number(name).flatMap { TickStamp(exactly: $0) }
          }
          guard let time = number("timestamp"), let power = number("RSSI(dBm)"),
            let chip = number("Distance"), let t1 = stamp("poll_tx_ts"),
            let t2 = stamp("poll_rx_ts"), let t3 = stamp("resp_tx_ts"),
            let t4 = stamp("resp_rx_ts")
          else { continue }
          clock.addPoll(sent: t1, received: t2, time: time)
          let filtered = level.update(power, time: time)
          let exchange = TwoWayExchange(
            pollSent: t1, pollReceived: t2, responseSent: t3, responseReceived: t4)
          guard let offset = clock.offset,
            let measured = try? exchange.distance(offset: offset, parameters).distance,
            abs(measured - chip) < 5
          else { continue }
          result.append(KnownRange(measured: measured, truth: truth, power: filtered))
        }
      }
    }
    return result
  }

  /// DW1000 outdoors: the results of half of the distances hold at the other half.
  @Test(.enabled(if: DataSets.has("hanyang"), "no data sets in \(DataSets.folder)"))
  func `Single-sided ranging outdoors`() throws {
    let learned = try ranges("LOS", [4, 12, 20, 28, 36, 44, 52, 60])
    let fit = try #require(RangeBiasFit(learned))
    let others = [8, 16, 24, 32, 40, 48, 56]
    func check(_ kind: String, _ rms: Double, _ median: Double, _ percentile: Double) throws {
      let rests = FitResiduals(
        try ranges(kind, others).map {
          $0.measured - $0.truth - fit.delays[0] - fit.powerBias.bias(at: $0.power ?? 0)
        })
      #expect(
        rests.rms < rms && rests.median < median && rests.percentile95 < percentile,
        "\(kind): \(rests)")
    }
    try check("LOS", 0.047, 0.032, 0.093)
    try check("NLOS", 0.085, 0.048, 0.155)
  }
}
