// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite("Polygon")
struct PolygonTests {
  static func points(_ numbers: [Double]) -> [SIMD2<Double>] {
    stride(from: 0, to: numbers.count, by: 2).map { SIMD2(numbers[$0], numbers[$0 + 1]) }
  }

  @Test("the area has the sign of the direction")
  func area() {
    let square = Self.points([0, 0, 2, 0, 2, 2, 0, 2])
    #expect(Polygon.area(square) == 4)
    #expect(Polygon.area(square.reversed()) == -4)
    #expect(Polygon.area([]) == 0)
    // The place of a polygon does not matter.
    let far = square.map { $0 + SIMD2(1000, -500) }
    #expect(abs(Polygon.area(far) - 4) < 1e-9)
  }

  @Test(
    "corners that enclose an area are accepted",
    arguments: [
      [0, 0, 1, 0, 0, 1],
      [0, 0, 0, 1, 1, 0],
      // An L, and a room with a pillar's notch.
      [0, 0, 4, 0, 4, 1, 1, 1, 1, 4, 0, 4],
      [0, 0, 4, 0, 4, 4, 2.5, 4, 2.5, 3, 1.5, 3, 1.5, 4, 0, 4],
      // A corner on a straight wall.
      [0, 0, 1, 0, 2, 0, 2, 2, 0, 2],
    ])
  func accepted(_ numbers: [Double]) {
    #expect(Polygon.problem(Self.points(numbers)) == nil)
    #expect(Polygon.problem(Self.points(numbers).reversed()) == nil)
  }

  @Test(
    "other corners are refused with the reason",
    arguments: [
      ([], "a polygon has at least 3 corners, not 0"),
      ([0, 0, 1, 1], "a polygon has at least 3 corners, not 2"),
      ([0, 0, 1, 0, 1, 0], "corners 1 and 2 are the same point"),
      ([0, 0, 1, 0, 1, 1, 0, 0], "corners 3 and 0 are the same point"),
      ([0, 0, 1, 0, 2, 0], "the corners enclose no area"),
      ([0, 0, 2, 2, 2, 0, 0, 2], "the edges from corners 0 and 2 meet"),
      // A corner that touches a wall.
      ([0, 0, 4, 0, 4, 2, 2, 0, 0, 2], "the edges from corners 0 and 2 meet"),
      // A wall that runs back along another one.
      ([0, 0, 4, 0, 4, 2, 3, 0, 1, 0, 0, 2], "the edges from corners 0 and 2 meet"),
    ])
  func refused(_ numbers: [Double], _ reason: String) {
    #expect(Polygon.problem(Self.points(numbers)) == reason)
  }

  @Test("the number of corners is limited")
  func corners() {
    let ring = (0..<1001).map { number in
      let angle = Double(number) * 2 * .pi / 1001
      return SIMD2(Math.cos(angle), Math.sin(angle))
    }
    #expect(Polygon.problem(ring) == "a polygon has at most 1000 corners")
    #expect(Polygon.problem(Array(ring.prefix(200))) == nil)
  }
}

@Suite("Address")
struct AddressTests {
  @Test(
    "an address is read in each form, and written in one",
    arguments: [
      ("0x0001", "0x0001"), ("0x1", "0x0001"), ("0X1A2b", "0x1a2b"), ("1a:2b", "0x1a2b"),
      ("0x1122334455667788", "0x1122334455667788"),
      ("11:22:33:44:55:66:77:88", "0x1122334455667788"),
      ("00:00:00:00:00:00:00:01", "0x0000000000000001"), ("0x00001", "0x0000000000000001"),
    ])
  func read(_ text: String, _ written: String) {
    #expect(Address(text)?.description == written)
    #expect(Address(written) == Address(text))
  }

  @Test(
    "another text is not an address",
    arguments: [
      "", "0x", "1", "12ab", "0xg1", "1:2", "1a:2b:3c", "0x11223344556677889", "0x+1", "::",
      "0x１", "1a-2b",
    ])
  func refused(_ text: String) { #expect(Address(text) == nil) }

  @Test("short and extended addresses of one value differ")
  func kinds() {
    #expect(Address(1) != Address(extended: 1))
    #expect(Address(1).description == "0x0001")
  }
}
