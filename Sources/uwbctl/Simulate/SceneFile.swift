// SPDX-License-Identifier: Apache-2.0

import UWBLab
import UWBSimulator

/// The conditions of a simulated scene in JSON, for `--scene`; all are optional.
struct SceneFile: Codable {
  struct Level: Codable {
    var rx_power_dbm: Double
    var bias_m: Double
  }
  struct Wall: Codable {
    /// x and y in metres.
    var from, to: [Double]
    var loss_db: Double?
    var delay_ns: Double?
  }
  struct Delay: Codable {
    var tx_m: Double?
    var rx_m: Double?
  }
  struct Point: Codable {
    /// Positive to the right of the antennas' direction.
    var angle_deg: Double
    var phase_rad: Double
  }
  struct Chip: Codable {
    /// Metres: x, y, z.
    var position: [Double]?
    var yaw_deg: Double?
    var clock_ppm: Double?
    var antenna_delay_m: Double?
    /// By channel.
    var delays: [String: Delay]?
    var antenna: [Point]?
  }

  var distance_noise_m: Double?
  var angle_noise_deg: Double?
  var loss: Double?
  var range_m: Double?
  /// Clock offsets are random within plus or minus this value.
  var clock_ppm: Double?
  var clock_wander_ppm: Double?
  var carrier_noise_ppm: Double?
  var level_noise_db: Double?
  var power_bias: [Level]?
  var reflection_delay_ns: Double?
  var reflection_loss_db: Double?
  var noise_dbm: Double?
  var walls: [Wall]?
  /// By the names that `simulate` prints, or "all".
  var chips: [String: Chip]?

  init(file path: String) throws(LabError) {
    self = try JSONFile.read(path, as: "a scene")
    if let problem { throw .badFile(path, problem) }
  }

  private var problem: String? {
    let amounts: [(String, Double?)] = [
      ("distance_noise_m", distance_noise_m), ("angle_noise_deg", angle_noise_deg),
      ("range_m", range_m), ("carrier_noise_ppm", carrier_noise_ppm),
      ("level_noise_db", level_noise_db),
      ("reflection_delay_ns", reflection_delay_ns), ("reflection_loss_db", reflection_loss_db),
    ]
    if let bad = amounts.first(where: { !(0...1e6 ~= $0.1 ?? 0) }) {
      return "\(bad.0) is negative or too large"
    }
    for value in [clock_ppm, clock_wander_ppm] + (chips ?? [:]).values.map(\.clock_ppm)
    where abs(value ?? 0) > 1000 {
      return "clock offsets are limited to 1000 ppm"
    }
    if !(0...1 ~= loss ?? 0) { return "loss is not between 0 and 1" }
    if let walls, walls.contains(where: { $0.from.count != 2 || $0.to.count != 2 }) {
      return "a wall needs from and to, each x and y"
    }
    for (name, chip) in chips ?? [:] {
      if let position = chip.position,
        position.count != 3 || !position.allSatisfy({ abs($0) < 1e5 })
      {
        return "the position of \(name) is not x, y and z"
      }
      if let points = chip.antenna {
        let rises = zip(points, points.dropFirst()).allSatisfy { $0.angle_deg < $1.angle_deg }
        if points.count < 2 || !rises || !points.allSatisfy({ abs($0.phase_rad) < 1e3 }) {
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

  /// Applies the conditions to a scene.
  func apply(to scene: inout Scene) {
    func set(_ value: Double?, _ field: WritableKeyPath<Scene, Double>) {
      if let value { scene[keyPath: field] = value }
    }
    set(distance_noise_m, \.distanceNoise)
    set(angle_noise_deg, \.angleNoise)
    set(loss, \.loss)
    set(range_m, \.range)
    set(clock_ppm, \.radio.clockSpread)
    set(clock_wander_ppm, \.radio.clockWander)
    set(carrier_noise_ppm, \.radio.carrierNoise)
    set(level_noise_db, \.radio.levelNoise)
    set(reflection_delay_ns, \.radio.reflectionDelay)
    set(reflection_loss_db, \.radio.reflectionLoss)
    set(noise_dbm, \.radio.noiseLevel)
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

  /// Applies the conditions to a chip.
  func apply(to chip: SimulatedBench.Chip) {
    for name in ["all", chip.name] {
      guard let given = chips?[name] else { continue }
      var placement = chip.placement
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
      chip.placement = placement
    }
  }
}
