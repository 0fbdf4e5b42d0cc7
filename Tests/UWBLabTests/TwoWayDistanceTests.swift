// SPDX-License-Identifier: Apache-2.0

import Ranging
import Testing
import UWBLab
import UWBTestSupport

@Suite(.computes) struct TwoWayDistanceTests {
  private func doubleSided(
    _ text: String, bits: Int = 40, secondResponse: Bool = false
  ) throws -> ComputedText {
    try ComputedText(
      try CSVTable(text: text).doubleSidedDistances(
        Self.parameters(bits), secondResponse: secondResponse))
  }

  private func singleSided(
    _ text: String, bits: Int = 40, secondResponse: Bool = false,
    calibration: RangingCalibration? = nil
  ) throws -> ComputedText {
    try ComputedText(
      try CSVTable(text: text).singleSidedDistances(
        Self.parameters(bits), secondResponse: secondResponse, calibration: calibration))
  }

  private static func parameters(_ bits: Int) -> TwoWayParameters {
    var parameters = TwoWayParameters()
    parameters.counter = TickCounter(bits: bits)
    return parameters
  }

  // 10 m (2132.05 ticks), replies of 2 and 8 ms, clocks without offset.
  private let exchange = "0,2132,127797332,127799464,638980264,638982396"

  @Test func doubleSided() throws {
    let run = try doubleSided(
      """
      note,t6,t5,t4,t3,t2,t1
      "a, b",638982396,638980264,127799464,127797332,2132,0
      """)
    #expect(run.header.suffix(4) == ["distance_m", "sigma_m", "bias_sigma_m", "status"])
    let whole = try doubleSided("t1,t2,t3,t4,t5,t6,x\n\(exchange),kept\n")
    #expect(
      whole.header == [
        "t1", "t2", "t3", "t4", "t5", "t6", "x", "distance_m", "sigma_m", "bias_sigma_m", "status",
      ])
    #expect(whole.rows[0]["x"] == "kept" && whole.rows[0]["status"] == "ok")
    #expect(abs(whole.numbers("distance_m")[0] - 9.9998) < 1e-3)
    // 1.94 cm of noise, and the deviation of the antennas.
    #expect(whole.numbers("bias_sigma_m") == [0.3])
    #expect(abs(whole.numbers("sigma_m")[0] - 0.3006) < 1e-4)
  }

  /// The distance is 10 m, the initiator's clock is 20 ppm fast, replies take 2 ms, and another
  /// response follows 5 ms later. Single-sided ranging without the clock offset would be wrong by 6
  /// m.
  private let secondResponse = "0,900002132,1027797332,127802020,1347285332,447296410"

  /// Returns rounds as rows of `time_s` and stamps. The two clocks may have begun to count
  /// together. A row has the stamps of the poll and the response. The stamps of a final or of a
  /// second response may follow.
  private func rounds(
    third: Third?, metres: Double, reply: Double, startOfResponder: Double, counting: Double = 1,
    interval: Double = 0.1, fast: Double = 5e-6, bits: Int = 62
  ) -> [(time: String, stamps: [String])] {
    let flight = metres / SpeedOfLight.inAir
    let fast = startOfResponder == 0 ? 0 : fast
    return (0..<12).map { round in
      let start = 1 + interval * Double(round)
      func initiator(_ time: Double) -> Double { (start + time) * (1 + fast) }
      func responder(_ time: Double) -> Double { startOfResponder + start + time }
      var stamps = [
        initiator(0), responder(flight), responder(flight + reply), initiator(2 * flight + reply),
      ]
      let later = 2 * flight + 2.5 * reply
      switch third {
      case .final: stamps += [initiator(later), responder(later + flight)]
      case .response: stamps += [responder(later), initiator(later + flight)]
      case nil: break
      }
      // The counter runs at 128 · 499.2 MHz.
      return (
        "\(start)",
        stamps.map { stamp in
          let ticks = (stamp * 63_897_600_000 * counting).rounded()
          return "\(ticks.truncatingRemainder(dividingBy: Double(1 << bits)))"
        }
      )
    }
  }

  /// Without times, polls are so far apart that the computation misses a wrap of the counter. The
  /// wrong clock offsets then refuse no row.
  @Test(arguments: [(40, 60.0), (40, 18), (32, 0.1), (32, 0.2), (32, 0.5), (32, 1)])
  private func missedTurnsOfTheCounterRefuseNothing(bits: Int, interval: Double) throws {
    for (metres, ppm) in [(2.0, 3.0), (5, 5), (2, 6), (5, 2), (5, 4), (8, 9)] {
      let rounds = rounds(
        third: .final, metres: metres, reply: 1e-3, startOfResponder: 4.2, interval: interval,
        fast: ppm * 1e-6, bits: bits)
      let table = ([(1...6).map { "t\($0)" }] + rounds.map(\.stamps))
        .map { $0.joined(separator: ",") }.joined(separator: "\n")
      var parameters = TwoWayParameters()
      parameters.counter = TickCounter(bits: bits)
      let rows = try CSVTable(text: table).doubleSidedDistances(parameters).rows
      #expect(
        rows.allSatisfy { $0.status == "ok" && abs(($0.value?.distance ?? 0) - metres) < 0.1 },
        "\(metres) \(ppm)")
    }
  }

  private enum Third: CaseIterable { case final, response }

  /// The table exchanges any two columns of stamps, in each protocol, with and without times.
  /// Wherever the computation does not detect the exchange, distances are right.
  @Test(arguments: [nil, .final, .response] as [Third?])
  private func exchangedColumns(third: Third?) throws {
    for (start, metres, reply) in [(4.2, 3.0, 1e-3), (0, 3, 1e-3), (11, 30, 3e-4), (0, 30, 5e-3)] {
      let rounds = rounds(third: third, metres: metres, reply: reply, startOfResponder: start)
      let count = rounds[0].stamps.count
      for (first, second) in (0..<count).flatMap({ a in (a..<count).map { (a, $0) } })
      where first != second || first == 0 {
        for hasTimes in [true, false] {
          var header = (1...count).map { "t\($0)" }
          header.swapAt(first, second)
          let table = ([(time: "time_s", stamps: header)] + rounds).map { row in
            ((hasTimes ? [row.time] : []) + row.stamps).joined(separator: ",")
          }.joined(separator: "\n")
          for isDoubleSided in [true, false] where count == 6 || !isDoubleSided {
            let rows =
              try isDoubleSided
              ? CSVTable(text: table).doubleSidedDistances(secondResponse: third == .response).rows
              : CSVTable(text: table).singleSidedDistances(secondResponse: third == .response).rows
            #expect(
              rows.allSatisfy { row in
                row.status != "ok" || row.value.map { abs($0.distance - metres) < 0.3 } ?? false
              }, "t\(first + 1) t\(second + 1) \(start) \(reply) \(isDoubleSided)")
            #expect(first != second || rows.allSatisfy { $0.status == "ok" })
          }
        }
      }
    }
  }

  @Test func unitsOfStamps() throws {
    func table(_ unit: String, _ counting: Double, time: Bool = true) -> String {
      let rounds = rounds(
        third: .final, metres: 10, reply: 1e-3, startOfResponder: 0.1, counting: counting)
      let header = (time ? ["time_s"] : []) + (1...6).map { "t\($0)\(unit)" }
      return ([header] + rounds.map { (time ? [$0.time] : []) + $0.stamps })
        .map { $0.joined(separator: ",") }.joined(separator: "\n")
    }
    // Columns in picoseconds have a suffix, and so have columns in nanoseconds, which are rounded
    // to 30 cm here.
    for (unit, counting, error) in [
      ("_ticks", 1, 0.01), ("_ps", 15.6500, 0.01), ("_ns", 0.01565, 0.4),
    ] {
      let run = try doubleSided(table(unit, counting))
      #expect(
        run.numbers("distance_m").allSatisfy { abs($0 - 10) < error }, "\(unit)")
      #expect(run.rows.count { $0["status"] == "ok" } == 12)
    }
    // An option replaces the suffix.
    var format = CSVTable.Format()
    let isSet = (format.setUnits("t1,t2,T3,t4,t5,t6=ps"), format.setUnits("t1=hours"))
    #expect(isSet == (true, false))
    let named = try CSVTable(Array(table("", 15.65).utf8), format).doubleSidedDistances()
    #expect(named.rows.allSatisfy { abs(($0.value?.distance ?? 0) - 10) < 0.01 })
    // Without an option and a suffix, the stamps mean replies shorter than a frame.
    for counting in [0.01565, 1.565e-5] {
      let found = try CSVTable(text: table("", counting, time: false)).doubleSidedDistances()
      #expect(found.rows.allSatisfy { $0.status == "implausible_reply" })
      #expect(found.problem?.recoverySuggestion?.contains("--unit") == true)
    }
  }

  @Test(arguments: [
    ("t1\n1\n2\n4294967290\n3\n", 5), ("t1,peer\n5,a\n4,b\n6,a\n3,b\n", 5), ("t1_ns\n9\n2\n", 3),
    ("t1\n1\n2\n5000000000\n3\n", nil), ("t1,peer\n5,a\n4,b\n", nil),
    ("t1\n-2147483649\n1\n0\n", nil),
  ])
  func aCounterThatWrapsNeedsItsWidth(_ text: String, line: Int?) throws {
    let table = try CSVTable(text: text)
    guard let line else {
      #expect(throws: Never.self) { try table.checkPolls() }
      return
    }
    let error = #expect(throws: LabError.self) { try table.checkPolls() }
    #expect(error?.line == line)
    #expect(error?.recoverySuggestion?.contains("--counter-bits 32") == true)
  }

  @Test(arguments: [("ns", 100_000_000), ("ps", 100_000_000_000), ("ticks", 6_389_760_000)])
  func timestampsAgreeWithTheColumnOfTimes(_ unit: String, each: Int) throws {
    let table = try CSVTable(text: "time_s,t1\n0,0\n0.1,\(each)\n0.2,\(2 * each)\n")
    guard unit != "ticks" else {
      #expect(throws: Never.self) { try table.checkPolls() }
      return
    }
    let error = #expect(throws: LabError.self) { try table.checkPolls() }
    #expect(error?.recoverySuggestion?.contains("--unit t1,t2,t3,t4=\(unit)") == true)
    let named = try CSVTable(text: "time_s,t1_\(unit)\n0,0\n0.1,\(each)\n0.2,\(2 * each)\n")
    #expect(throws: Never.self) { try named.checkPolls() }
  }

  @Test func aSecondResponseTellsTheClocks() throws {
    for table in [
      "t1,t2,t3,t4,t5,t6\n\(secondResponse)\n",
      "t6,t5,t4,t3,t2,t1\n"
        + secondResponse.split(separator: ",").reversed().joined(separator: ",") + "\n",
    ] {
      for run in [
        try doubleSided(table, secondResponse: true), try singleSided(table, secondResponse: true),
      ] {
        #expect(run.rows[0]["status"] == "ok")
        #expect(abs(run.numbers("distance_m")[0] - 10) < 0.01)
        #expect(run.numbers("sigma_m")[0] > 0.3)
      }
    }
    // As a stamp of a final, the second response contradicts the clocks, and the advice names the
    // option.
    let taken = try CSVTable(text: "t1,t2,t3,t4,t5,t6\n\(secondResponse)\n").doubleSidedDistances()
    #expect(taken.rows[0].status == "implausible_clocks")
    #expect(taken.problem?.recoverySuggestion?.contains("--second-response") == true)
    // Single-sided ranging does not use the stamps of a final.
    let rows = try singleSided(
      "t1,t2,t3,t4,t5,t6\n\(exchange)\n\(exchange.replacing("638982396", with: ""))\n")
    #expect(rows.rows.allSatisfy { abs((Double($0["distance_m"] ?? "") ?? 0) - 10) < 0.01 })
    // Where the clocks agree, the command accepts a final as a second response.
    let same = "t1,t2,t3,t4,t5,t6\n0,2132,127797332,127799464,638980264,638982396\n"
    #expect(abs(try singleSided(same, secondResponse: true).numbers("distance_m")[0] - 10) < 0.01)
    #expect(abs(try doubleSided(same).numbers("distance_m")[0] - 10) < 0.01)
    // Both ends began to count together. Even clocks that agree within a microsecond show that the
    // message is a second response.
    let near = (0..<5).map { round in
      // Each round is a tenth of a second later, in which the initiator counts 20 ppm more.
      let (own, other) = (6_389_887_795 * round, 6_389_760_000 * round)
      let stamps = [0, 66_000, 127_861_200, 127_802_020, 447_349_200, 447_296_410]
      let shifts = [own, other, other, own, other, own]
      return zip(stamps, shifts).map { "\($0 + $1)" }.joined(separator: ",")
    }
    let rows5 = try doubleSided(
      "t1,t2,t3,t4,t5,t6\n" + near.joined(separator: "\n") + "\n", secondResponse: true)
    #expect(rows5.numbers("distance_m").allSatisfy { abs($0 - 10) < 0.05 })
    // The clock offset is greater than any crystal's.
    let broken = secondResponse.replacing("447296410", with: "450296410")
    let text = "t1,t2,t3,t4,t5,t6\n\(broken)\n"
    #expect(try doubleSided(text, secondResponse: true).rows[0]["status"] == "implausible_clocks")
  }

  /// Columns as recordings name them: DECAR and STAR-loc, IIoT-20, and the firmware of a vendor.
  @Test func stampsAsRecordedSetsNameThem() throws {
    let cells = secondResponse.split(separator: ",").map(String.init)
    for names in [
      "tx1,rx1,tx2,rx2,tx3,rx3", "poll_tx,poll_rx,resp_tx,resp_rx,resp2_tx,resp2_rx",
      "Poll_TX_ts,poll_rx_ts,resp_tx_ts,resp_rx_ts,resp2_tx_ts,resp2_rx_ts",
    ] {
      let isNamed = names.contains("resp2")
      let run = try doubleSided(
        "from_id,to_id,\(names)\n1,2,\(secondResponse)\n", secondResponse: !isNamed)
      #expect(run.rows[0]["status"] == "ok")
      #expect(abs(run.numbers("distance_m")[0] - 10) < 0.01)
      let single = try singleSided("\(names)\n\(secondResponse)\n", secondResponse: !isNamed)
      #expect(abs(single.numbers("distance_m")[0] - 10) < 0.01)
    }
    let final = try doubleSided(
      "poll_tx,poll_rx,resp_tx,resp_rx,final_tx,final_rx\n\(exchange)\n")
    #expect(abs(final.numbers("distance_m")[0] - 9.9998) < 1e-3)
    // A counter of 32 bits in nanoseconds wraps within an exchange.
    let wide = cells.map { ticks in
      let low = ((UInt64(ticks) ?? 0) + 4_294_000_000) & 0xFFFF_FFFF
      return "\(Double(low) / 63.8976)"
    }.joined(separator: ",")
    let starLoc = try doubleSided(
      "tx1_ns,rx1_ns,tx2_ns,rx2_ns,tx3_ns,rx3_ns\n\(wide)\n", bits: 32, secondResponse: true)
    #expect(starLoc.rows[0]["status"] == "ok")
    #expect(abs(starLoc.numbers("distance_m")[0] - 10) < 0.05)
  }

  /// Each pair of boards has its own clocks.
  @Test func pairsAreToldByBothEnds() throws {
    let own = rounds(third: .final, metres: 3, reply: 1e-3, startOfResponder: 4.2, fast: 5e-6)
    let other = rounds(third: .final, metres: 7, reply: 1e-3, startOfResponder: 11, fast: -8e-6)
    var text = "from_id,to_id,tx1,rx1,tx2,rx2,tx3,rx3\n"
    for (first, second) in zip(own, other) {
      text += "1,5,\(first.stamps.joined(separator: ","))\n"
      text += "2,5,\(second.stamps.joined(separator: ","))\n"
    }
    let rows = try CSVTable(text: text).doubleSidedDistances().rows
    for row in rows {
      let metres = row.peer == "1-5" ? 3.0 : 7
      #expect(row.status == "ok" && abs((row.value?.distance ?? 0) - metres) < 0.1, "\(row.peer)")
    }
  }

  @Test func fiveTimestampsDoNotDetermineTheClocks() throws {
    let cells = exchange.split(separator: ",").prefix(5).joined(separator: ",")
    let error = #expect(throws: LabError.self) {
      try doubleSided("tx1,rx1,tx2,rx2,rx3\n\(cells)\n")
    }
    #expect(error?.description.contains("no t5 or tx3 or final_tx") == true)
    #expect(error?.recoverySuggestion?.contains("ss-twr") == true)
    let missing = #expect(throws: LabError.self) { try doubleSided("tx1,rx1,tx2\n1,2,3\n") }
    #expect(missing?.description == "The input has no column t4.")
  }

  @Test func theDeviationSaysWhatACalibrationCannotKnow() throws {
    func sigma(
      _ calibration: RangingCalibration?, peer: String = "7"
    ) throws -> (whole: Double, bias: Double) {
      let run = try ComputedText(
        try CSVTable(text: "peer,t1,t2,t3,t4,t5,t6\n\(peer),\(exchange)\n")
          .doubleSidedDistances(Self.parameters(40), calibration: calibration))
      return (run.numbers("sigma_m")[0], run.numbers("bias_sigma_m")[0])
    }
    var calibration = RangingCalibration()
    calibration.delay = 0.2
    let (raw, one) = (try sigma(nil), try sigma(calibration))
    #expect(raw.bias == 0.3 && 0.08...0.085 ~= one.bias && 0.11...0.12 ~= one.whole)
    // The delays of other peers give an approximation for a new one.
    calibration.peerDelays = ["7": 0.1, "8": 0.5]
    let (known, unknown) = (try sigma(calibration), try sigma(calibration, peer: "9"))
    #expect(known.whole == one.whole && known.bias == one.bias)
    #expect(unknown.bias > 0.28 && unknown.whole > unknown.bias)
  }

  /// Filters do not remove constant errors, and do not treat them as noise.
  @Test(arguments: [false, true])
  func aFilterKeepsTheConstantPart(live: Bool) throws {
    let lines = (0..<50).map { "\(Double($0) / 10),5,0.3006,0.3" }
    let rows = lines.joined(separator: "\n")
    let run = try ComputedText(
      try CSVTable(text: "time_s,range_m,sigma_m,bias_sigma_m\n\(rows)\n")
        .filteredRanges(live: live))
    let plain = try ComputedText(
      try CSVTable(text: "time_s,range_m,sigma_m\n\(rows.replacing("0.3006,0.3", with: "0.019"))\n")
        .filteredRanges(live: live))
    for (found, own) in zip(run.numbers("sigma_m"), plain.numbers("sigma_m")) {
      #expect(abs(found * found - own * own - 0.09) < 1e-3)
    }
  }

  @Test func signedStampsOf32Bits() throws {
    // The poll is sent 100 ticks before the counter wraps, the other frames after it.
    let run = try doubleSided(
      "t1,t2,t3,t4,t5,t6\n-100,2147483647,-2019688449,127799364,638980164,-1508503385.0\n",
      bits: 32)
    #expect(run.column("status") == ["ok"])
    #expect(abs(run.numbers("distance_m")[0] - 9.9998) < 2e-3)
  }

  @Test func badRowsHaveAReason() throws {
    let run = try doubleSided(
      """
      t1,t2,t3,t4,t5,t6
      \(exchange)
      ,2132,127797332,127799464,638980264,638982396
      0,2132,ts: 5,127799464,638980264,638982396
      0,0,0,0,0,0
      0,2132,127797332,127799464,638980264,999982396
      0,2132

      # a comment
      nan,inf,127797332,127799464,638980264,638982396
      \(exchange),too,many
      """)
    #expect(
      run.column("status") == [
        "ok", "missing_t1", "invalid_t3", "empty_interval", "implausible_clocks", "missing_t3",
        "invalid_t1", "ok",
      ])
    #expect(
      run.column("distance_m").map(\.isEmpty) == [false, true, true, true, true, true, true, false])
  }

  @Test func aMissingFinalFallsBackToSingleSided() throws {
    let run = try doubleSided(
      """
      peer,t1,t2,t3,t4,t5,t6
      7,\(exchange)
      8,0,2132,127797332,127799464,,
      7,1000000000,1000002132,1127797332,1127799464,,
      """)
    #expect(run.column("status") == ["ok", "missing_t5", "single_sided"])
    #expect(abs(run.numbers("distance_m")[2] - 10) < 1e-2)
  }

  @Test func missingColumnsAreErrors() throws {
    for text in ["t1,t2,t3\n1,2,3\n", ""] {
      let error = #expect(throws: LabError.self) { try doubleSided(text) }
      #expect(error?.code == .badTable)
    }
    #expect(try doubleSided("t1,t2,t3,t4,t5,t6\n").rows.isEmpty)
  }

  /// Returns single-sided rounds at 10 Hz with replies of 1 ms. The initiator's clock is 10 ppm
  /// fast.
  private func singleSidedTable(_ distances: [Double], power: (Int) -> Double = { _ in -80 })
    -> String
  {
    var text = "time_s,t1,t2,t3,t4,rx_power_dbm,distance_m\n"
    for (index, distance) in distances.enumerated() {
      let flight = distance / 299_702_547
      let start = Double(index) * 0.1
      func own(_ time: Double) -> Int64 {
        Int64((time * (1 + 10e-6) * 63.8976e9).rounded()) & 0xFFFF_FFFF
      }
      func other(_ time: Double) -> Int64 {
        Int64((time * 63.8976e9).rounded() + 5e8) & 0xFFFF_FFFF
      }
      text += "\(start),\(own(start)),\(other(start + flight)),\(other(start + flight + 1e-3)),"
      text += "\(own(start + 2 * flight + 1e-3)),\(power(index)),\(distance)\n"
    }
    return text
  }

  @Test func singleSidedComparesPolls() throws {
    let truth = (0..<20).map { 5 + Double($0) }
    let run = try singleSided(singleSidedTable(truth), bits: 32)
    #expect(run.column("status").allSatisfy { $0 == "ok" })
    #expect(run.numbers("input_distance_m") == truth)
    for (found, known) in zip(run.numbers("distance_m"), truth) {
      #expect(abs(found - known) < 0.02)
    }
  }

  @Test func theCarrierOffsetIsUsedWithoutComparablePolls() throws {
    let text = """
      t1,t2,t3,t4,cfo_ppm
      0,5000002132,5063899732,63902503,10
      0,5000002132,5063899732,63902503,
      """
    let run = try singleSided(text, bits: 32)
    #expect(abs(run.numbers("distance_m")[0] - 10) < 0.01)
    let unknown = try singleSided("t1,t2,t3,t4\n0,5000002132,5063899732,63902503\n")
    #expect(unknown.column("status") == ["unknown_clock_offset"])
    #expect(unknown.numbers("sigma_m")[0] > 1)
  }

  @Test func aLearnedCalibrationCorrectsDistances() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = folder.path("calibration.json")
    let text = singleSidedTable((0..<60).map { 2 + Double($0) / 4 }) { -70 - Double($0) / 3 }
    // The truth is shorter by half a metre, or by less at strong signals.
    let lines = text.split(separator: "\n").enumerated().map { index, line in
      guard index > 0 else { return "\(line),truth_m" }
      let cells = line.split(separator: ",")
      let shift = 0.5 - 0.005 * (Double(cells[5])! + 80)
      return "\(line),\(Double(cells[6])! - shift)"
    }
    let table = lines.joined(separator: "\n")
    try CSVTable(text: table).singleSidedCalibration(Self.parameters(32), truth: "truth_m")
      .write(to: file)
    let run = try singleSided(table, bits: 32, calibration: try RangingCalibration(file: file))
    for (found, truth) in zip(run.numbers("distance_m"), run.numbers("truth_m")) {
      #expect(abs(found - truth) < 0.03)
    }
    #expect(throws: LabError.self) {
      try singleSided(table, calibration: RangingCalibration())
    }
  }
}
