// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Ranging
import UWBLab

/// The parameters of the radio for two-way ranging.
struct RadioOptions: ParsableArguments {
  @Option(help: "Bits of the counter of the timestamps: 32 or 40 (default: 40).")
  var counterBits: Int?
  @Flag(
    help: """
      t5 and t6 are the timestamps of a second response of the responder, sent and received.
      """)
  var secondResponse = false
  @Option(help: "Noise of a reception timestamp in picoseconds, one standard deviation.")
  var stampNoise = 100.0
  @Option(help: "Speed of light: air, vacuum, or metres per second.")
  var speedOfLight = "air"
  @Option(
    help: """
      Error of distances from the antenna delays of boards without --calibration, in metres, one \
      standard deviation.
      """)
  var biasSigma = TwoWayParameters().antennaDelayDeviation

  func validate() throws {
    try require(8...63 ~= counterBits ?? 40, "--counter-bits is 32 or 40; 8 to 63 are possible.")
    try require(
      stampNoise > 0 && stampNoise < 1e6, "--stamp-noise is in picoseconds and greater than 0.")
    try require(0..<1000 ~= biasSigma, "--bias-sigma is in metres and not negative.")
    guard let speed, speed > 1e8, speed < 4e8 else {
      throw ValidationError("--speed-of-light is air, vacuum, or a number near 3e8.")
    }
  }

  private var speed: Double? {
    switch speedOfLight {
    case "air": SpeedOfLight.inAir
    case "vacuum": SpeedOfLight.inVacuum
    default: Double(speedOfLight)
    }
  }

  /// Unless the width was given, stamps must not appear to have another width or unit.
  func check(_ table: CSVTable) throws(LabError) {
    if counterBits == nil { try table.checkPolls() }
  }

  var parameters: TwoWayParameters {
    var parameters = TwoWayParameters()
    parameters.counter = TickCounter(bits: counterBits ?? 40)
    parameters.stampDeviation = stampNoise * 1e-12
    parameters.speedOfLight = speed ?? SpeedOfLight.inAir
    parameters.antennaDelayDeviation = biasSigma
    return parameters
  }
}

struct ComputeDSTWR: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ds-twr",
    abstract: "Compute distances from the six timestamps of double-sided ranging.",
    discussion: """
      Input: t1,t2,t3,t4,t5,t6 in ticks of 15.65 ps, or in t1_ns and so on: poll sent and \
      received, response sent and received, final sent and received [, peer, time_s, \
      rx_power_dbm]; with a --calibration that has delays of boards also board_a,board_b [, \
      channel, antenna_a, antenna_b].
      With --second-response, t5 and t6 are the timestamps of a second response instead, sent and \
      received. The columns may also be named tx1,rx1,tx2,rx2,tx3,rx3, or poll_tx,poll_rx,resp_tx,\
      resp_rx with final_tx,final_rx or resp2_tx,resp2_rx (a second response, without the option), \
      each also with _ts; and from_id,to_id in place of peer.
      Output: distance_m, sigma_m, bias_sigma_m (the part of sigma_m that all distances of a peer \
      share, and that filter and locate do not treat as noise), status. Where only the final is \
      missing, the distance is single-sided with the clock offset from other rounds of that peer, \
      and the status is single_sided.
      """)

  @OptionGroup var table: ComputeOptions
  @OptionGroup var option: LiveOption
  @OptionGroup var radio: RadioOptions
  @OptionGroup var known: CalibrationOption

  func computation(of table: CSVTable) throws(LabError) -> RowComputation<TwoWayDistance> {
    try radio.check(table)
    return try table.doubleSided(
      radio.parameters, secondResponse: radio.secondResponse,
      calibration: try .read(known.calibration),
      live: option.live)
  }
}

struct ComputeSSTWR: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ss-twr",
    abstract: "Compute distances from the four timestamps of single-sided ranging.",
    discussion: """
      Input: t1,t2,t3,t4 in ticks of 15.65 ps, or in t1_ns and so on: poll sent and received, \
      response sent and received [, cfo_ppm, peer, rx_power_dbm, time_s; with a --calibration that \
      has delays of boards also board_a, board_b, channel, antenna_a, antenna_b]. cfo_ppm is the \
      offset of the initiator's clock, positive if it is faster than the responder's. It is used \
      for rounds whose poll cannot be compared with the previous one. Comparing needs time_s when \
      polls are further apart than the range of the counter (17.2 s with 40 bits, 67 ms with 32). \
      With --live, rounds before a peer's clock is known have the status unknown_clock_offset. With \
      --second-response, t5 and t6 give the clock offset within the same round; otherwise they \
      are not used.
      Output: distance_m, sigma_m, bias_sigma_m (the part of sigma_m that all distances of a peer \
      share, and that filter and locate do not treat as noise), status.

      --learn FILE with --truth COLUMN fits the delay of each peer and the bias by received level; \
      --calibration FILE subtracts both.
      """)

  /// The table of DW1000 for the received level.
  enum PowerTable: String, ExpressibleByArgument, CaseIterable {
    case none
    case dw1000PRF64 = "dw1000-prf64"
    case dw1000PRF16 = "dw1000-prf16"
  }

  @OptionGroup var table: ComputeOptions
  @OptionGroup var option: LiveOption
  @OptionGroup var radio: RadioOptions
  @Option(help: "Write delays and power table to this file (JSON); needs --truth.")
  var learn: String?
  @OptionGroup var known: CalibrationOption
  @Option(
    help: """
      Without --calibration: the vendor's table of the bias by received level, for chips that are \
      known to be a DW1000 (timestamps do not reveal it, and other chips differ).
      """)
  var powerTable = PowerTable.none

  func validate() throws {
    try require(learn == nil || table.truth != nil, "--learn needs --truth.")
    try require(learn == nil || known.calibration == nil, "Give either --learn or --calibration.")
    try table.checkOutput("--learn", learn)
    try require(
      !option.live || learn == nil && !table.needsWholeTable,
      "--learn, --plot and --truth need the whole table: leave out --live.")
    try require(
      learn != "-" || table.plot != "-", "Give a file for --learn or --plot instead of -.")
  }

  func computation(of table: CSVTable) throws(LabError) -> RowComputation<TwoWayDistance> {
    try radio.check(table)
    var correction = try RangingCalibration?.read(known.calibration)
    if let learn, let truth = self.table.truth {
      let learned = try table.singleSidedCalibration(
        radio.parameters, secondResponse: radio.secondResponse, truth: truth)
      try learned.write(to: learn)
      standardError.write(lines: learned.summary + "\n")
      correction = learned
    }
    return try table.singleSided(
      radio.parameters, secondResponse: radio.secondResponse, calibration: correction,
      powerBias: powerTable.bias, live: option.live)
  }
}

extension ComputeSSTWR.PowerTable {
  var bias: PowerBias? {
    switch self {
    case .none: nil
    case .dw1000PRF64: .dw1000PRF64
    case .dw1000PRF16: .dw1000PRF16
    }
  }
}
