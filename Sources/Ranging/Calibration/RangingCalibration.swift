// SPDX-License-Identifier: Apache-2.0

/// What calibration has found, in the form in which it is kept in a file (JSON): delays of antennas,
/// what the received level adds, and curves of phase over angle. Each part may be missing.
///
/// Names have their units at their ends. Any encoder and decoder of `Codable` writes and
/// reads it.
public struct RangingCalibration: Codable, Sendable, Hashable {
  /// What `format` says.
  public static let format = "swift-uwb ranging calibration"

  /// Says what the file is; files that people wrote may lack it.
  public var format: String?
  /// Of the format.
  public var version: Int?

  // MARK: distances

  /// Metres that both antenna delays together add, where nothing more is known.
  public var delay_m: Double?
  /// The same for single peers.
  public var delays_m: [String: Double]?
  /// Antennas with delays of their own.
  public var antenna_delays: [Antenna]?
  /// Metres that the received level adds, by level.
  public var power_bias: [Knot]?
  /// How well the distances fit.
  public var residuals: Residuals?

  // MARK: angles

  /// Places of antennas in metres, device frame: x forward, y left, z up.
  public var antennas: [String: [Double]]?
  /// Pairs of antennas.
  public var pairs: [Pair]?
  /// 5 or 9, or one of the next two.
  public var channel: Int?
  /// The carrier.
  public var frequency_hz: Double?
  /// The length of its wave.
  public var wavelength_m: Double?
  /// Assumed where the antennas cannot tell.
  public var elevation_deg: Double?
  /// Noise of a phase difference, one standard deviation.
  public var noise_rad: Double?

  /// With nothing in it.
  public init() {
    format = Self.format
    version = 1
  }

  /// One antenna of one board.
  public struct Antenna: Codable, Sendable, Hashable {
    /// What the board is called.
    public var board: String
    /// 9 where it is missing.
    public var channel: Int?
    /// 0 where it is missing.
    public var antenna: Int?
    /// Metres that it adds to every distance.
    public var delay_m: Double
    /// One standard deviation.
    public var sigma_m: Double?

    /// From a board's antenna and its delay.
    public init(_ antenna: BoardAntenna, _ delay: AntennaDelayFit.Delay) {
      board = antenna.board
      channel = antenna.port.channel
      self.antenna = antenna.port.antenna
      (delay_m, sigma_m) = (delay.metres, delay.standardDeviation)
    }

    /// Which antenna it is.
    public var name: BoardAntenna {
      BoardAntenna(board, channel: channel ?? 9, antenna: antenna ?? 0)
    }
  }

  /// A received level.
  public struct Knot: Codable, Sendable, Hashable {
    /// The level in dBm.
    public var rx_power_dbm: Double
    /// Metres that distances are too long by.
    public var bias_m: Double

    /// From a row of a table.
    public init(_ knot: PowerBias.Knot) { (rx_power_dbm, bias_m) = (knot.power, knot.bias) }
  }

  /// How well distances fit what they were learned from.
  public struct Residuals: Codable, Sendable, Hashable {
    /// Measurements.
    public var count: Int
    /// Root of the mean square.
    public var rmse_m: Double
    /// Median of the magnitude.
    public var median_m: Double
    /// 95 % are below.
    public var p95_m: Double

    /// From those of a fit in metres.
    public init(_ fit: FitResiduals) {
      (count, rmse_m, median_m, p95_m) = (fit.count, fit.rms, fit.median, fit.percentile95)
    }
  }

  /// How well angles fit what they were learned from.
  public struct AngleResiduals: Codable, Sendable, Hashable {
    /// Measurements.
    public var count: Int
    /// Root of the mean square.
    public var rmse_deg: Double
    /// Median of the magnitude.
    public var median_deg: Double
    /// 95 % are below.
    public var p95_deg: Double

    /// From those of a fit in radians.
    public init(_ fit: FitResiduals) {
      let degrees = 180 / Double.pi
      count = fit.count
      rmse_deg = fit.rms * degrees
      median_deg = fit.median * degrees
      p95_deg = fit.percentile95 * degrees
    }
  }

  /// A point of a curve of phase over angle.
  public struct Point: Codable, Sendable, Hashable {
    /// The angle.
    public var angle_deg: Double
    /// The phase difference, or:
    public var phase_rad: Double?
    /// the same in degrees.
    public var phase_deg: Double?

    /// From its parts, in radians.
    public init(angle: Double, phase: Double) {
      angle_deg = angle * 180 / .pi
      phase_rad = phase
    }
  }

  /// What coupling adds with the azimuth.
  public struct Harmonic: Codable, Sendable, Hashable {
    /// Of the cosine.
    public var cos_rad: Double
    /// Of the sine.
    public var sin_rad: Double
  }

  /// A pair of antennas.
  public struct Pair: Codable, Sendable, Hashable {
    /// What its phase difference is called: the name of a column.
    public var column: String
    /// Two names of `antennas`: the phase is that of the first less that of the second.
    public var antennas: [String]?
    /// Instead of antennas: how far two antennas are apart.
    public var spacing_m: Double?
    /// The same in wavelengths.
    public var spacing_wavelengths: Double?
    /// The line they stand on; (0, 1, 0), side by side, where it is missing.
    public var axis: [Double]?
    /// Instead of all that: the measured curve.
    public var table: [Point]?
    /// Added to the phase of geometry or table.
    public var offset_rad: Double?
    /// Added to that.
    public var harmonics: [Harmonic]?
    /// Noise of a phase difference, one standard deviation.
    public var noise_rad: Double?
    /// How well it fits what it was learned from.
    public var residuals: AngleResiduals?

    /// A measured pair.
    public init(column: String, _ fit: PhaseTableFit) {
      self.column = column
      table = zip(fit.table.angles, fit.table.phases).map { Point(angle: $0, phase: $1) }
      offset_rad = fit.offset
      noise_rad = fit.phaseDeviation
      residuals = AngleResiduals(fit.angleResiduals)
    }
  }

  /// The delays of one board.
  public func delays(of board: String) -> AntennaDelays {
    var result = AntennaDelays()
    for antenna in antenna_delays ?? [] where antenna.board == board {
      result[antenna.name.port] = antenna.delay_m
    }
    return result
  }

  /// What the received level adds.
  public var powerBias: PowerBias {
    PowerBias((power_bias ?? []).map { .init(power: $0.rx_power_dbm, bias: $0.bias_m) })
  }

  /// Takes what `other` has over; antennas and pairs that it does not have stay.
  public mutating func merge(_ other: RangingCalibration) {
    format = Self.format
    version = 1
    delay_m = other.delay_m ?? delay_m
    if let delays = other.delays_m { delays_m = (delays_m ?? [:]).merging(delays) { $1 } }
    if let list = other.antenna_delays {
      let names = Set(list.map(\.name))
      let kept = (antenna_delays ?? []).filter { !names.contains($0.name) }
      antenna_delays = (kept + list).sorted { $0.name < $1.name }
    }
    power_bias = other.power_bias ?? power_bias
    residuals = other.residuals ?? residuals
    if let list = other.pairs {
      let columns = Set(list.map(\.column))
      pairs = (pairs ?? []).filter { !columns.contains($0.column) } + list
    }
    antennas = other.antennas ?? antennas
    channel = other.channel ?? channel
    frequency_hz = other.frequency_hz ?? frequency_hz
    wavelength_m = other.wavelength_m ?? wavelength_m
    elevation_deg = other.elevation_deg ?? elevation_deg
    noise_rad = other.noise_rad ?? noise_rad
  }
}
