// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite("Missing pairs")
struct LinkModelTests {
  static let places: [SIMD2<Double>] = [[0, 0], [4, 1], [9, 0], [5, 6], [1, 7], [12, 5]]

  /// A model in which pairs up to a distance have a range.
  static func model(_ reach: Double) -> LinkModel {
    let anchors = places.indices.map { SurveyAnchor("A\($0)", height: 2) }
    var measured: Set<[Int]> = []
    for i in places.indices {
      for j in places.indices.dropFirst(i + 1) where (places[i] - places[j]).length < reach {
        measured.insert([i, j])
      }
    }
    return LinkModel(SurveyModel(anchors: anchors, pairs: []), measured: measured)
  }

  @Test("all pairs, or none, say nothing", arguments: [0.0, 100])
  func silent(_ reach: Double) {
    let model = Self.model(reach)
    #expect(model.reach(Self.places) == nil)
    #expect(model.cost(Self.places) == 0)
  }

  @Test("the reach lies between the ranges and the missing pairs", arguments: [6.5, 7.5, 9])
  func reach(_ reach: Double) throws {
    let found = try #require(Self.model(reach).reach(Self.places))
    #expect(abs(found.distance - reach) < 1.5)
  }

  @Test("places that break the reach cost more", arguments: [0, 2, 5])
  func broken(_ anchor: Int) {
    let model = Self.model(7.5)
    var folded = Self.places
    // Two anchors without a range to each other are at almost the same place.
    folded[anchor] = Self.places[(anchor + 4) % 6] + [0.3, 0.2]
    #expect(model.cost(folded) > model.cost(Self.places) + 1)
  }

  @Test(
    "the slope is the derivative of the cost, and the information is positive",
    arguments: [6.0, 7.5, 9], [0.3, 1, 3])
  func derivatives(_ distance: Double, _ width: Double) {
    let model = Self.model(7.5)
    let reach = LinkModel.Reach(distance: distance, width: width, most: 0.9)
    var matrix = Matrix(rows: 12, columns: 12)
    var slope = Array(repeating: 0.0, count: 12)
    model.add(Self.places, reach, to: &matrix, &slope)
    for index in 0..<12 {
      let costs = [1e-5, -1e-5].map { step in
        var moved = Self.places
        moved[index / 2][index % 2] += step
        return model.cost(moved, reach)
      }
      // The cost is twice a logarithm.
      #expect(abs(slope[index] + (costs[0] - costs[1]) / 4e-5) < 1e-4)
      #expect(matrix[index, index] >= 0)
    }
    // A motion of the whole shape does not change the cost.
    #expect(abs(slope.indices.reduce(0) { $0 + ($1 % 2 == 0 ? slope[$1] : 0) }) < 1e-9)
  }
}
