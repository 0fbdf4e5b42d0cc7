// SPDX-License-Identifier: Apache-2.0
public import Ranging
public import UCI

/// The assumptions of a session's estimates about the boards and the place.
public struct EstimationSettings: Sendable {
  /// Metres that both antenna delays together add to the distances that the chip reports.
  public var delay = 0.0
  /// The delays of single peers in metres, in place of `delay`.
  public var delays: [MACAddress: Double] = [:]
  /// One standard deviation in metres of the constant error that remains after the subtraction of
  /// the delay. Nil: the boards are not calibrated, and the deviation is 0.2 to 0.3 m, by the
  /// family of the chip.
  public var delayDeviation: Double?
  /// The deviations of single peers, which replace `delayDeviation`.
  package var delayDeviations: [MACAddress: Double] = [:]
  /// The family of this device's chip, which a session fills in.
  package var chip = ChipFamily.unknown
  /// The ranging bias at each received level.
  public var powerBias = PowerBias([])
  /// Noise of a distance with line of sight and a good level: one standard deviation in metres.
  /// FiRa notifications have none; boards show 2 to 5 cm.
  public var distanceDeviation = 0.05
  /// The phase differences of the pair of antennas for azimuth at each angle to the plane in its
  /// middle. Angles are positive to the right, as in FiRa. Nil: azimuth is not computed.
  public var azimuth: PhaseTable?
  /// The phase differences of the pair for elevation at each angle, positive upwards. Nil:
  /// elevation is not computed.
  public var elevation: PhaseTable?
  /// The assumed elevation, in radians, of peers whose elevation is not measured.
  public var assumedElevation = 0.0
  /// Noise of the phase difference of one frame in radians, one standard deviation. Boards show 3.5
  /// to 5 degrees.
  public var phaseDeviation = 5 * Double.pi / 180
  /// The error of the antennas' table in radians of phase, one standard deviation. No filter
  /// removes it.
  public var modelDeviation = 7 * Double.pi / 180
  /// The model of blocked paths.
  public var lineOfSight = LineOfSightModel()
  /// The parameters of the filter of distances.
  public var filter = RangeEstimator.Parameters()
  /// Whether measurements wait for the diagnostics of their round from the first round on. Nil:
  /// only if the session requested diagnostics. Otherwise, they wait once diagnostics have arrived.
  public var expectsDiagnostics: Bool?

  /// Creates settings without calibration.
  public init() {}
}

extension EstimationSettings {
  /// Creates settings from a calibration of the antennas of this device and of distances to its
  /// peers.
  ///
  /// - Parameters:
  ///   - calibration: the measured errors of boards and antennas.
  ///   - board: the name of this device in `antenna_delays`, where peers are named by their
  ///     addresses, like `0001`. An antenna's own delay takes precedence over the delay of a peer.
  ///     The delay of a peer takes precedence over the common one.
  ///   - channel: the channel of the session.
  ///   - peers: the peers of the session.
  public init(
    _ calibration: RangingCalibration, board: String? = nil, channel: Int = 9,
    peers: [MACAddress] = []
  ) {
    self.init()
    let known = calibration.delaysOfPeers(of: board, channel: channel)
    let others = calibration.delayOfOthers(than: known)
    delay = others.metres
    if calibration.delay != nil || !known.isEmpty {
      delayDeviation = calibration.constantDeviation(delay: others.deviation)
      filter.slowDeviation = calibration.residuals?.positionDeviation ?? filter.slowDeviation
    }
    func add(_ peer: MACAddress, _ delay: RangingCalibration.Delay) {
      delays[peer] = delay.metres
      delayDeviations[peer] = calibration.constantDeviation(delay: delay.deviation)
    }
    for (name, delay) in known {
      if let address = MACAddress(name) { add(address, delay) }
    }
    if let board {
      for peer in peers {
        if let delay = calibration.delay(board, peer, channel: channel) { add(peer, delay) }
      }
    }
    powerBias = calibration.powerBias
    lineOfSight.learned = calibration.path.flatMap { $0.isUsable ? $0 : nil }
    assumedElevation = (calibration.elevationDegrees ?? 0) * .pi / 180
    for pair in calibration.pairs ?? [] {
      guard let antennas = calibration.antennas(of: pair) else { continue }
      if antennas.isUpright {
        elevation = elevation ?? antennas.table
      } else if azimuth == nil {
        azimuth = antennas.table
        if let noise = pair.phaseNoise ?? calibration.phaseNoise, noise > 0 {
          phaseDeviation = noise
        }
        modelDeviation = pair.modelDeviationAnywhere ?? modelDeviation
      }
    }
  }
}

extension EstimationSettings {
  /// Returns the constant error of distances to a peer: one standard deviation in metres.
  func constantDeviation(of peer: MACAddress) -> Double {
    delayDeviations[peer] ?? delayDeviation ?? chip.uncalibratedDeviation(to: .unknown)
  }

  /// Returns the constant error that a calibration would reduce: one standard deviation in metres.
  /// Nil where the delays of all peers are calibrated.
  package func uncalibratedDeviation(
    on chip: ChipFamily, peers: [MACAddress] = []
  ) -> Double? {
    let isKnown = !peers.isEmpty && peers.allSatisfy { delayDeviations[$0] != nil }
    return delayDeviation != nil || isKnown ? nil : chip.uncalibratedDeviation(to: .unknown)
  }
}

extension ChipFamily {
  init(_ vendor: Dialect.Vendor) {
    switch vendor {
    case .qorvo: self = .dw3000
    case .nxp: self = .nxp
    case .android, .unknown: self = .unknown
    }
  }
}

extension RangingCalibration {
  /// Returns the delay of distances from a board to a peer; nil if it is unknown.
  fileprivate func delay(_ board: String, _ peer: MACAddress, channel: Int) -> Delay? {
    // Files name peers `0001` or `0x0001`.
    let names = [String(peer.description.dropFirst(2)), peer.description]
    let own = BoardAntenna(board, channel: channel)
    let others = names.map { BoardAntenna($0, channel: channel) }
    if let own = delay(of: own), let other = others.lazy.compactMap({ delay(of: $0) }).first {
      let variance = own.deviation * own.deviation + other.deviation * other.deviation
      return (own.metres + other.metres, variance.squareRoot())
    }
    let sums = sums
    let sum = others.lazy.compactMap { sums[[own, $0].sorted()] }.first
    return sum.map { ($0.delay, $0.standardDeviation ?? 0) }
  }

  /// Returns the phases of a pair of antennas at angles as in FiRa, and whether these are
  /// elevations. Returns nil if the file does not determine the phases, or the pair is along the
  /// direction of view.
  fileprivate func antennas(of pair: Pair) -> (table: PhaseTable, isUpright: Bool)? {
    var axis = pair.axis ?? [0, 1, 0]
    var spacing = pair.spacingInWavelengths
    if let metres = pair.spacing { spacing = carrierWavelength.map { metres / $0 } }
    if let names = pair.antennas {
      guard names.count == 2, let a = antennas?[names[0]], let b = antennas?[names[1]],
        a.count == 3, b.count == 3, let wavelength = carrierWavelength
      else { return nil }
      axis = zip(a, b).map { $0 - $1 }
      spacing = axis.reduce(0) { $0 + $1 * $1 }.squareRoot() / wavelength
    }
    guard axis.count == 3, max(abs(axis[1]), abs(axis[2])) > abs(axis[0]) else { return nil }
    let isUpright = abs(axis[2]) > abs(axis[1])
    let offset = pair.offset ?? 0
    var table: PhaseTable?
    if let points = pair.table {
      table = PhaseTable(
        points.map { point in
          (
            angle: point.angleDegrees * .pi / 180,
            phase: (point.phaseInRadians ?? .nan) + offset
          )
        })
    } else if let spacing, spacing != 0, let ideal = PhaseTable(spacing: spacing) {
      table = PhaseTable(
        unwrapped: zip(ideal.angles, ideal.phases).map { (angle: $0, phase: $1 + offset) })
    }
    // The device's y axis points to the left, and FiRa's angles are positive to the right.
    let isAgainst = isUpright ? axis[2] < 0 : axis[1] > 0
    guard let table else { return nil }
    return (isAgainst ? table.mirrored : table, isUpright)
  }
}

extension PhaseTable {
  /// The table with the opposite sign of angles, for the same antennas.
  fileprivate var mirrored: PhaseTable {
    PhaseTable(unwrapped: zip(angles, phases).map { (angle: -$0, phase: $1) }) ?? self
  }
}
