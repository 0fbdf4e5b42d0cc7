// SPDX-License-Identifier: Apache-2.0
import Ranging
import Testing

@Suite struct NXPPhaseGridTests {
  /// A falling row as published ones are: +137 degrees at pan -60, -119 at +60.
  static let bytes: [UInt8] =
    [1, 2]
    + (0..<11).flatMap { tilt in
      (0..<11).flatMap { pan -> [UInt8] in
        let value = UInt16(bitPattern: Int16((137 - 25.6 * Double(pan) + Double(tilt - 5)) * 128))
        return [UInt8(value & 0xFF), UInt8(value >> 8)]
      }
    }

  @Test func `Reads and writes the grid of a chip`() throws {
    let grid = try #require(NXPPhaseGrid(bytes: Self.bytes))
    #expect(grid.pair == 2)
    #expect(abs(grid.degrees[0] - 132) < 0.01 && abs(grid.degrees[120] + 114) < 0.01)
    #expect(grid.bytes == Self.bytes)
    let level = try #require(grid.table())
    #expect(abs(level.phase(at: -60 * .pi / 180) - 137 * .pi / 180) < 1e-3)
    let low = try #require(grid.table(tilt: -5))
    #expect(abs(low.phase(at: 0) - 4 * .pi / 180) < 1e-3)
    #expect(grid.table(tilt: 6) == nil)
  }

  @Test func `Creates a grid from a measured table`() throws {
    let table = try #require(PhaseTable(spacing: 0.45))
    let grid = try #require(NXPPhaseGrid(pair: 1, table))
    let back = try #require(NXPPhaseGrid(bytes: grid.bytes)?.table(tilt: 3))
    for degrees in stride(from: -60.0, through: 60, by: 12) {
      let angle = degrees * .pi / 180
      #expect(abs(back.phase(at: angle) - table.phase(at: angle)) < 1e-3)
    }
  }

  @Test func `Refuses invalid grids`() {
    #expect(NXPPhaseGrid(bytes: []) == nil)
    #expect(NXPPhaseGrid(bytes: Array(Self.bytes.dropLast())) == nil)
    #expect(NXPPhaseGrid(bytes: [2] + Self.bytes.dropFirst()) == nil)
    #expect(NXPPhaseGrid(pair: 1, degrees: [1, 2]) == nil)
    for wrong in [Double.nan, .infinity, 256, -257] {
      #expect(NXPPhaseGrid(pair: 1, degrees: Array(repeating: wrong, count: 121)) == nil)
    }
    #expect(NXPPhaseGrid(bytes: [1, 0] + [UInt8](repeating: 0, count: 242))?.table() == nil)
  }
}
