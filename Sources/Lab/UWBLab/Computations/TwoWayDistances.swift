// SPDX-License-Identifier: Apache-2.0

public import Ranging

extension CSVTable {
  /// Computes distances from the six stamps of double-sided ranging (columns `t1` to `t6`).
  ///
  /// Where only the final is missing, the distance is single-sided, with the clock offset from
  /// other rounds of the same peer.
  ///
  /// - Throws: `LabError` when a column is missing or the calibration does not fit the table.
  public func doubleSidedDistances(
    _ parameters: TwoWayParameters = TwoWayParameters(), calibration: RangingCalibration? = nil
  ) throws(LabError) -> ComputedTable<TwoWayDistance> {
    var distances = try TwoWayDistances(self, stamps: 6, parameters)
    let correction = try calibration.map { calibration throws(LabError) in
      try RangeCorrection(calibration, &distances.reader)
    }
    distances.computeDoubleSided(parameters)
    if let correction { distances.apply(correction) }
    return distances.result("Double-sided two-way ranging")
  }

  /// Returns the results of `doubleSidedDistances`, row by row.
  package func liveDoubleSidedDistances(
    _ parameters: TwoWayParameters, calibration: RangingCalibration?
  ) throws(LabError) -> RowComputation<TwoWayDistance> {
    var distances = try TwoWayDistances(self, stamps: 6, parameters)
    let correction = try calibration.map { calibration throws(LabError) in
      try RangeCorrection(calibration, &distances.reader)
    }
    var responders: [String: ResponderRanging] = [:]
    return RowComputation(distances.reader, .distances) { reader, row in
      var (result, power) = distances.take(row, reader)
      if let exchange = distances.exchange(row, reader, &result.state) {
        result.setDistance(
          of: exchange, &responders[result.peer, default: ResponderRanging(parameters)],
          comparesPolls: distances.canCompare(result))
      }
      correction?.apply(to: &result, row, power: power, reader)
      return result
    }
  }

  /// Returns single-sided distances, row by row. Unlike with a whole table, rows before the clock
  /// of a peer is known have no distance.
  package func liveSingleSidedDistances(
    _ parameters: TwoWayParameters, calibration: RangingCalibration?, powerBias: PowerBias?
  ) throws(LabError) -> RowComputation<TwoWayDistance> {
    var distances = try TwoWayDistances(self, stamps: 4, parameters)
    var correction = powerBias.map(RangeCorrection.init)
    if let calibration { correction = try RangeCorrection(calibration, &distances.reader) }
    var clocks: [String: ClockOffsetTracker] = [:]
    return RowComputation(distances.reader, .distances) { [correction] reader, row in
      var (result, power) = distances.take(row, reader)
      if let exchange = distances.exchange(row, reader, &result.state) {
        let clock = distances.clock(
          &clocks[result.peer, default: ClockOffsetTracker(parameters)], after: exchange, result,
          parameters, reader)
        result.setDistance(of: exchange, clock.offset, parameters)
      }
      correction?.apply(to: &result, row, power: power, reader)
      return result
    }
  }

  /// Computes distances from the four stamps of single-sided ranging (columns `t1` to `t4`).
  ///
  /// - Parameters:
  ///   - parameters: the counter of the stamps, and the greatest possible clock error.
  ///   - calibration: the measured errors of the boards.
  ///   - powerBias: the bias by received level; nil: from the calibration.
  /// - Throws: `LabError` when a column is missing or the calibration does not fit the table.
  public func singleSidedDistances(
    _ parameters: TwoWayParameters = TwoWayParameters(), calibration: RangingCalibration? = nil,
    powerBias: PowerBias? = nil
  ) throws(LabError) -> ComputedTable<TwoWayDistance> {
    var distances = try TwoWayDistances(self, stamps: 4, parameters)
    distances.computeSingleSided(parameters)
    if let calibration {
      distances.apply(try RangeCorrection(calibration, &distances.reader))
    } else if let powerBias {
      distances.apply(RangeCorrection(powerBias))
    }
    return distances.result("Single-sided two-way ranging")
  }

  /// Fits the delays of peers and the bias by received level to single-sided distances with known
  /// truth.
  ///
  /// - Parameters:
  ///   - parameters: the counter of the stamps, and the greatest possible clock error.
  ///   - truth: a column in metres, or a number of metres for all rows.
  /// - Throws: `LabError` when a column is missing, or no row has both a distance and its truth.
  public func singleSidedCalibration(
    _ parameters: TwoWayParameters = TwoWayParameters(), truth: String
  ) throws(LabError) -> RangingCalibration {
    var distances = try TwoWayDistances(self, stamps: 4, parameters)
    distances.computeSingleSided(parameters)
    return try distances.calibration(truth: truth)
  }

  /// Checks whether stamps of 32 bits would be taken for stamps of 40: all fit into 32 bits, and a
  /// later one is smaller than an earlier one.
  ///
  /// - Parameter count: the number of stamps in a row: `t1` to `t6`, or to `t4`.
  /// - Throws: `LabError`.
  package func checkCounterWidth(stamps count: Int) throws(LabError) {
    let reader = TableReader(self)
    let columns = try (1...count).map { number throws(LabError) in
      try reader.require("t\(number)", .ticks)
    }
    try checkUnit(columns[0], reader)
    // The stamps of poll, response and final or second response, by end.
    let kinds = [[[0, 3, 4], [1, 2, 5]], [[0, 3, 5], [1, 2, 4]]].map { ends in
      ends.map { $0.filter { $0 < count } }
    }
    var wrapped: Int?
    var polls: [String: Double] = [:]
    for row in 0..<rowCount {
      let stamps = columns.map { column in number(row, column.index).map { $0 * column.factor } }
      for stamp in stamps where !(-0x1p31..<0x1p32 ~= stamp ?? 0) { return }
      let peer = reader.peer(row)
      let poll = [polls[peer], stamps[0]]
      if let poll = stamps[0] { polls[peer] = poll }
      let isWrapped = kinds.allSatisfy { ends in
        let series = ends.map { $0.map { stamps[$0] } } + [poll]
        return series.contains { times in
          zip(times, times.dropFirst()).contains { $1 ?? .infinity < $0 ?? -.infinity }
        }
      }
      if isWrapped, wrapped == nil { wrapped = row }
    }
    guard let wrapped else { return }
    throw .table(
      line(wrapped),
      "the counter has wrapped, and no stamp of the table needs more than 32 bits: with the usual 40 "
        + "bits the result would be wrong.",
      suggestion: "Give --counter-bits 32 (or 40, if that is right nevertheless).")
  }
}

extension CSVTable {
  /// Checks that the intervals of polls by their stamps agree with the column `time`, in ticks.
  private func checkUnit(_ poll: Column, _ reader: TableReader) throws(LabError) {
    guard let time = reader.lookUp("time", .time) else { return }
    var before: [String: (time: Double, poll: Double)] = [:]
    var ratios: [Double] = []
    for row in 0..<min(rowCount, 1000) {
      guard let seconds = reader.value(row, time), let stamp = number(row, poll.index) else {
        continue
      }
      let last = before.updateValue((seconds, stamp), forKey: reader.peer(row))
      guard let last, seconds > last.time, stamp > last.poll else { continue }
      ratios.append(
        (seconds - last.time) / ((stamp - last.poll) * poll.factor * DeviceTick.seconds))
    }
    let ratio = ratios.sorted().dropFirst(ratios.count / 2).first ?? 1
    for unit in ["ns", "ps"] {
      let factor = Quantity.ticks.units.first { $0.suffix == unit }?.factor ?? 1
      guard 0.98 * factor...1.02 * factor ~= ratio else { continue }
      throw .table(
        headerLine, "the times of \(poll.name) pass as \(unit) do, not as ticks of 15.65 ps.",
        suggestion: "Let the names of the columns with stamps say so, such as t1_\(unit).")
    }
  }
}

/// The distances of a table of exchanges.
private struct TwoWayDistances {
  var reader: TableReader
  private var rows: [ComputedRow<TwoWayDistance>] = []
  /// The received level of each row in dBm, without the noise of single frames.
  private var powers: [Double?] = []
  private let stampColumns: [Column]
  private let isFinalExpected: Bool
  /// The number of rows so far whose third frame is a final, minus the number with a second
  /// response.
  private var finals = 0
  private let parameters: TwoWayParameters
  private let carrierColumn: Column?
  private let powerColumn: Column?
  private let timeColumn: Column?
  private var levels: [String: LevelTracker] = [:]

  init(
    _ table: CSVTable, stamps count: Int, _ parameters: TwoWayParameters
  ) throws(LabError) {
    var reader = TableReader(table)
    var columns = try (1...count).map { number throws(LabError) in
      try reader.require("t\(number)", .ticks)
    }
    // A second response, where there is one.
    if count == 4, let sent = reader.find("t5", .ticks), let received = reader.find("t6", .ticks) {
      columns += [sent, received]
    }
    (stampColumns, isFinalExpected, self.parameters) = (columns, count == 6, parameters)
    let (time, power) = (reader.find("time", .time), reader.find("rx_power", .level))
    carrierColumn = reader.find("cfo", .ratio)
    powerColumn = power
    timeColumn = time
    self.reader = reader
    for row in 0..<table.rowCount {
      let (result, power) = take(row, reader)
      rows.append(result)
      powers.append(power)
      // The majority of the rows decides for all.
      var ignored = RowStatus()
      _ = exchange(row, reader, &ignored)
    }
  }

  /// Reads the next row before any computation, with the received level without the noise of single
  /// frames.
  mutating func take(
    _ row: Int, _ reader: TableReader
  ) -> (ComputedRow<TwoWayDistance>, power: Double?) {
    let (peer, seconds) = (reader.peer(row), reader.value(row, timeColumn))
    let power = reader.value(row, powerColumn).map {
      levels[peer, default: LevelTracker()].update($0, time: seconds)
    }
    return (ComputedRow(row: row, peer: peer, time: seconds), power)
  }

  /// Returns the exchange of a row that has been read, and records its problem in the status.
  private mutating func exchange(_ row: Int) -> TwoWayExchange? {
    var state = rows[row].state
    defer { rows[row].state = state }
    return exchange(row, reader, &state)
  }

  /// Returns the exchange of a row; nil without the stamps of poll and response.
  mutating func exchange(
    _ row: Int, _ reader: TableReader, _ state: inout RowStatus
  ) -> TwoWayExchange? {
    let stamps = stampColumns.prefix(isFinalExpected ? 6 : 4).map { reader.stamp(row, $0, &state) }
    var third: [TickStamp?] = Array(stamps.dropFirst(4))
    if !isFinalExpected {
      // A missing one is not a problem of the row.
      var other = RowStatus()
      third = stampColumns.dropFirst(4).map { reader.stamp(row, $0, &other) }
    }
    third += [nil, nil]
    guard let t1 = stamps[0], let t2 = stamps[1], let t3 = stamps[2], let t4 = stamps[3] else {
      return nil
    }
    let exchange = TwoWayExchange(
      pollSent: t1, pollReceived: t2, responseSent: t3, responseReceived: t4, finalSent: third[0],
      finalReceived: third[1])
    if let word = exchange.problem(parameters) {
      state.word = word
      return nil
    }
    guard exchange.isDoubleSided else { return exchange }
    let (asFinal, asSecond) = (exchange, exchange.withSecondResponse)
    switch (asFinal.disagreement(parameters), asSecond.disagreement(parameters)) {
    case (nil, nil): break
    case (_, nil): finals += 1
    case (nil, _): finals -= 1
    // If the clocks agree in both intervals, one of them by chance, the right interval agrees
    // better by a nanosecond; otherwise the difference does not matter.
    case (let a?, let b?): finals += a < b - 64 ? 1 : a - 64 > b ? -1 : 0
    }
    if finals < 0 || finals == 0 && !isFinalExpected { return asSecond }
    return isFinalExpected ? asFinal : exchange.singleSided
  }

  mutating func computeDoubleSided(_ parameters: TwoWayParameters) {
    // The clock offset from polls applies to the rows before as well.
    var clocks: [String: ClockOffsetTracker] = [:]
    for row in rows.prefix(100) where clocks[row.peer]?.offset == nil && canCompare(row) {
      var ignored = RowStatus()
      guard let exchange = exchange(row.row, reader, &ignored) else { continue }
      clocks[row.peer, default: ClockOffsetTracker(parameters)].addPoll(
        sent: exchange.pollSent, received: exchange.pollReceived, time: row.time)
    }
    var responders = clocks.mapValues { ResponderRanging(parameters, clock: $0.offset) }
    for row in rows.indices {
      guard let exchange = exchange(row) else { continue }
      rows[row].setDistance(
        of: exchange, &responders[rows[row].peer, default: ResponderRanging(parameters)],
        comparesPolls: canCompare(rows[row]))
    }
  }

  mutating func computeSingleSided(_ parameters: TwoWayParameters) {
    // Rounds of a peer before its clock is known: computed once it is.
    var waiting: [String: [(row: Int, exchange: TwoWayExchange)]] = [:]
    var clocks: [String: ClockOffsetTracker] = [:]
    for row in rows.indices {
      guard let exchange = exchange(row) else { continue }
      let peer = rows[row].peer
      let clock = clock(
        &clocks[peer, default: ClockOffsetTracker(parameters)], after: exchange, rows[row],
        parameters, reader)
      waiting[peer, default: []].append((row, exchange))
      guard let offset = clock.offset else { continue }
      for (row, exchange) in waiting.removeValue(forKey: peer) ?? [] {
        rows[row].setDistance(of: exchange, offset, parameters)
      }
    }
    for (row, exchange) in waiting.values.joined() {
      rows[row].setDistance(of: exchange, nil, parameters)
    }
  }

  /// Updates the clock of a peer with an exchange.
  func clock(
    _ clock: inout ClockOffsetTracker, after exchange: TwoWayExchange,
    _ row: ComputedRow<TwoWayDistance>, _ parameters: TwoWayParameters, _ reader: TableReader
  ) -> ClockOffsetTracker {
    let hasCompared =
      canCompare(row)
      && clock.addPoll(sent: exchange.pollSent, received: exchange.pollReceived, time: row.time)
    if !hasCompared, let carrier = reader.value(row.row, carrierColumn) {
      clock.addCarrier(ClockOffset(carrier))
    }
    return clock
  }

  /// Returns whether polls determine the clocks: without times, wraps of a counter as short as 32
  /// bits cannot be counted.
  func canCompare(_ row: ComputedRow<TwoWayDistance>) -> Bool {
    timeColumn != nil ? row.time != nil : parameters.counter.bits >= 40
  }

  mutating func apply(_ correction: RangeCorrection) {
    for index in rows.indices {
      correction.apply(to: &rows[index], index, power: powers[index], reader)
    }
  }

  func calibration(truth: String) throws(LabError) -> RangingCalibration {
    let column = Double(truth) == nil ? try reader.require(truth, .length) : nil
    var ranges = KnownRanges()
    for row in rows where row.state.isOK {
      guard let measured = row.value?.distance,
        let known = column.map({ reader.value(row.row, $0) }) ?? Double(truth)
      else { continue }
      ranges.add(peer: row.peer, measured: measured, truth: known, power: powers[row.row])
    }
    guard let fit = RangeBiasFit(ranges.list) else {
      throw .insufficient("No row has both a distance and its truth.")
    }
    return ranges.calibration(fit)
  }

  func result(_ title: String) -> ComputedTable<TwoWayDistance> {
    ComputedTable(reader, rows, .distances) { [hasTime = timeColumn != nil] rows in
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
}

extension TwoWayExchange {
  /// Returns the problem of the stamps of poll and response in one word; nil if they are possible.
  fileprivate func problem(_ parameters: TwoWayParameters) -> String? {
    let counter = parameters.counter
    let seconds = counter.interval(from: pollReceived, to: responseSent) * DeviceTick.seconds
    // Between the markers of two frames there are at least the data of the first and the preamble
    // of the second. Stamps in nanoseconds give shorter times, stamps of other clocks give seconds.
    if seconds > 0, !(80e-6...1 ~= seconds) { return "implausible_reply" }
    // If the clocks agree, exchanged stamps make frames arrive before they are sent. Half of the
    // time there and back is then an error of these clocks, not a flight.
    func flight(_ sent: TickStamp, _ received: TickStamp) -> Double {
      let ticks = counter.interval(from: sent, to: received)
      return (ticks > counter.modulus / 2 ? ticks - counter.modulus : ticks) * DeviceTick.seconds
    }
    let (there, back) = (flight(pollSent, pollReceived), flight(responseSent, responseReceived))
    let isExchanged =
      min(there, back) < -1e-9 && max(there, back) < 20e-6 && abs(there + back) < 1e-9
    return isExchanged ? "exchanged_stamps" : nil
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
  /// Sets the distance: double-sided, or single-sided where only the final is missing.
  fileprivate mutating func setDistance(
    of exchange: TwoWayExchange, _ responder: inout ResponderRanging, comparesPolls: Bool
  ) {
    do throws(RangingFailure) {
      let distance = try responder.distance(exchange, time: time, comparesPolls: comparesPolls)
      guard !responder.isReversed(exchange) else { throw .implausibleClocks }
      value = distance
      if !exchange.tellsClocks { state.word = "single_sided" }
    } catch {
      if exchange.tellsClocks || error != .unknownClockOffset { state.word = error.word }
    }
  }

  /// Sets the single-sided distance. Without an offset, crystals are assumed to be within some ppm,
  /// and the deviation includes that.
  fileprivate mutating func setDistance(
    of exchange: TwoWayExchange, _ offset: ClockOffset?, _ parameters: TwoWayParameters
  ) {
    do throws(RangingFailure) {
      if let offset, exchange.isReversed(offset, parameters) { throw .implausibleClocks }
      value = try exchange.distance(
        offset: offset ?? ClockOffset(0, standardDeviation: 10e-6), parameters)
    } catch {
      state.word = error.word
    }
    if offset == nil, !exchange.tellsClocks, state.isOK {
      state.word = RangingFailure.unknownClockOffset.word
    }
  }
}

/// Measured distances with their truth, by peer.
struct KnownRanges {
  private(set) var list: [KnownRange] = []
  private var numbers: [String: Int] = [:]

  mutating func add(peer: String, measured: Double, truth: Double, power: Double?) {
    let pair = numbers[peer] ?? numbers.count
    numbers[peer] = pair
    list.append(KnownRange(measured: measured, truth: truth, power: power, pair: pair))
  }

  /// Converts the fit of these to a calibration.
  func calibration(_ fit: RangeBiasFit) -> RangingCalibration {
    var result = RangingCalibration()
    result.delay = fit.delays.reduce(0, +) / Double(fit.delays.count)
    result.peerDelays = numbers.count > 1 ? numbers.mapValues { fit.delays[$0] } : nil
    result.powerBias = fit.powerBias
    result.residuals = .init(fit.residuals, positions: fit.positions)
    return result
  }
}

extension RangingFailure {
  /// The word for programs.
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

/// The correction of the distances of a table by a calibration, row by row.
struct RangeCorrection {
  private var delays: [String: Double] = [:]
  /// The delay of other peers, and its deviation.
  private var (delay, spread) = (0.0, 0.0)
  private var antennas: [BoardAntenna: RangingCalibration.Antenna] = [:]
  /// The sums of both ends, where only these are known.
  private let sums: [[BoardAntenna]: RangingCalibration.PairDelay]
  private var ends: EndColumns?
  private let powerBias: PowerBias
  /// The calibration; nil: only the bias by received level.
  private var calibration: RangingCalibration?

  init(_ powerBias: PowerBias) { (self.powerBias, sums) = (powerBias, [:]) }

  init(_ calibration: RangingCalibration, _ reader: inout TableReader) throws(LabError) {
    self.calibration = calibration
    delays = calibration.delaysOfPeers()
    (delay, spread) = calibration.delayOfOthers(than: delays)
    powerBias = calibration.powerBias
    for antenna in calibration.antennaDelays ?? [] { antennas[antenna.name] = antenna }
    sums = calibration.sums
    let hasDelay = calibration.delay != nil || !delays.isEmpty
    guard calibration.hasDistances else {
      throw LabError(.badFile, "The calibration has no delays and no power bias.")
    }
    guard !antennas.isEmpty || !sums.isEmpty else { return }
    if reader.find("board_a") != nil || !hasDelay { ends = try EndColumns(&reader) }
  }

  func apply(
    to row: inout ComputedRow<TwoWayDistance>, _ index: Int, power: Double?, _ reader: TableReader
  ) {
    guard let distance = row.value else { return }
    row.value = applied(
      to: distance, index, peer: row.peer, power: power, reader, &row.state)
  }

  /// Returns the corrected distance; nil when a board is unknown, and `status` then names it.
  private func applied(
    to distance: TwoWayDistance, _ row: Int, peer: String, power: Double?,
    _ reader: TableReader, _ status: inout RowStatus
  ) -> TwoWayDistance? {
    guard let bias = bias(row, peer: peer, power: power, reader, &status) else { return nil }
    if let calibration {
      return calibration.corrected(distance, by: bias.metres, deviation: bias.deviation)
    }
    var corrected = distance
    corrected.distance -= bias.metres
    return corrected
  }

  /// Returns the correction of a distance, with its deviation; nil when a board is unknown.
  fileprivate func bias(
    _ row: Int, peer: String, power: Double?, _ reader: TableReader, _ status: inout RowStatus
  ) -> (metres: Double, deviation: Double)? {
    let level = power.map { powerBias.bias(at: $0) } ?? 0
    guard let ends else {
      return (level + (delays[peer] ?? delay), delays[peer] == nil ? spread : 0)
    }
    let (a, b) = ends.antennas(row, reader)
    guard let first = antennas[a], let second = antennas[b] else {
      if let sum = sums[[a, b].sorted()] {
        return (level + sum.delay, sum.standardDeviation ?? 0)
      }
      status.word = antennas[a] == nil ? "unknown_board_a" : "unknown_board_b"
      return nil
    }
    let (one, other) = (first.standardDeviation ?? 0, second.standardDeviation ?? 0)
    return (
      level + first.delay + second.delay, (one * one + other * other).squareRoot()
    )
  }
}

/// Corrects ranges of a table by a calibration, if there is one.
struct RangeCalibrator {
  private var correction: RangeCorrection?
  /// The remaining deviation of the constant error, in metres; nil without calibration.
  let deviation: Double?
  private let power: Column?
  private var levels: [String: LevelTracker] = [:]

  init(_ calibration: RangingCalibration?, _ reader: inout TableReader) throws(LabError) {
    power = reader.find("rx_power", .level)
    // A file may have only a model of blocked paths.
    let isOfPaths = calibration?.path != nil && calibration?.hasDistances == false
    let calibration = isOfPaths ? nil : calibration
    deviation = calibration?.biasDeviation
    if let calibration { correction = try RangeCorrection(calibration, &reader) }
  }

  /// Returns the range to a peer without its bias, and the additional deviation beyond `deviation`.
  /// Nil when a board is unknown; `status` then names it.
  ///
  /// - Parameter anchor: the other end, where `peer` is being located.
  mutating func corrected(
    _ range: Double, _ row: Int, anchor: String? = nil, peer: String, time: Double,
    _ reader: TableReader, _ status: inout RowStatus
  ) -> (range: Double, deviation: Double)? {
    guard let correction else { return (range, 0) }
    let level = reader.value(row, power).map {
      levels[peer + "\n" + (anchor ?? ""), default: LevelTracker()].update($0, time: time)
    }
    guard
      let bias = correction.bias(row, peer: anchor ?? peer, power: level, reader, &status)
    else { return nil }
    return (range - bias.metres, bias.deviation)
  }
}

/// The columns of the measuring boards and antennas: `board_a`, `board_b` and, where they are not 0
/// of channel 9, `antenna_a`, `antenna_b` and `channel`.
struct EndColumns {
  private let boards: (a: Column, b: Column)
  private let antennas: (a: Column?, b: Column?)
  private let channel: Column?

  init(_ reader: inout TableReader) throws(LabError) {
    boards = (try reader.require("board_a"), try reader.require("board_b"))
    antennas = (reader.find("antenna_a"), reader.find("antenna_b"))
    channel = reader.find("channel")
  }

  func antennas(_ row: Int, _ reader: TableReader) -> (a: BoardAntenna, b: BoardAntenna) {
    (end(row, reader, boards.a, antennas.a), end(row, reader, boards.b, antennas.b))
  }

  private func end(
    _ row: Int, _ reader: TableReader, _ board: Column, _ antenna: Column?
  ) -> BoardAntenna {
    func number(_ column: Column?) -> Int? {
      column.flatMap { reader.table.integer(row, $0.index) }.flatMap { Int(exactly: $0) }
    }
    return BoardAntenna(
      reader.text(row, board), channel: number(channel) ?? 9, antenna: number(antenna) ?? 0)
  }
}
