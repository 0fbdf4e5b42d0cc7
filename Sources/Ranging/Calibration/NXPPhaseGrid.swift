// SPDX-License-Identifier: Apache-2.0

/// The phase differences of a pair of antennas over pan and tilt, as stored by NXP's chips: the value
/// of the calibration parameter 0x62, AOA_ANTENNAS_PDOA_CALIB.
///
/// Eleven rows of tilt with eleven columns of pan, -60 to 60 degrees in steps of 12, each a signed
/// number of 16 bits, little-endian, in 1/128 degree; before them the byte 1 and the pair.
/// Source of the layout: the public ROS 2 and Zephyr drivers of SR150 and SR250.
package struct NXPPhaseGrid: Sendable, Hashable {
  /// Rows and columns.
  package static let steps = 11
  /// Degrees between two of them.
  package static let step = 12.0

  /// Which pair of antennas.
  package var pair: UInt8
  /// Degrees, not wrapped: row by row from the lowest tilt, each from pan -60 degrees.
  package let degrees: [Double]

  /// Returns nil unless there are 121 numbers of -256 to below 256.
  package init?(pair: UInt8, degrees: [Double]) {
    guard degrees.count == Self.steps * Self.steps,
      degrees.allSatisfy({ $0 >= -256 && ($0 * 128).rounded() <= 32767 })
    else { return nil }
    (self.pair, self.degrees) = (pair, degrees)
  }

  /// Returns nil unless there are 244 bytes of which the first is 1.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 2 + 2 * Self.steps * Self.steps, bytes[0] == 1 else { return nil }
    pair = bytes[1]
    degrees = stride(from: 2, to: bytes.count, by: 2).map { index in
      Double(Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)) / 128
    }
  }

  /// The value of the parameter.
  package var bytes: [UInt8] {
    [1, pair]
      + degrees.flatMap { value -> [UInt8] in
        let bits = UInt16(bitPattern: Int16((value * 128).rounded()))
        return [UInt8(bits & 0xFF), UInt8(bits >> 8)]
      }
  }

  /// The phase over the pan at one tilt, -5...5 in steps of 12 degrees: 0 is level.
  ///
  /// - Returns: nil if there is no such row, or all of its phases are equal.
  package func table(tilt: Int = 0) -> PhaseTable? {
    guard -5...5 ~= tilt else { return nil }
    let row = (tilt + 5) * Self.steps
    return PhaseTable(
      (0..<Self.steps).map { column in
        let pan = Self.step * Double(column - 5)
        return (pan * .pi / 180, degrees[row + column] * .pi / 180)
      })
  }

  /// Uses the phases of a table at each tilt: for chips that were measured level only.
  package init?(pair: UInt8, _ table: PhaseTable) {
    let row = (0..<Self.steps).map { column in
      table.phase(at: Self.step * Double(column - 5) * .pi / 180) * 180 / .pi
    }
    self.init(pair: pair, degrees: (0..<Self.steps).flatMap { _ in row })
  }
}
