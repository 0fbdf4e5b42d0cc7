// SPDX-License-Identifier: Apache-2.0

/// The positions of stored elements in a sparse symmetric matrix.
///
/// Related unknowns are close together (reverse Cuthill-McKee order). A row stores the elements
/// from its first related unknown to the diagonal. Factors and inverses need no other elements.
/// Source: A. George and J. Liu, "Computer Solution of Large Sparse Positive Definite Systems"
/// (1981).
struct MatrixProfile: Sendable {
  /// The row of each unknown.
  fileprivate let rows: [Int]
  /// The first stored column of each row.
  fileprivate let firsts: [Int]
  /// The index that an element in column 0 of each row would have.
  fileprivate let origins: [Int]
  fileprivate let size: Int
  /// The approximate number of multiplications in a factorisation.
  let work: Double

  /// - Parameter neighbours: the related unknowns of each unknown.
  init(neighbours: [Set<Int>]) {
    let order = Self.order(neighbours)
    var rows = [Int](repeating: 0, count: order.count)
    for (row, unknown) in order.enumerated() { rows[unknown] = row }
    var (firsts, origins) = ([Int](), [Int]())
    var (size, work) = (0, 0.0)
    for (row, unknown) in order.enumerated() {
      let first = neighbours[unknown].reduce(row) { min($0, rows[$1]) }
      firsts.append(first)
      origins.append(size - first)
      size += row - first + 1
      work += Double(row - first + 1) * Double(row - first + 1)
    }
    (self.rows, self.firsts, self.origins) = (rows, firsts, origins)
    (self.size, self.work) = (size, work)
  }

  /// Returns the unknowns in the order of their rows.
  private static func order(_ neighbours: [Set<Int>]) -> [Int] {
    func byDegree(_ a: Int, _ b: Int) -> Bool {
      (neighbours[a].count, a) < (neighbours[b].count, b)
    }
    var isPlaced = [Bool](repeating: false, count: neighbours.count)
    var result: [Int] = []
    func visit(from start: Int) {
      var next = result.count
      result.append(start)
      isPlaced[start] = true
      while next < result.count {
        let others = neighbours[result[next]].filter { !isPlaced[$0] }.sorted(by: byDegree)
        for other in others { isPlaced[other] = true }
        result += others
        next += 1
      }
    }
    for start in neighbours.indices.sorted(by: byDegree) where !isPlaced[start] {
      let begin = result.count
      visit(from: start)
      // The unknown found last is far from the others, so it is the best start of the order.
      let last = result[result.count - 1]
      for unknown in result[begin...] { isPlaced[unknown] = false }
      result.removeSubrange(begin...)
      visit(from: last)
    }
    return result.reversed()
  }
}

/// A symmetric matrix or a lower factor, which stores the elements of a profile.
struct ProfileMatrix: Sendable {
  private let profile: MatrixProfile
  private var elements: [Double]

  /// Creates a matrix of zeros.
  init(_ profile: MatrixProfile) {
    self.profile = profile
    elements = [Double](repeating: 0, count: profile.size)
  }

  private func index(_ a: Int, _ b: Int) -> Int {
    let (row, column) = (profile.rows[a], profile.rows[b])
    return profile.origins[max(row, column)] + min(row, column)
  }

  /// Adds `weight` to the elements of every pair of these unknowns, which have to be related.
  mutating func add(_ unknowns: [Int], weight: Double) {
    for n in unknowns.indices {
      for other in 0...n { elements[index(unknowns[n], unknowns[other])] += weight }
    }
  }

  /// Returns the sum of the elements in the rows and columns of these unknowns.
  func sum(_ unknowns: [Int]) -> Double {
    unknowns.reduce(0) { sum, a in unknowns.reduce(sum) { $0 + elements[index(a, $1)] } }
  }

  /// Returns the Cholesky factor; nil if the matrix is singular.
  func factored() -> ProfileMatrix? {
    var factor = self
    for row in profile.firsts.indices {
      let (origin, first) = (profile.origins[row], profile.firsts[row])
      for column in first...row {
        let other = profile.origins[column]
        let sum =
          elements[origin + column]
          - factor.product(origin, other, max(first, profile.firsts[column])..<column)
        if row == column {
          guard sum > 1e-13 * abs(elements[origin + row]), sum.isFinite else { return nil }
          factor.elements[origin + row] = sum.squareRoot()
        } else {
          factor.elements[origin + column] = sum / factor.elements[other + column]
        }
      }
    }
    return factor
  }

  /// Returns the product of two rows in these columns. The arguments are the origins of the rows.
  private func product(_ a: Int, _ b: Int, _ columns: Range<Int>) -> Double {
    let elements = elements.span
    var sum = 0.0
    for column in columns { sum += elements[a + column] * elements[b + column] }
    return sum
  }

  /// Solves the equations. This has to be the factor of their matrix.
  func solved(_ right: [Double]) -> [Double] {
    let count = profile.firsts.count
    var result = right
    for (unknown, row) in profile.rows.enumerated() { result[row] = right[unknown] }
    for row in 0..<count {
      let (origin, first) = (profile.origins[row], profile.firsts[row])
      for k in first..<row { result[row] -= elements[origin + k] * result[k] }
      result[row] /= elements[origin + row]
    }
    for row in (0..<count).reversed() {
      let (origin, first) = (profile.origins[row], profile.firsts[row])
      result[row] /= elements[origin + row]
      for k in first..<row { result[k] -= elements[origin + k] * result[row] }
    }
    return profile.rows.map { result[$0] }
  }

  /// Returns the elements of the inverse. This has to be the factor of the matrix.
  ///
  /// Source: A. Erisman and W. Tinney, "On computing certain elements of the inverse of a sparse
  /// matrix", Communications of the ACM 18 (1975).
  func inverse() -> ProfileMatrix {
    var inverse = ProfileMatrix(profile)
    var columns = [[Int32]](repeating: [], count: profile.firsts.count)
    for row in profile.firsts.indices {
      for column in profile.firsts[row]..<row { columns[column].append(Int32(row)) }
    }
    for column in columns.indices.reversed() {
      let diagonal = elements[profile.origins[column] + column]
      let below = columns[column].map { row in
        (row: Int(row), value: elements[profile.origins[Int(row)] + column])
      }
      for (row, _) in below {
        var sum = 0.0
        for (k, value) in below {
          sum += inverse.elements[profile.origins[max(row, k)] + min(row, k)] * value
        }
        inverse.elements[profile.origins[row] + column] = -sum / diagonal
      }
      var sum = 1 / diagonal
      for (k, value) in below { sum -= inverse.elements[profile.origins[k] + column] * value }
      inverse.elements[profile.origins[column] + column] = sum / diagonal
    }
    return inverse
  }
}
