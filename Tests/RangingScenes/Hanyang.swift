// SPDX-License-Identifier: Apache-2.0
package import Estimators
package import Ranging

/// DW1000 outdoors: cucudasluv/UWB-dataset (Apache-2.0), Sci. Data 2025.
package struct Hanyang {
  private let folder: String

  /// Returns nil if the recording does not exist.
  package init?(_ recordings: Recordings) {
    guard recordings.has("hanyang") else { return nil }
    folder = recordings.folder + "/hanyang"
  }

  /// One exchange with a tag that stands still.
  package struct Exchange {
    /// The number of the stand from 0, and the taped distance in metres from the file's name.
    package var stand: Int
    package var taped: Int
    package var time: Double
    package var exchange: TwoWayExchange
    /// The distance that the chip computed.
    package var chip: Double
    package var power: Double
    package var firstPathPower: Double
    /// The distance between the antennas. The taped distance is horizontal.
    package var truth: Double
  }

  /// All exchanges of one kind of path: LOS or NLOS.
  package func exchanges(_ kind: String) -> [Exchange] {
    let root = "\(folder)/Static_measurements/\(kind)"
    var result: [Exchange] = []
    var stand = 0
    for height in Recordings.names(root) {
      guard let centimetres = Double(height.dropFirst("height_".count).dropLast(2)) else {
        continue
      }
      let up = centimetres / 100 - 1
      for file in Recordings.names("\(root)/\(height)") {
        guard let taped = Int(file.dropLast("m.csv".count)),
          let table = RecordedTable("\(root)/\(height)/\(file)"),
          let columns = Self.columns(table)
        else { continue }
        let truth = (Double(taped * taped) + up * up).squareRoot()
        for row in table.rows {
          let cells = columns.map { $0 < row.count ? row[$0] : .nan }
          let stamps = cells[4...].compactMap { TickStamp(exactly: $0) }
          guard stamps.count == 4, cells[..<4].allSatisfy(\.isFinite) else { continue }
          result.append(
            Exchange(
              stand: stand, taped: taped, time: cells[0],
              exchange: TwoWayExchange(
                pollSent: stamps[0], pollReceived: stamps[1], responseSent: stamps[2],
                responseReceived: stamps[3]),
              chip: cells[1], power: cells[2], firstPathPower: cells[3], truth: truth))
        }
        stand += 1
      }
    }
    return result
  }

  private static func columns(_ table: RecordedTable) -> [Int]? {
    let names = [
      "timestamp", "Distance", "RSSI(dBm)", "RSSI_fp(dBm)", "poll_tx_ts", "poll_rx_ts",
      "resp_tx_ts", "resp_rx_ts",
    ]
    let found = names.compactMap(table.column)
    return found.count == names.count ? found : nil
  }

  /// A tag that is moved among four anchors.
  package struct Walk {
    package var name: String
    package var samples: [PositionSample] = []
    package var truth: [(time: Double, position: SIMD3<Double>)] = []
    /// The position that the authors computed.
    package var leastSquares: [(time: Double, position: SIMD3<Double>)] = []
    package var kalman: [(time: Double, position: SIMD3<Double>)] = []
  }

  /// All walks of one kind of path: LOS or NLOS.
  package func walks(_ kind: String) -> [Walk] {
    let root = "\(folder)/Dynamic_measurements/\(kind)/Trajectory_A"
    return Recordings.names(root).map { name in
      var walk = Walk(name: "\(kind) \(name)")
      // Sums of nanoseconds since 1970 have no digits left for fractions of a second.
      var start: Double?
      for file in Recordings.names("\(root)/\(name)") {
        guard file.hasPrefix("A"), let source = Int(file.dropFirst().dropLast(4)),
          let table = RecordedTable("\(root)/\(name)/\(file)")
        else { continue }
        for row in table.rows where row.count >= 9 && row[1].isFinite {
          let from = start ?? row[1]
          start = from
          walk.samples.append(
            PositionSample(
              time: (row[1] - from) * 1e-9,
              observation: PositionObservation(
                .range(SIMD3<Double>(row[3], row[4], row[5])), row[6]),
              source: source))
        }
      }
      walk.samples.sort { $0.time < $1.time }
      func track(_ file: String) -> [(time: Double, position: SIMD3<Double>)] {
        guard let table = RecordedTable("\(root)/\(name)/\(file).csv") else { return [] }
        return table.rows.filter { $0.count >= 4 }.map { row in
          ((row[0] - (start ?? 0)) * 1e-9, SIMD3<Double>(row[1], row[2], row[3]))
        }
      }
      walk.truth = track("trajectory")
      walk.leastSquares = track("LS")
      walk.kalman = track("ESKF")
      return walk
    }
  }
}
