// SPDX-License-Identifier: Apache-2.0

import Estimators
public import Ranging

extension CSVTable {
  /// Computes distances from the six stamps of double-sided ranging (columns `t1` to `t6`).
  ///
  /// If only the final is missing, the distance is single-sided. The clock offset then comes from
  /// other rounds of the peer.
  ///
  /// - Parameters:
  ///   - parameters: the counter of the stamps, and the greatest possible clock error.
  ///   - secondResponse: whether `t5` and `t6` are the stamps of a second response of the
  ///     responder, rather than of a final.
  ///   - calibration: the measured errors of the boards.
  /// - Throws: `LabError` if a column is missing or the calibration does not fit the table.
  public func doubleSidedDistances(
    _ parameters: TwoWayParameters = TwoWayParameters(), secondResponse: Bool = false,
    calibration: RangingCalibration? = nil
  ) throws(LabError) -> ComputedTable<TwoWayDistance> {
    try doubleSided(parameters, secondResponse: secondResponse, calibration: calibration).table()
  }

  /// - Parameter live: whether each result uses only its row and earlier rows.
  package func doubleSided(
    _ parameters: TwoWayParameters, secondResponse: Bool, calibration: RangingCalibration?,
    live: Bool = false
  ) throws(LabError) -> RowComputation<TwoWayDistance> {
    var distances = try TwoWayDistances(
      self, third: secondResponse ? .secondResponse : .final, parameters)
    let correction = try distances.correction(calibration)
    // The clock offset from these polls is also used for earlier rows.
    let clocks = live ? [:] : distances.clocks(inFirst: 100)
    var responders = RecentPeers<ResponderRanging>(limit: live ? 5000 : .max)
    return distances.computation("Double-sided two-way ranging", correction) {
      [distances] exchange, result, _ in
      let first = ResponderRanging(parameters, clock: clocks[result.peer])
      responders.update(result.peer, from: first) {
        result.setDistance(of: exchange, &$0, comparesPolls: distances.canCompare(result))
      }
    }
  }

  /// Computes distances from the four stamps of single-sided ranging (columns `t1` to `t4`).
  ///
  /// - Parameters:
  ///   - parameters: the counter of the stamps, and the greatest possible clock error.
  ///   - secondResponse: whether `t5` and `t6` are the stamps of a second response of the
  ///     responder, which determines the clock offset.
  ///   - calibration: the measured errors of the boards.
  ///   - powerBias: the bias at each received level; nil: the bias in the calibration.
  /// - Throws: `LabError` if a column is missing or the calibration does not fit the table.
  public func singleSidedDistances(
    _ parameters: TwoWayParameters = TwoWayParameters(), secondResponse: Bool = false,
    calibration: RangingCalibration? = nil, powerBias: PowerBias? = nil
  ) throws(LabError) -> ComputedTable<TwoWayDistance> {
    try singleSided(
      parameters, secondResponse: secondResponse, calibration: calibration, powerBias: powerBias
    ).table()
  }

  /// - Parameter live: whether each result uses only its row and earlier rows. A row then has no
  ///   distance until the clock offset of its peer is known.
  package func singleSided(
    _ parameters: TwoWayParameters, secondResponse: Bool, calibration: RangingCalibration?,
    powerBias: PowerBias?, live: Bool = false
  ) throws(LabError) -> RowComputation<TwoWayDistance> {
    var distances = try TwoWayDistances(
      self, third: secondResponse ? .secondResponse : nil, parameters)
    let correction = try distances.correction(calibration) ?? powerBias.map(RangeCorrection.init)
    // The first clock offset of a peer is also used for its earlier rows.
    var first: [String: ClockOffsetTracker] = [:]
    let comparing = RowComputation<TwoWayDistance>.Preparation { [distances] reader, row in
      distances.findClock(&first, row, reader, usesCarrier: true)
    }
    var clocks = RecentPeers<ClockOffsetTracker>(limit: live ? 5000 : .max)
    return distances.computation(
      "Single-sided two-way ranging", correction, prepare: live ? nil : comparing
    ) { [distances] exchange, result, reader in
      let offset = clocks.update(result.peer, from: ClockOffsetTracker(parameters)) {
        distances.update(&$0, by: exchange, result, reader)
        return $0.offset
      }
      result.setDistance(of: exchange, offset ?? first[result.peer]?.offset, parameters)
    }
  }

  /// Fits the delays of peers and the bias at each received level to single-sided distances with
  /// known truth.
  ///
  /// - Parameters:
  ///   - parameters: the counter of the stamps, and the greatest possible clock error.
  ///   - secondResponse: as in `singleSidedDistances`.
  ///   - truth: a column in metres, or a number of metres for all rows.
  /// - Throws: `LabError` if a column is missing, or no row has both a distance and a truth.
  package func singleSidedCalibration(
    _ parameters: TwoWayParameters = TwoWayParameters(), secondResponse: Bool = false, truth: String
  ) throws(LabError) -> RangingCalibration {
    let table = try singleSidedDistances(parameters, secondResponse: secondResponse)
    var reader = table.reader
    let column = Double(truth) == nil ? try reader.require(truth, .length) : nil
    var (ranges, levels) = (KnownRanges(), ReceivedLevels(&reader))
    for row in table.rows {
      let power = levels.update(row, reader)
      guard row.state.isOK, let measured = row.value?.distance,
        let known = column.map({ reader.value(row.row, $0) }) ?? Double(truth)
      else { continue }
      ranges.add(peer: row.peer, measured: measured, truth: known, power: power)
    }
    guard let fit = RangeBiasFit(ranges.list) else {
      throw .insufficient("No row has both a distance and its truth.")
    }
    return ranges.calibration(fit)
  }

  /// Checks that the stamps of polls are in the unit of their column, and that their counter has
  /// the usual 40 bits.
  ///
  /// - The intervals of polls have to agree with the column `time`, if there is one. Intervals of
  ///   nanoseconds or picoseconds that are read as ticks do not.
  /// - A stamp smaller than the previous one has wrapped. The stamps of a counter that wraps have
  ///   to reach its greatest values.
  package func checkPolls() throws(LabError) {
    let reader = TableReader(self)
    let (polls, time) = (try reader.stampColumn(1), reader.lookUp("time", .time))
    var last: [String: (seconds: Double?, stamp: Double)] = [:]
    var (ratios, wrapped, isWide) = ([Double](), Int?.none, false)
    for row in 0..<rowCount where row < 1000 || !isWide {
      guard let stamp = number(row, polls.index).map({ $0 * polls.factor }) else { continue }
      isWide = isWide || !(-0x1p31..<0x1p32 ~= stamp)
      let seconds = reader.value(row, time)
      guard let before = last.updateValue((seconds, stamp), forKey: reader.peer(row)) else {
        continue
      }
      if stamp < before.stamp { wrapped = wrapped ?? row }
      guard row < 1000, stamp > before.stamp, let seconds, let earlier = before.seconds,
        seconds > earlier
      else { continue }
      ratios.append((seconds - earlier) / ((stamp - before.stamp) * DeviceTick.seconds))
    }
    try checkUnit((1...4).map { (try? reader.stampColumn($0))?.name ?? "t\($0)" }, ratios)
    guard let wrapped, !isWide else { return }
    throw .table(
      line(wrapped),
      "\(polls.name) is smaller than before, and no timestamp in the column needs more than 32 bits "
        + "of the usual 40.",
      suggestion: "Give --counter-bits 32 (or 40, if that is right nevertheless).")
  }

  /// - Parameters:
  ///   - stamps: the names of the columns of polls and responses.
  ///   - ratios: the intervals in the column `time`, divided by the intervals of polls.
  private func checkUnit(_ stamps: [String], _ ratios: [Double]) throws(LabError) {
    let ratio = ratios.sorted().dropFirst(ratios.count / 2).first ?? 1
    for unit in ["ns", "ps"] {
      let factor = Quantity.ticks.units.first { $0.suffix == unit }?.factor ?? 1
      guard 0.98 * factor...1.02 * factor ~= ratio else { continue }
      throw .table(
        headerLine,
        "the times of \(stamps[0]) agree with the column of times in \(unit), not in ticks of "
          + "15.65 ps.",
        suggestion: "Give --unit \(stamps.joined(separator: ","))=\(unit) with all "
          + "columns of timestamps.")
    }
  }
}

/// The received level of each peer, filtered to reduce the noise of single frames.
private struct ReceivedLevels {
  private let column: Column?
  private var levels = RecentPeers<LevelTracker>()

  init(_ reader: inout TableReader) { column = reader.find("rx_power", .level) }

  /// Returns the filtered level at a row in dBm.
  mutating func update<Value>(_ row: ComputedRow<Value>, _ reader: TableReader) -> Double? {
    reader.value(row.row, column).map { level in
      levels.update(row.peer, from: LevelTracker()) { $0.update(level, time: row.time) }
    }
  }
}

/// The columns of the stamps of exchanges.
private struct TwoWayDistances {
  /// The frame whose stamps are `t5` and `t6`; nil if they are not used.
  enum ThirdFrame { case final, secondResponse }

  private(set) var reader: TableReader
  private let stamps: [Column]
  private let third: ThirdFrame?
  private let parameters: TwoWayParameters
  private let carrier: Column?
  private let time: Column?
  private let levels: ReceivedLevels

  init(
    _ table: CSVTable, third: ThirdFrame?, _ parameters: TwoWayParameters
  ) throws(LabError) {
    var reader = TableReader(table)
    // The names of columns have precedence over the option.
    let third = reader.hasSecondResponse ? .secondResponse : third
    stamps = try (1...(third == nil ? 4 : 6)).map { number throws(LabError) in
      try reader.stampColumn(number)
    }
    (self.third, self.parameters) = (third, parameters)
    (carrier, time) = (reader.find("cfo", .ratio), reader.find("time", .time))
    levels = ReceivedLevels(&reader)
    self.reader = reader
  }

  mutating func correction(
    _ calibration: RangingCalibration?
  ) throws(LabError) -> RangeCorrection? {
    guard let calibration else { return nil }
    return try RangeCorrection(calibration, &reader)
  }

  /// Returns the computation of all rows.
  ///
  /// - Parameters:
  ///   - prepare: the first pass.
  ///   - set: determines the distance of a row.
  func computation(
    _ title: String, _ correction: RangeCorrection?,
    prepare: RowComputation<TwoWayDistance>.Preparation? = nil,
    _ set: @escaping (TwoWayExchange, inout ComputedRow<TwoWayDistance>, TableReader) -> Void
  ) -> RowComputation<TwoWayDistance> {
    var levels = levels
    return RowComputation(reader, .distances, prepare: prepare) { reader, row in
      var result = begin(row, reader)
      let power = levels.update(result, reader)
      if let exchange = exchange(row, reader, &result.state) { set(exchange, &result, reader) }
      correction?.apply(to: &result, row, power: power, reader)
      return result
    } draw: { [hasTime = time != nil] rows in
      let points = rows.compactMap { row in
        row.value.map {
          Chart.RangePoint(
            peer: row.peer, time: row.time ?? Double(row.row), estimate: $0.distance,
            sigma: $0.standardDeviation)
        }
      }
      return [.ranges(title, hasTime: hasTime, points)]
    }
  }

  private func begin(_ row: Int, _ reader: TableReader) -> ComputedRow<TwoWayDistance> {
    ComputedRow(row: row, peer: reader.peer(row), time: reader.value(row, time))
  }

  /// Returns the exchange of a row. Returns nil if a stamp of poll or response is missing.
  func exchange(
    _ row: Int, _ reader: TableReader, _ state: inout RowStatus
  ) -> TwoWayExchange? {
    let times = stamps.map { reader.stamp(row, $0, &state) } + [nil, nil]
    guard let t1 = times[0], let t2 = times[1], let t3 = times[2], let t4 = times[3] else {
      return nil
    }
    let exchange = TwoWayExchange(
      pollSent: t1, pollReceived: t2, responseSent: t3, responseReceived: t4, finalSent: times[4],
      finalReceived: times[5])
    if let problem = exchange.problem(parameters) {
      state = problem
      return nil
    }
    return exchange.isDoubleSided && third == .secondResponse
      ? exchange.withSecondResponse : exchange
  }

  /// Returns the first clock offset of each peer, from the polls in the first rows.
  func clocks(inFirst count: Int) -> [String: ClockOffset] {
    var clocks: [String: ClockOffsetTracker] = [:]
    for row in 0..<min(count, reader.table.rowCount) {
      findClock(&clocks, row, reader, usesCarrier: false)
    }
    return clocks.compactMapValues(\.offset)
  }

  /// Updates the clock of a row's peer, unless its offset is known already.
  func findClock(
    _ clocks: inout [String: ClockOffsetTracker], _ row: Int, _ reader: TableReader,
    usesCarrier: Bool
  ) {
    var result = begin(row, reader)
    guard clocks[result.peer]?.offset == nil,
      let exchange = exchange(row, reader, &result.state)
    else { return }
    update(
      &clocks[result.peer, default: ClockOffsetTracker(parameters)], by: exchange, result, reader,
      usesCarrier: usesCarrier)
  }

  /// Updates the clock of a peer with an exchange.
  func update(
    _ clock: inout ClockOffsetTracker, by exchange: TwoWayExchange,
    _ row: ComputedRow<TwoWayDistance>, _ reader: TableReader, usesCarrier: Bool = true
  ) {
    let hasCompared =
      canCompare(row)
      && clock.addPoll(sent: exchange.pollSent, received: exchange.pollReceived, time: row.time)
    if usesCarrier, !hasCompared, let offset = reader.value(row.row, carrier) {
      clock.addCarrier(ClockOffset(offset))
    }
  }

  /// Returns whether polls determine the clocks. A counter of 32 bits wraps so often that times are
  /// necessary to count the wraps.
  func canCompare(_ row: ComputedRow<TwoWayDistance>) -> Bool {
    time != nil ? row.time != nil : parameters.counter.bits >= 40
  }
}

extension TableReader {
  /// The names of the stamps t1 to t6: by number, as in recordings of DECAR and in STAR-loc, and by
  /// frame. All may end with `_ts`.
  private static let stampNames = [
    ["t1", "tx1", "poll_tx"], ["t2", "rx1", "poll_rx"], ["t3", "tx2", "resp_tx"],
    ["t4", "rx2", "resp_rx"], ["t5", "tx3", "final_tx", "resp2_tx"],
    ["t6", "rx3", "final_rx", "resp2_rx"],
  ]

  /// Whether the names of the columns show that the third frame is a second response.
  fileprivate var hasSecondResponse: Bool {
    (try? stampColumn(5))?.name.lowercased().hasPrefix("resp2") ?? false
  }

  /// Returns the column of a stamp.
  ///
  /// - Parameter number: 1 to 6.
  fileprivate func stampColumn(_ number: Int) throws(LabError) -> Column {
    let names = Self.stampNames[number - 1]
    for name in names.flatMap({ [$0, $0 + "_ts"] }) {
      if let column = lookUp(name, .ticks) { return column }
    }
    guard number > 4, (1...4).allSatisfy({ (try? stampColumn($0)) != nil }) else {
      return try require("t\(number)", .ticks)
    }
    throw .table(
      table.headerLine,
      "poll and response have their timestamps, but there is no \(names.joined(separator: " or ")): "
        + "the third frame determines the clocks only with both of its timestamps.",
      suggestion: "Use ss-twr, which needs the first four only. "
        + (LabError.missingColumn("t\(number)", of: table).recoverySuggestion ?? ""))
  }
}

extension TwoWayExchange {
  /// Returns the problem of the stamps of poll and response; nil if there is none.
  fileprivate func problem(_ parameters: TwoWayParameters) -> RowStatus? {
    let counter = parameters.counter
    let seconds = counter.interval(from: pollReceived, to: responseSent) * DeviceTick.seconds
    // The data of one frame and the preamble of the next are between the markers of two frames.
    // Stamps in nanoseconds have shorter intervals, and stamps of other clocks intervals of
    // seconds.
    if seconds > 0, !(80e-6...1 ~= seconds) { return .impossibleReply }
    // If the clocks agree, exchanged stamps make frames arrive before they are sent. Half of the
    // difference between round trip and reply is then an error of the clocks, not a flight.
    func flight(_ sent: TickStamp, _ received: TickStamp) -> Double {
      let ticks = counter.interval(from: sent, to: received)
      return (ticks > counter.modulus / 2 ? ticks - counter.modulus : ticks) * DeviceTick.seconds
    }
    let (there, back) = (flight(pollSent, pollReceived), flight(responseSent, responseReceived))
    let isExchanged =
      min(there, back) < -1e-9 && max(there, back) < 20e-6 && abs(there + back) < 1e-9
    return isExchanged ? .exchangedStamps : nil
  }
}

extension [OutputColumn<TwoWayDistance>] {
  fileprivate static var distances: Self {
    [
      .length("distance", \.distance, deviation: \.standardDeviation),
      .number("sigma_m", \.standardDeviation), .number("bias_sigma_m", \.biasDeviation),
    ]
  }
}

extension ComputedRow<TwoWayDistance> {
  /// Sets the distance: double-sided, or single-sided if only the final is missing.
  fileprivate mutating func setDistance(
    of exchange: TwoWayExchange, _ responder: inout ResponderRanging, comparesPolls: Bool
  ) {
    do throws(RangingFailure) {
      let distance = try responder.distance(exchange, time: time, comparesPolls: comparesPolls)
      guard !responder.isReversed(exchange) else { throw .implausibleClocks }
      value = distance
      if !exchange.tellsClocks { state = .result("single_sided") }
    } catch {
      if exchange.tellsClocks || error != .unknownClockOffset { state = .result(error.word) }
    }
  }

  /// Sets the single-sided distance. Without a clock offset, the clocks are assumed to differ by
  /// some ppm, and the deviation includes the resulting error.
  fileprivate mutating func setDistance(
    of exchange: TwoWayExchange, _ offset: ClockOffset?, _ parameters: TwoWayParameters
  ) {
    // The second response of a row may be missing without a problem.
    state = .ok
    do throws(RangingFailure) {
      if let offset, exchange.isReversed(offset, parameters) { throw .implausibleClocks }
      value = try exchange.distance(
        offset: offset ?? ClockOffset(0, standardDeviation: 10e-6), parameters)
    } catch {
      state = .result(error.word)
    }
    if offset == nil, !exchange.tellsClocks, state.isOK {
      state = .result(RangingFailure.unknownClockOffset.word)
    }
  }
}

extension RangingFailure {
  /// The word for programs that read the table.
  fileprivate var word: String {
    switch self {
    case .missingStamp: "missing_stamp"
    case .emptyInterval: "empty_interval"
    case .implausibleClocks: "implausible_clocks"
    case .unknownClockOffset: "unknown_clock_offset"
    case .negativeDistance: "negative_distance"
    case .tooFar: "too_far"
    }
  }
}
