// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import UWBLab
import UWBSimulator

struct Simulate: ReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run simulated UWB chips on pseudo-terminals until interrupted.",
    discussion: """
      Prints one line for each chip: its name, its profile and the path to open instead of a serial \
      port. The chips share one scene, so that they can range with each other. Stops on Ctrl-C.

      --scene takes JSON with any of these keys:
        distance_noise_m, angle_noise_deg, loss, range_m
        clock_ppm (offsets are random within plus or minus this), clock_wander_ppm
        carrier_noise_ppm, level_noise_db, noise_dbm
        power_bias: [{rx_power_dbm, bias_m}]
        reflection_delay_ns, reflection_loss_db
        walls: [{from: [x, y], to: [x, y], loss_db, delay_ns}]
        chips: by name, or "all": {position: [x, y, z], yaw_deg, clock_ppm,
          antenna_delay_m, delays: {"9": {tx_m, rx_m}},
          antenna: [{angle_deg, phase_rad}]}
      """)

  enum Kind: String, CaseIterable, ExpressibleByArgument {
    case qm33, qm33pdoa, sr250, fira1, mixed

    var profiles: [ChipProfile] {
      self == .mixed ? [.qm33PDoA, .sr250] : ChipProfile.named(rawValue).map { [$0] } ?? []
    }
  }

  @Option(help: "The model of the chips; mixed alternates Qorvo and NXP chips.")
  var profile = Kind.qm33pdoa

  @Option(help: "The number of chips, including the controller.")
  var chips = 2

  @Option(help: "The seed of all random numbers.")
  var seed: UInt64 = 1

  @Option(help: "The motion of all chips except the first: static, walk or circle.")
  var motion = "walk"

  @Option(help: "Distance from the first chip in metres (default: 2 to 5).")
  var distance: Double?

  @Option(help: "The fraction of exchanges that are lost, 0…1.")
  var loss = 0.0

  @Option(help: "The standard deviation of distances in centimetres.")
  var noise = 3.0

  @Option(
    help: "A file with clocks, levels, walls and antennas (JSON, see above).", completion: .file())
  var scene: String?

  @Option(
    help: "Write the stamps and the true distance of every exchange as CSV, for compute ds-twr.",
    completion: .file())
  var stamps: String?

  @Option(help: "Create symbolic links PREFIX-a, PREFIX-b and so on to the paths.")
  var link: String?

  @Option(
    name: [.customShort("n"), .long], help: "Stop after this many exchanges between the chips.")
  var count: Int?

  @Option(name: [.customShort("t"), .long], help: "Stop after this many seconds.")
  var duration: Seconds?

  @Option(help: "Output format.")
  var format = OutputFormat.text

  func validate() throws {
    try require((1...64).contains(chips), "--chips takes 1 to 64.")
    if let count, count < 1 { throw ValidationError("--count takes 1 or more.") }
    try require((0...1).contains(loss), "--loss takes 0 to 1.")
    try require(noise >= 0, "--noise takes centimetres, 0 or more.")
    try require(
      SimulatedPair.Movement(rawValue: motion) != nil, "--motion takes static, walk or circle.")
    if let distance, !(0...1_000).contains(distance) {
      throw ValidationError("--distance takes 0 to 1000 metres.")
    }
  }

  func execute() async throws {
    var scene = Scene(seed: seed, distanceNoise: noise / 100, loss: loss)
    let conditions = try self.scene.map { path throws(LabError) in try SceneFile(file: path) }
    conditions?.apply(to: &scene)
    let pair = try SimulatedPair(
      profiles: profile.profiles, controlees: chips - 1, scene: scene,
      movement: SimulatedPair.Movement(rawValue: motion) ?? .walk, distance: distance)
    for chip in pair.bench.chips {
      conditions?.apply(to: chip)
      if let link { try chip.link(at: "\(link)-\(chip.name.lowercased())") }
    }
    takeOutput(for: stamps)
    var file = try stamps.map { path throws(LabError) in try ExchangeFile(path) }
    pair.bench.recordsExchanges = file != nil || count != nil
    pair.bench.start()
    let announced = pair.bench.chips.map { chip in
      (chip, path: link.map { "\($0)-\(chip.name.lowercased())" } ?? chip.path)
    }
    let limit = duration?.duration ?? .seconds(1_000_000_000)
    defer { pair.bench.stop() }
    do {
      try await Ending.cancelling { [file, count] in
        // From here on a signal stops the chips in order.
        format.print(announced, Self.json) { "\($0.name)\t\($0.profile.name)\t\($1)\n" }
        try await Self.wait(limit, count, writing: file, pair.bench)
      }
    } catch is CancellationError {
      // Ctrl-C: the last exchanges are written, too.
    }
    if count == nil { try file?.write(pair.bench.takeExchanges()) }
  }

  /// Waits until the time is over, there were enough exchanges or the task is cancelled, and writes
  /// stamps meanwhile.
  private static func wait(
    _ limit: Duration, _ count: Int?, writing file: ExchangeFile?, _ bench: SimulatedBench
  ) async throws {
    guard file != nil || count != nil else { return try await Task.sleep(for: limit) }
    var (file, left) = (file, count ?? .max)
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end, left > 0 {
      try await Task.sleep(until: min(end, .now + .milliseconds(50)))
      let exchanges = bench.takeExchanges().prefix(left)
      left -= exchanges.count
      try file?.write(Array(exchanges))
    }
  }

  static let json = JSONTable<(SimulatedBench.Chip, path: String)>("simulate", each: "chip") {
    $0.key("name", "name of the chip") { $0.0.name }
    $0.key("profile", "its model") { $0.0.profile.name }
    $0.key("path", "path to open") { $0.path }
  }
}

/// The stamps of simulated exchanges as CSV, as read by `compute ds-twr` and `compute ss-twr`, with
/// the true distances beside them.
struct ExchangeFile {
  private var writer: CSVWriter

  init(_ path: String) throws(LabError) {
    writer = try CSVWriter(to: path)
    let header = "time_s,peer,t1,t2,t3,t4,t5,t6,cfo_ppm,rx_power_dbm,truth_m"
    for name in header.split(separator: ",") { writer.add(String(name)) }
    try writer.endRow()
    try writer.flush()
  }

  mutating func write(_ exchanges: [RecordedExchange]) throws(LabError) {
    for exchange in exchanges {
      writer.add(exchange.time, digits: 6)
      writer.add("\(exchange.initiator)-\(exchange.responder)")
      for stamp in [exchange.t1, exchange.t2, exchange.t3, exchange.t4] { writer.add("\(stamp)") }
      for stamp in [exchange.t5, exchange.t6] { writer.add(stamp.map { "\($0)" } ?? "") }
      writer.add(exchange.carrierOffset, digits: 4)
      writer.add(exchange.level, digits: 2)
      writer.add(exchange.truth, digits: 4)
      try writer.endRow()
    }
    try writer.flush()
  }
}

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

  func apply(to scene: inout Scene) {
    let others: [Amount] = [
      ("loss", loss, \.loss), ("clock_ppm", clock_ppm, \.radio.clockSpread),
      ("clock_wander_ppm", clock_wander_ppm, \.radio.clockWander),
      ("noise_dbm", noise_dbm, \.radio.noiseLevel),
    ]
    for amount in amounts + others {
      if let value = amount.value { scene[keyPath: amount.field] = value }
    }
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
