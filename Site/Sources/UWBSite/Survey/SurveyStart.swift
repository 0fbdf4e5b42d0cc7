// SPDX-License-Identifier: Apache-2.0

/// Places without start values: classical scaling of shortest paths, then majorisation.
extension SurveyModel {
  /// Returns the length of the shortest path between each two anchors, in the plane.
  func shortestPaths() -> Matrix {
    var lengths = Matrix(rows: count, columns: count)
    for index in lengths.elements.indices { lengths.elements[index] = .infinity }
    for anchor in 0..<count { lengths[anchor, anchor] = 0 }
    for pair in pairs {
      lengths[pair.first, pair.second] = level(pair)
      lengths[pair.second, pair.first] = level(pair)
    }
    for middle in 0..<count {
      for i in 0..<count {
        for j in 0..<count {
          lengths[i, j] = min(lengths[i, j], lengths[i, middle] + lengths[middle, j])
        }
      }
    }
    return lengths
  }

  /// Computes places by classical multidimensional scaling. Every anchor must have a path to all
  /// others.
  ///
  /// Paths around corners are too long and distort large sites, so the result is only a start.
  func classicalScaling() -> [SIMD2<Double>] {
    let lengths = shortestPaths()
    var squares = Matrix(rows: count, columns: count)
    for index in squares.elements.indices {
      squares.elements[index] = lengths.elements[index] * lengths.elements[index]
    }
    let rows = (0..<count).map { i in
      (0..<count).reduce(0) { $0 + squares[i, $1] } / Double(count)
    }
    let mean = rows.reduce(0, +) / Double(count)
    for i in 0..<count {
      for j in 0..<count { squares[i, j] = -(squares[i, j] - rows[i] - rows[j] + mean) / 2 }
    }
    let eigen = SymmetricEigen(squares)
    func coordinate(_ anchor: Int, _ axis: Int) -> Double {
      guard axis >= 0 else { return 0 }
      return eigen.vectors[anchor, axis] * max(eigen.values[axis], 0).squareRoot()
    }
    return (0..<count).map { SIMD2(coordinate($0, count - 1), coordinate($0, count - 2)) }
  }

  /// Improves places by majorisation (SMACOF). Pairs without a range have no weight.
  func majorised(_ start: [SIMD2<Double>], steps: Int = 60) -> [SIMD2<Double>] {
    var laplacian = Matrix(rows: count, columns: count)
    for pair in pairs {
      let weight = 1.0
      laplacian[pair.first, pair.second] -= weight
      laplacian[pair.second, pair.first] -= weight
      laplacian[pair.first, pair.first] += weight
      laplacian[pair.second, pair.second] += weight
    }
    let inverse = SymmetricEigen(laplacian).pseudoInverse(leavingOut: 1)
    var places = start
    for _ in 0..<steps {
      var pull = Array(repeating: SIMD2<Double>.zero, count: count)
      for pair in pairs {
        let difference = places[pair.first] - places[pair.second]
        let force = difference * (level(pair) / max(difference.length, 1e-6))
        pull[pair.first] += force
        pull[pair.second] -= force
      }
      places = (0..<count).map { i in
        (0..<count).reduce(SIMD2<Double>.zero) { $0 + inverse[i, $1] * pull[$1] }
      }
    }
    return places
  }

  /// The groups of anchors that ranges connect, the largest first.
  var islands: [[Int]] {
    let neighbours = neighbours
    var rest = Set(0..<count)
    var result: [[Int]] = []
    for start in 0..<count where rest.contains(start) {
      result.append(Self.connected(to: start, &rest, neighbours))
    }
    return result.sorted { $0.count > $1.count }
  }

  /// Removes an anchor, and all anchors connected to it, from `rest`.
  static func connected(to start: Int, _ rest: inout Set<Int>, _ neighbours: [[Int]]) -> [Int] {
    rest.remove(start)
    var (group, next) = ([start], 0)
    while next < group.count {
      for neighbour in neighbours[group[next]] where rest.remove(neighbour) != nil {
        group.append(neighbour)
      }
      next += 1
    }
    return group.sorted()
  }
}
