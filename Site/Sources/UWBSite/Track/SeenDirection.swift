// SPDX-License-Identifier: Apache-2.0

/// The direction of a board from the front of another board, as chips report it.
package struct SeenDirection: Sendable, Hashable {
  /// The azimuth in radians, positive to the right, as androidx.core.uwb documents it for
  /// `RangingPosition`.
  package var azimuth: Double?
  /// The elevation in radians, positive upwards.
  package var elevation: Double?
  /// One standard deviation in degrees; nil for the deviation of the site.
  package var deviation: Double?

  package init(azimuth: Double? = nil, elevation: Double? = nil, deviation: Double? = nil) {
    (self.azimuth, self.elevation, self.deviation) = (azimuth, elevation, deviation)
  }

  /// Reads the angles of a line of `uwbctl range`: the computed angles, or the chip's own.
  init?(_ field: (String) -> RangeLine.Field?) throws(RangeLine.Problem) {
    func radians(_ key: String) throws(RangeLine.Problem) -> Double? {
      try RangeLine.number([key], field).map { $0 * .pi / 180 }
    }
    (azimuth, elevation) = (
      try radians("computed_azimuth_deg"), try radians("computed_elevation_deg")
    )
    if azimuth != nil || elevation != nil {
      let deviations = [
        try RangeLine.number(["computed_azimuth_sd_deg"], field),
        try RangeLine.number(["computed_elevation_sd_deg"], field),
      ]
      deviation = deviations.compactMap(\.self).filter { $0 > 0 }.max()
      return
    }
    func reported(_ name: String) throws(RangeLine.Problem) -> Double? {
      // A figure of merit of 0 stands for no angle.
      guard try RangeLine.number(["\(name)_fom"], field) != 0 else { return nil }
      return try radians("\(name)_deg")
    }
    (azimuth, elevation) = (try reported("azimuth"), try reported("elevation"))
    guard azimuth != nil || elevation != nil else { return nil }
  }
}

extension Facing {
  /// Returns an azimuth to the right of the front as a direction from x towards y, in radians.
  func turned(_ azimuth: Double) -> Double? {
    facing.map { ($0 - azimuth).remainder(dividingBy: 2 * .pi) }
  }
}

extension RangeLine {
  /// Returns the line with angles in the frame of the site, in place of the direction that its
  /// board has seen.
  ///
  /// - Parameter facing: the board, if it is an anchor; the front of a tag is unknown.
  package func turned(by facing: Facing?) -> RangeLine {
    guard let seen else { return self }
    var line = self
    line.seen = nil
    guard let facing, facing.facing != nil else { return line }
    if let azimuth = seen.azimuth.flatMap({ facing.turned($0) }) {
      line.quantities.append(.azimuth(azimuth))
    }
    if let elevation = seen.elevation { line.quantities.append(.elevation(elevation)) }
    line.angleDeviation = seen.deviation ?? facing.angleDeviation
    return line
  }
}
