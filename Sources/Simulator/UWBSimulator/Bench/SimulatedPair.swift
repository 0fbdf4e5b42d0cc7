// SPDX-License-Identifier: Apache-2.0

public import SystemPackage

/// A bench with a chip for a controller and chips for controlees a few metres away. Their hosts
/// configure the sessions.
public final class SimulatedPair: Sendable {
  /// The movement of the controlees.
  public enum Movement: String, CaseIterable, Sendable {
    /// The boards do not move.
    case still = "static"
    /// They move back and forth over one metre in ten seconds.
    case walk
    /// They move around the controller, once in twenty seconds.
    case circle
  }

  /// The bench of the chips.
  public let bench: SimulatedBench
  /// The chip at the origin.
  public let controller: SimulatedBench.Chip
  /// The other chips.
  public let controlees: [SimulatedBench.Chip]

  /// Creates a bench with chips; `bench.start()` starts it.
  ///
  /// - Parameters:
  ///   - profiles: the kinds of chips, used in turn.
  ///   - controlees: the number of chips besides the controller.
  ///   - scene: the environment of the chips: walls, clocks, levels.
  ///   - movement: how the controlees move.
  ///   - distance: metres from the controller to each controlee; nil for 2 to 5 metres, different
  ///     for each.
  public init(
    profiles: [ChipProfile] = [.qm33], controlees: Int = 1, scene: Scene = Scene(),
    movement: Movement = .walk, distance: Double? = nil
  ) throws(Errno) {
    precondition(controlees >= 0 && !profiles.isEmpty)
    let bench = SimulatedBench(scene: scene)
    controller = try bench.add(profile: profiles[0], at: SIMD3(0, 0, 1), name: "A")
    var others: [SimulatedBench.Chip] = []
    for index in 0..<controlees {
      let placement = Self.placement(index, of: controlees, movement, distance)
      others.append(
        try bench.add(
          profile: profiles[(index + 1) % profiles.count], placement: placement,
          name: Self.name(index + 1)))
    }
    self.bench = bench
    self.controlees = others
  }

  private static func placement(
    _ index: Int, of count: Int, _ movement: Movement, _ distance: Double?
  ) -> Placement {
    // The controlees stand in front of the controller, spread over 120 degrees, and face it.
    let bearing = count == 1 ? 20 : -60 + 120 * Double(index) / Double(count - 1)
    let radius = distance ?? 2 + 3 * Double(index * 3 % 8) / 7
    let centre = SIMD3<Double>(0, 0, 1)
    func place(_ radius: Double) -> SIMD3<Double> {
      Motion.circle(centre: centre, radius: radius, period: 1, phase: bearing).position(at: 0)
    }
    let motion: Motion =
      switch movement {
      case .still: .still(place(radius))
      case .walk: .between(place(radius), place(radius + 1), period: 10)
      case .circle: .circle(centre: centre, radius: radius, period: 20, phase: bearing)
      }
    return Placement(motion, yaw: bearing + 180)
  }

  /// Returns the name of a chip: A, B, … Z, A1, B1, …
  private static func name(_ index: Int) -> String {
    let letter = String(UnicodeScalar(UInt8(65 + index % 26)))
    return index < 26 ? letter : letter + String(index / 26)
  }
}
