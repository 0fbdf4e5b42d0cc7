// SPDX-License-Identifier: Apache-2.0

package import Formats
package import UWBSimulator

/// The conditions of a simulated scene in JSON, for `--scene`. All members are optional.
package struct SceneFile: Codable {
  package struct Level: Codable {
    package var rx_power_dbm: Double
    package var bias_m: Double
  }
  package struct Wall: Codable {
    /// The end points as x and y in metres.
    package var from, to: [Double]
    package var loss_db: Double?
    package var delay_ns: Double?
  }
  package struct Delay: Codable {
    package var tx_m: Double?
    package var rx_m: Double?
  }
  package struct Point: Codable {
    /// The angle in degrees, positive to the right of the antennas' direction.
    package var angle_deg: Double
    package var phase_rad: Double
  }
  package struct Chip: Codable {
    /// The position x, y, z in metres.
    package var position: [Double]?
    package var yaw_deg: Double?
    package var clock_ppm: Double?
    package var antenna_delay_m: Double?
    /// The delays by channel.
    package var delays: [String: Delay]?
    package var antenna: [Point]?
  }

  package var distance_noise_m: Double?
  package var angle_noise_deg: Double?
  package var loss: Double?
  package var range_m: Double?
  /// The limit of the random clock offsets, plus or minus, in ppm.
  package var clock_ppm: Double?
  package var clock_wander_ppm: Double?
  package var carrier_noise_ppm: Double?
  package var level_noise_db: Double?
  package var power_bias: [Level]?
  package var reflection_delay_ns: Double?
  package var reflection_loss_db: Double?
  package var noise_dbm: Double?
  package var walls: [Wall]?
  /// Whether overlapping rounds of different controllers are lost.
  package var collisions: Bool?
  /// The chips by the names that `simulate` prints, or "all".
  package var chips: [String: Chip]?

  package init(file path: String) throws(FormatError) {
    self = try JSONFile.read(path, as: "a scene")
    if let problem { throw .badFile(path, problem) }
  }

  private typealias Amount = (name: String, value: Double?, field: WritableKeyPath<Scene, Double>)

  private var amounts: [Amount] {
    [
      ("distance_noise_m", distance_noise_m, \.distanceNoise),
      ("angle_noise_deg", angle_noise_deg, \.angleNoise), ("range_m", range_m, \.range),
      ("carrier_noise_ppm", carrier_noise_ppm, \.radio.carrierNoise),
      ("level_noise_db", level_noise_db, \.radio.levelNoise),
      ("reflection_delay_ns", reflection_delay_ns, \.radio.reflectionDelay),
      ("reflection_loss_db", reflection_loss_db, \.radio.reflectionLoss),
    ]
  }

  private var problem: String? {
    if let bad = amounts.first(where: { !(0...1e6 ~= $0.value ?? 0) }) {
      return "\(bad.name) is negative or too large"
    }
    if !(-300...300 ~= noise_dbm ?? 0) { return "noise_dbm is not a level in dBm" }
    let levels = power_bias ?? []
    if levels.contains(where: { !(-300...300 ~= $0.rx_power_dbm && abs($0.bias_m) <= 70) }) {
      return "power_bias needs levels in dBm, and a bias of at most 70 m at each"
    }
    if Set(levels.map(\.rx_power_dbm)).count < levels.count {
      return "power_bias has a level twice"
    }
    for value in [clock_ppm, clock_wander_ppm] + (chips ?? [:]).values.map(\.clock_ppm)
    where abs(value ?? 0) > 1000 {
      return "clock offsets are limited to 1000 ppm"
    }
    if !(0...1 ~= loss ?? 0) { return "loss is not between 0 and 1" }
    if let walls, walls.contains(where: { $0.from.count != 2 || $0.to.count != 2 }) {
      return "a wall needs from and to, each x and y"
    }
    for wall in walls ?? [] {
      let isUsable =
        (wall.from + wall.to).allSatisfy { abs($0) < 1e5 } && 0...300 ~= wall.loss_db ?? 0
        && 0...1000 ~= wall.delay_ns ?? 0
      if !isUsable { return "a wall is out of range: 100 km, 0 to 300 dB, 0 to 1000 ns" }
    }
    for (name, chip) in chips ?? [:] {
      if let position = chip.position,
        position.count != 3 || !position.allSatisfy({ abs($0) < 1e5 })
      {
        return "the position of \(name) is not x, y and z"
      }
      if abs(chip.yaw_deg ?? 0) > 1e5 { return "yaw_deg of \(name) is out of range" }
      for channel in (chip.delays ?? [:]).keys where UInt8(channel) == nil {
        return "delays of \(name) are for channels, such as 9, not \(channel)"
      }
      if let points = chip.antenna {
        let rises = zip(points, points.dropFirst()).allSatisfy { $0.angle_deg < $1.angle_deg }
        if points.count < 2 || !rises
          || !points.allSatisfy({ abs($0.phase_rad) < 1e3 && abs($0.angle_deg) <= 360 })
        {
          return "the antenna of \(name) needs two points or more, with rising angles"
        }
      }
      for metres in [chip.antenna_delay_m]
        + (chip.delays ?? [:]).values.flatMap({ [$0.tx_m, $0.rx_m] }) where abs(metres ?? 0) > 70
      {
        return "an antenna delay of \(name) is more than 70 m"
      }
    }
    return nil
  }

  package func apply(to scene: inout Scene) {
    let others: [Amount] = [
      ("loss", loss, \.loss), ("clock_ppm", clock_ppm, \.radio.clockSpread),
      ("clock_wander_ppm", clock_wander_ppm, \.radio.clockWander),
      ("noise_dbm", noise_dbm, \.radio.noiseLevel),
    ]
    for amount in amounts + others {
      if let value = amount.value { scene[keyPath: amount.field] = value }
    }
    if let collisions { scene.radio.collisions = collisions }
    if let power_bias {
      let sorted = power_bias.sorted { $0.rx_power_dbm < $1.rx_power_dbm }
      scene.radio.powerBias = Curve(sorted.map { ($0.rx_power_dbm, $0.bias_m) })
    }
    if let walls {
      scene.radio.walls = walls.map { wall in
        var result = RadioConditions.Wall(
          from: SIMD3(wall.from[0], wall.from[1], 0), to: SIMD3(wall.to[0], wall.to[1], 0))
        result.loss = wall.loss_db ?? result.loss
        result.delay = wall.delay_ns ?? result.delay
        return result
      }
    }
  }

  /// Places the chips, and prints a note about chips of the file that do not exist.
  package func apply(to chips: [SimulatedBench.Chip]) {
    for chip in chips { apply(to: &chip.placement, of: chip.name) }
    let names = chips.map(\.name)
    let others = (self.chips ?? [:]).keys.filter { $0 != "all" && !names.contains($0) }.sorted()
    guard !others.isEmpty else { return }
    note(
      "The scene places \(others.joined(separator: ", ")), but the simulated chips are "
        + "\(names.joined(separator: ", ")).")
  }

  package func apply(to placement: inout Placement, of name: String) {
    for name in ["all", name] {
      guard let given = chips?[name] else { continue }
      if let position = given.position {
        placement.motion = .still(SIMD3(position[0], position[1], position[2]))
      }
      placement.yaw = given.yaw_deg ?? placement.yaw
      placement.clockOffset = given.clock_ppm ?? placement.clockOffset
      placement.antennaDelayError = given.antenna_delay_m ?? placement.antennaDelayError
      for (channel, delay) in given.delays ?? [:] {
        guard let number = UInt8(channel) else { continue }
        placement.delayErrors[number] = .init(
          transmit: delay.tx_m ?? 0, receive: delay.rx_m ?? 0)
      }
      if let points = given.antenna {
        placement.antenna = Curve(points.map { ($0.angle_deg, $0.phase_rad) })
      }
    }
  }
}
