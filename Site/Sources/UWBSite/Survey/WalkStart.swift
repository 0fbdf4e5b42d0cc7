// SPDX-License-Identifier: Apache-2.0

/// The places of anchors and of a rig in closed form, without start values.
///
/// The squared distances between two sets of points, less the means of rows and columns, are a
/// product of two matrices. Each of them has two columns, up to a common linear map. The means of
/// the rows determine this map. Source: Crocco, Del Bue and Murino (2012).
struct WalkStart: Sendable {
  var anchors: [SIMD2<Double>]
  var places: [SIMD2<Double>]
  var headings: [Double]

  /// - Parameter squares: The squared distances in the plane, a row for each place of the rig.
  /// - Returns: nil if the places or the anchors lie on a line.
  init?(squares: [[Double]]) {
    guard let columns = squares.first?.count, columns >= 3, squares.count >= 6 else { return nil }
    let rows = squares.map { $0.reduce(0, +) / Double(columns) }
    let means = (0..<columns).map { j in
      squares.reduce(0) { $0 + $1[j] } / Double(squares.count)
    }
    let mean = rows.reduce(0, +) / Double(rows.count)
    let centered = squares.enumerated().map { i, row in
      row.enumerated().map { j, value in value - rows[i] - means[j] + mean }
    }
    guard let (left, right) = Self.factors(centered),
      let stretch = Self.stretch(left, rows)
    else { return nil }
    let (a, b, c) = (stretch.factor.a, stretch.factor.b, stretch.factor.c)
    places = left.map { SIMD2($0.x * a + $0.y * b, $0.y * c) + stretch.shift }
    anchors = right.map { SIMD2($0.x / a, $0.y / c - $0.x * b / (a * c)) / -2 }
    headings = []
  }

  /// Factors a matrix of rank two into columns; nil for a smaller rank.
  private static func factors(
    _ matrix: [[Double]]
  ) -> (left: [SIMD2<Double>], right: [SIMD2<Double>])? {
    let count = matrix[0].count
    var squares = Matrix(rows: count, columns: count)
    for row in matrix {
      for i in 0..<count {
        for j in 0..<count { squares[i, j] += row[i] * row[j] }
      }
    }
    let eigen = SymmetricEigen(squares)
    guard eigen.values[count - 2] > 1e-9 * eigen.values[count - 1] else { return nil }
    let vectors = eigen.vectors
    let right = (0..<count).map { SIMD2(vectors[$0, count - 1], vectors[$0, count - 2]) }
    let left = matrix.map { row in
      zip(row, right).reduce(SIMD2<Double>.zero) { $0 + $1.0 * $1.1 }
    }
    return (left, right)
  }

  /// Returns the linear map as [a 0; b c], and the middle of the places as seen from the anchors.
  private static func stretch(
    _ left: [SIMD2<Double>], _ rows: [Double]
  ) -> (factor: (a: Double, b: Double, c: Double), shift: SIMD2<Double>)? {
    let terms = left.map { [$0.x * $0.x, 2 * $0.x * $0.y, $0.y * $0.y, 2 * $0.x, 2 * $0.y, 1] }
    guard let x = leastSquares(terms, rows), x[0] > 0 else { return nil }
    let a = x[0].squareRoot()
    let b = x[1] / a
    guard x[2] - b * b > 0 else { return nil }
    let c = (x[2] - b * b).squareRoot()
    return ((a, b, c), SIMD2(x[3] / a, (x[4] - b * x[3] / a) / c))
  }

  static func leastSquares(_ terms: [[Double]], _ values: [Double]) -> [Double]? {
    guard let count = terms.first?.count else { return nil }
    // The columns are scaled, because some contain square metres and others plain numbers.
    let scales = (0..<count).map { k in
      max(terms.reduce(0) { $0 + $1[k] * $1[k] }.squareRoot(), 1e-300)
    }
    var matrix = Matrix(rows: count, columns: count)
    var right = Array(repeating: 0.0, count: count)
    for (row, value) in zip(terms, values) {
      for i in 0..<count {
        right[i] += row[i] / scales[i] * value
        for j in 0..<count { matrix[i, j] += row[i] / scales[i] * row[j] / scales[j] }
      }
    }
    for i in 0..<count { matrix[i, i] += 1e-12 }
    guard let solution = Cholesky(matrix)?.solve(right) else { return nil }
    return zip(solution, scales).map { $0 / $1 }
  }

  /// The start with all places mirrored.
  var mirrored: WalkStart {
    var result = self
    result.anchors = anchors.map { SIMD2($0.x, -$0.y) }
    result.places = places.map { SIMD2($0.x, -$0.y) }
    return result
  }

  /// Finds the heading of the rig at each place from the differences between the ranges of its
  /// tags.
  mutating func findHeadings(_ poses: [WalkPose], offsets: [SIMD2<Double>], core: [Int]) {
    var index: [Int: Int] = [:]
    for (position, anchor) in core.enumerated() { index[anchor] = position }
    let own = offsets.reduce(0) { $0 + $1.lengthSquared } / Double(max(offsets.count, 1))
    headings = zip(poses, places).map { pose, place in
      var (terms, values): ([[Double]], [Double]) = ([], [])
      for range in pose.ranges {
        guard let anchor = index[range.anchor],
          let mean = pose.meanSquare(range.anchor, tags: offsets.count)
        else { continue }
        let (d, l) = (place - anchors[anchor], offsets[range.tag])
        terms.append([2 * d.dot(l), 2 * d.dot(l.normal)])
        values.append(range.distance * range.distance - mean - l.lengthSquared + own)
      }
      guard let x = Self.leastSquares(terms, values) else { return 0 }
      return Math.atan2(x[1], x[0])
    }
  }
}
