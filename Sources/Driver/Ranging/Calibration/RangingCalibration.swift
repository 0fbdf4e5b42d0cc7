// SPDX-License-Identifier: Apache-2.0

/// The contents of a calibration file (JSON). It has antenna delays, the ranging bias at each
/// received level, and phases at each angle. Each part may be missing.
///
/// Keys in the file end with their units. `Codable` reads and writes it with any encoder.
public struct RangingCalibration: Codable, Sendable, Hashable {
  package static let format = "swift-uwb ranging calibration"

  /// The name of the format; files written by hand may lack it.
  package var format: String?
  package var version: Int?

  // MARK: distances

  /// Metres that both antenna delays together add to a distance to any other peer or antenna.
  public var delay: Double?
  /// The metres that antennas add to the distances to single peers, by the names of the peers.
  public var peerDelays: [String: Double]?
  /// Delays of single antennas.
  package var antennaDelays: [Antenna]?
  /// Sums of two delays, for boards whose individual delays are unknown.
  package var pairDelays: [PairDelay]?
  package var powerBiasKnots: [PowerBias.Knot]?
  /// The residuals of the distances.
  package var residuals: Residuals?
  /// The model that estimates blocked paths from diagnostics.
  package var path: PathModel?

  // MARK: angles

  /// Positions of antennas in metres in the frame of the device: x forward, y left, z up.
  package var antennas: [String: [Double]]?
  /// Pairs of antennas.
  package var pairs: [Pair]?
  /// The UWB channel: 5, 6, 8 or 9.
  package var channel: Int?
  /// The carrier in hertz.
  package var frequency: Double?
  /// The carrier's wavelength in metres.
  package var wavelength: Double?
  /// The assumed elevation where the antennas do not determine it.
  package var elevationDegrees: Double?
  /// Noise of a phase difference in radians, one standard deviation.
  package var phaseNoise: Double?

  enum CodingKeys: String, CodingKey {
    case format, version, residuals, path, antennas, pairs, channel
    case delay = "delay_m"
    case peerDelays = "delays_m"
    case antennaDelays = "antenna_delays"
    case pairDelays = "pair_delays"
    case powerBiasKnots = "power_bias"
    case frequency = "frequency_hz"
    case wavelength = "wavelength_m"
    case elevationDegrees = "elevation_deg"
    case phaseNoise = "noise_rad"
  }

  /// Creates an empty calibration.
  public init() {
    format = Self.format
    version = 1
  }

  /// The delay of one antenna of one board.
  package struct Antenna: Codable, Sendable, Hashable {
    package var board: String
    /// 9 if missing.
    package var channel: Int?
    /// 0 if missing.
    package var antenna: Int?
    /// Metres that the antenna adds to every distance.
    package var delay: Double
    /// One standard deviation in metres.
    package var standardDeviation: Double?

    enum CodingKeys: String, CodingKey {
      case board, channel, antenna
      case delay = "delay_m"
      case standardDeviation = "sigma_m"
    }

    package init(_ antenna: BoardAntenna, delay: Double, standardDeviation: Double) {
      board = antenna.board
      channel = antenna.port.channel
      self.antenna = antenna.port.antenna
      (self.delay, self.standardDeviation) = (delay, standardDeviation)
    }

    package var name: BoardAntenna {
      BoardAntenna(board, channel: channel ?? 9, antenna: antenna ?? 0)
    }
  }

  /// The sum of the delays of both ends of a pair.
  package struct PairDelay: Codable, Sendable, Hashable {
    package var boards: [String]
    /// 9 if missing.
    package var channel: Int?
    /// The antennas of both boards; 0 if missing.
    package var antennas: [Int]?
    /// Metres that the antennas add to every distance.
    package var delay: Double
    /// One standard deviation in metres.
    package var standardDeviation: Double?

    enum CodingKeys: String, CodingKey {
      case boards, channel, antennas
      case delay = "delay_m"
      case standardDeviation = "sigma_m"
    }

    package init(_ a: BoardAntenna, _ b: BoardAntenna, delay: Double, standardDeviation: Double) {
      let ends = [a, b].sorted()
      boards = ends.map(\.board)
      channel = a.port.channel
      antennas = ends.map(\.port.antenna)
      (self.delay, self.standardDeviation) = (delay, standardDeviation)
    }

    /// The antennas of both boards, sorted; nil unless there are two boards.
    package var ends: [BoardAntenna]? {
      guard boards.count == 2, antennas?.count ?? 2 == 2, delay.isFinite else { return nil }
      return (0..<2).map {
        BoardAntenna(boards[$0], channel: channel ?? 9, antenna: antennas?[$0] ?? 0)
      }.sorted()
    }
  }

  /// The residuals of distances at the measurements to which the delays were fitted, in metres.
  package struct Residuals: Codable, Sendable, Hashable {
    package var count: Int
    package var rms: Double
    package var median: Double
    package var percentile95: Double
    /// The number of positions of each pair; 1 if missing.
    package var positions: Int?
    /// The deviation of the mean errors of single positions; nil means `usualPositionDeviation`.
    package var positionDeviation: Double?

    enum CodingKeys: String, CodingKey {
      case count, positions
      case rms = "rmse_m"
      case median = "median_m"
      case percentile95 = "p95_m"
      case positionDeviation = "position_sigma_m"
    }

    package init(
      _ fit: FitResiduals, positions: Int? = nil, positionDeviation: Double? = nil
    ) {
      (count, rms, median, percentile95) = (fit.count, fit.rms, fit.median, fit.percentile95)
      (self.positions, self.positionDeviation) = (positions, positionDeviation)
    }
  }

  /// The constant error of distances after calibration: one standard deviation in metres.
  ///
  /// The fitted delays include the reflections and the posture of the antennas at the positions of
  /// the calibration. In public recordings, distances calibrated at one position err at others: by
  /// 9 cm (a trolley indoors) to 13 cm (a DW1000 outdoors). The mean of many positions has less of
  /// that error. The rest changes from one day to the next: a distance of DW1000 by 2.15 mm for
  /// each kelvin (DW1000 User Manual, antenna delay).
  package var biasDeviation: Double {
    Self.biasDeviation(positions: residuals?.positions ?? 1, each: positionDeviation)
  }

  /// Returns the constant error after a calibration at this number of positions: one standard
  /// deviation in metres.
  ///
  /// - Parameter deviation: the error that reflections and posture add at each position.
  package static func biasDeviation(
    positions: Int, each deviation: Double = usualPositionDeviation
  ) -> Double {
    (0.025 * 0.025 + deviation * deviation / Double(max(1, positions))).squareRoot()
  }

  /// The assumed error that reflections and the posture of the antennas add at each position, where
  /// it was not measured. One standard deviation in metres; public recordings have 7 to 9 cm.
  package static let usualPositionDeviation = 0.078

  /// The error that reflections and the posture of the antennas add at each position: one standard
  /// deviation in metres.
  package var positionDeviation: Double {
    residuals?.positionDeviation.map { max(0, $0) } ?? Self.usualPositionDeviation
  }

  /// Returns the constant error of distances after the subtraction of a delay: one standard
  /// deviation in metres.
  ///
  /// - Parameter delay: the deviation of the delay itself.
  package func constantDeviation(delay: Double) -> Double {
    (biasDeviation * biasDeviation + delay * delay).squareRoot()
  }

  /// Returns a distance minus `bias`, with a deviation no smaller than the residuals of the
  /// calibration.
  ///
  /// - Parameter deviation: the deviation of `bias`, if it is known.
  package func corrected(
    _ distance: TwoWayDistance, by bias: Double, deviation: Double = 0
  ) -> TwoWayDistance {
    let noise = max(distance.noiseDeviation, residuals?.rms ?? 0)
    var result = distance
    result.distance -= bias
    result.biasDeviation = constantDeviation(delay: deviation)
    // The residuals of a calibration at many positions include most of the error of a new position.
    let positions = Double(max(1, residuals?.positions ?? 1))
    let elsewhere = positionDeviation * positionDeviation / positions
    result.standardDeviation =
      (noise * noise + elsewhere + result.biasDeviation * result.biasDeviation).squareRoot()
    return result
  }

  /// The residuals of angles at the measurements to which the phases were fitted, in degrees.
  package struct AngleResiduals: Codable, Sendable, Hashable {
    package var count: Int
    package var rms: Double
    package var median: Double
    package var percentile95: Double

    enum CodingKeys: String, CodingKey {
      case count
      case rms = "rmse_deg"
      case median = "median_deg"
      case percentile95 = "p95_deg"
    }

    /// Converts radians to degrees.
    package init(_ fit: FitResiduals) {
      let degrees = 180 / Double.pi
      count = fit.count
      rms = fit.rms * degrees
      median = fit.median * degrees
      percentile95 = fit.percentile95 * degrees
    }
  }

  /// The phase difference at one angle.
  package struct Point: Codable, Sendable, Hashable {
    package var angleDegrees: Double
    /// The phase difference in radians; files may have `phaseDegrees` instead.
    package var phase: Double?
    package var phaseDegrees: Double?

    package init(angleDegrees: Double, phase: Double) {
      (self.angleDegrees, self.phase) = (angleDegrees, phase)
    }

    package var phaseInRadians: Double? { phase ?? phaseDegrees.map { $0 * .pi / 180 } }

    enum CodingKeys: String, CodingKey {
      case angleDegrees = "angle_deg"
      case phase = "phase_rad"
      case phaseDegrees = "phase_deg"
    }
  }

  /// The effect of coupling at one multiple of the azimuth, with amplitudes in radians.
  package struct Harmonic: Codable, Sendable, Hashable {
    package var cosine: Double
    package var sine: Double

    package init(cosine: Double, sine: Double) { (self.cosine, self.sine) = (cosine, sine) }

    enum CodingKeys: String, CodingKey {
      case cosine = "cos_rad"
      case sine = "sin_rad"
    }
  }

  /// A pair of antennas.
  package struct Pair: Codable, Sendable, Hashable {
    /// The name of the phase difference; in a table of measurements, the name of its column.
    package var column: String
    /// Two names of `antennas`: the phase difference is the first one's phase minus the second
    /// one's.
    package var antennas: [String]?
    /// The distance of the antennas in metres, where `antennas` is missing.
    package var spacing: Double?
    package var spacingInWavelengths: Double?
    /// The direction of the line through both antennas; (0, 1, 0), side by side, if missing.
    package var axis: [Double]?
    /// The measured phases, which replace the geometry.
    package var table: [Point]?
    /// Radians added to the phase of the geometry or the table.
    package var offset: Double?
    /// The effects of coupling for 1, 2, 3… times the azimuth, added to the phase.
    package var harmonics: [Harmonic]?
    /// Noise of a phase difference in radians, one standard deviation.
    package var phaseNoise: Double?
    /// The error of geometry, table and harmonics in radians, one standard deviation.
    package var modelDeviation: Double?
    package var residuals: AngleResiduals?

    enum CodingKeys: String, CodingKey {
      case column, antennas, axis, table, harmonics, residuals
      case spacing = "spacing_m"
      case spacingInWavelengths = "spacing_wavelengths"
      case offset = "offset_rad"
      case phaseNoise = "noise_rad"
      case modelDeviation = "model_rad"
    }

    package init(column: String) { self.column = column }

    /// The error that reflections at another place add to the phases of a direction. One standard
    /// deviation in radians. At simulated places that add 0 to 5 degrees, 64 to 80 of 100
    /// directions are then within one stated deviation (aim: 68). A public recording with four
    /// positions, calibrated on the same day, has direction errors of 3.7 degrees, 1.5 of them from
    /// noise. That is about 9 degrees of phase. This constant is the part that every place has.
    private static let placeDeviation = 4 * Double.pi / 180

    /// One standard deviation, in radians, of the phases at places other than the place of the
    /// calibration. Nil if `modelDeviation` is missing, or is not 0 to 10 radians.
    package var modelDeviationAnywhere: Double? {
      guard let here = modelDeviation, 0...10 ~= here else { return nil }
      return (here * here + Self.placeDeviation * Self.placeDeviation).squareRoot()
    }
  }

  /// The carrier's wavelength in metres; nil if the file does not determine it.
  package var carrierWavelength: Double? {
    if let wavelength { return wavelength > 0 ? wavelength : nil }
    if let frequency { return frequency > 0 ? SpeedOfLight.inAir / frequency : nil }
    // Source: IEEE 802.15.4, the channels of 500 MHz.
    return switch channel {
    case 5: SpeedOfLight.inAir / 6489.6e6
    case 9: SpeedOfLight.inAir / 7987.2e6
    default: nil
    }
  }

  /// Whether the file corrects distances. The model of blocked paths does not count.
  package var hasDistances: Bool {
    delay != nil || peerDelays?.isEmpty == false || antennaDelays?.isEmpty == false
      || pairDelays?.isEmpty == false
      || powerBiasKnots?.isEmpty == false
  }

  /// The metres that antennas add to a distance, with one standard deviation.
  package typealias Delay = (metres: Double, deviation: Double)

  /// Returns the metres that antennas add to the distances to each peer. If one board is part of
  /// all sums, its peers are included.
  ///
  /// - Parameters:
  ///   - board: the name of this board, if it is known.
  ///   - channel: the channel of the sums; nil for the lowest channel of each pair of boards.
  package func delaysOfPeers(of board: String? = nil, channel: Int? = nil) -> [String: Delay] {
    var result = (peerDelays ?? [:]).mapValues { (metres: $0, deviation: 0.0) }
    let boards = sums.keys.map { Set($0.map(\.board)) }
    guard let first = boards.first else { return result }
    let common = boards.reduce(first) { $0.intersection($1) }
    guard common.count == 1, board.map(common.contains) ?? true else { return result }
    for (ends, sum) in sums.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      guard channel == nil || ends.allSatisfy({ $0.port.channel == channel }) else { continue }
      for end in ends where !common.contains(end.board) && result[end.board] == nil {
        result[end.board] = (sum.delay, sum.standardDeviation ?? 0)
      }
    }
    return result
  }

  /// Returns the metres that antennas add to distances to peers that are not in `delays`. They are
  /// `delay`, or else the mean of the known delays.
  ///
  /// - Parameter delays: the known delays.
  /// - Returns: metres, and one standard deviation. Few peers hardly determine the scatter. Without
  ///   `delay`, the deviation therefore includes one more peer that is 0.3 m off, as uncalibrated
  ///   boards may be.
  package func delayOfOthers(than delays: [String: Delay]) -> Delay {
    let known = delays.values.map(\.metres)
    guard !known.isEmpty else {
      // A single sum is this board's delay.
      let sum = pairDelays?.count == 1 ? pairDelays?.first : nil
      return (delay ?? 0, sum?.standardDeviation ?? 0)
    }
    let count = Double(known.count)
    let metres = delay ?? known.reduce(0, +) / count
    let squares = known.reduce(0) { $0 + ($1 - metres) * ($1 - metres) }
    guard delay == nil else { return (metres, (squares / max(1, count - 1)).squareRoot()) }
    let usual = ChipFamily.unknown.uncalibratedDeviation
    return (metres, ((usual * usual + squares * (1 + 1 / count)) / count).squareRoot())
  }

  /// Returns the metres that an antenna adds to every distance, for sending and receiving together;
  /// nil if the file does not have them.
  package func delay(of antenna: BoardAntenna) -> Delay? {
    antennaDelays?.last { $0.name == antenna && $0.delay.isFinite }.map {
      ($0.delay, $0.standardDeviation ?? 0)
    }
  }

  /// The sums of the delays of pairs, by their sorted antennas.
  package var sums: [[BoardAntenna]: PairDelay] {
    var result: [[BoardAntenna]: PairDelay] = [:]
    for pair in pairDelays ?? [] { if let ends = pair.ends { result[ends] = pair } }
    return result
  }

  /// The ranging bias at each received level.
  public var powerBias: PowerBias {
    get { PowerBias(powerBiasKnots ?? []) }
    set { powerBiasKnots = newValue.knots }
  }

  /// Replaces each part that `other` has; antennas and pairs that it lacks are kept.
  package mutating func merge(_ other: RangingCalibration) {
    format = Self.format
    version = 1
    delay = other.delay ?? delay
    if let delays = other.peerDelays { peerDelays = (peerDelays ?? [:]).merging(delays) { $1 } }
    if let list = other.antennaDelays {
      let names = Set(list.map(\.name))
      let kept = (antennaDelays ?? []).filter { !names.contains($0.name) }
      antennaDelays = (kept + list).sorted { $0.name < $1.name }
    }
    if let list = other.pairDelays {
      let ends = Set(list.map(\.ends))
      pairDelays = (pairDelays ?? []).filter { !ends.contains($0.ends) } + list
    }
    powerBiasKnots = other.powerBiasKnots ?? powerBiasKnots
    residuals = other.residuals ?? residuals
    path = other.path ?? path
    if let list = other.pairs {
      let columns = Set(list.map(\.column))
      pairs = (pairs ?? []).filter { !columns.contains($0.column) } + list
    }
    antennas = other.antennas ?? antennas
    channel = other.channel ?? channel
    frequency = other.frequency ?? frequency
    wavelength = other.wavelength ?? wavelength
    elevationDegrees = other.elevationDegrees ?? elevationDegrees
    phaseNoise = other.phaseNoise ?? phaseNoise
  }
}
