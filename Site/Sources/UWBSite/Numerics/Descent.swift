// SPDX-License-Identifier: Apache-2.0

/// A search for a nearby minimum of a cost with Levenberg–Marquardt steps.
struct Descent<State> {
  var state: State
  var cost: Double
  private var damping = 1e-3

  init(from state: State, cost: Double) { (self.state, self.cost) = (state, cost) }

  /// Makes steps until the cost falls by less than 1e-4.
  ///
  /// - Parameter equations: Returns the equations at a state, as a function of the damping. It
  ///   returns the state that solves them, or nil if they have no solution.
  mutating func follow(
    steps: Int, cost: (State) -> Double, _ equations: (State) -> (_ damping: Double) -> State?
  ) {
    for _ in 0..<steps {
      let before = self.cost
      guard step(cost, equations(state)), before - self.cost >= 1e-4 else { return }
    }
  }

  /// Makes one step to a lower cost; returns false if there is none.
  private mutating func step(_ cost: (State) -> Double, _ solved: (Double) -> State?) -> Bool {
    for _ in 0..<8 {
      if let next = solved(damping) {
        let nextCost = cost(next)
        if nextCost < self.cost {
          damping = max(damping / 5, 1e-9)
          (state, self.cost) = (next, nextCost)
          return true
        }
      }
      damping *= 6
    }
    return false
  }
}
