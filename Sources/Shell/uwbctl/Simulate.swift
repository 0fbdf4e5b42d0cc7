// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Glibc
import System
import SystemPackage
import UWBSimulator
import UWBTools

struct Simulate: ReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run simulated UWB chips on pseudo-terminals.",
    discussion: """
      Prints one line for each chip: its name, its profile and the path to open instead of a serial \
      port. The chips share one scene, so that they can range with each other. Stops on Ctrl-C.

      --scene takes JSON with any of these keys:
        distance_noise_m, angle_noise_deg, loss, range_m
        clock_ppm (offsets are random within plus or minus this), clock_wander_ppm
        carrier_noise_ppm, level_noise_db, noise_dbm
        power_bias: [{rx_power_dbm, bias_m}]
        collisions: true or false (overlapping rounds are lost)
        reflection_delay_ns, reflection_loss_db
        walls: [{from: [x, y], to: [x, y], loss_db, delay_ns}]
        chips: by name, or "all": {position: [x, y, z], yaw_deg, clock_ppm,
          antenna_delay_m, delays: {"9": {tx_m, rx_m}},
          antenna: [{angle_deg, phase_rad}]}
      """)

  enum Kind: String, CaseIterable, ExpressibleByArgument {
    case qm33, qm33pdoa, sr250, fira1, fira2, fira3, pica, mixed

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
    let conditions = try self.scene.map { path throws(FormatError) in try SceneFile(file: path) }
    conditions?.apply(to: &scene)
    let pair = try SimulatedPair(
      profiles: profile.profiles, controlees: chips - 1, scene: scene,
      movement: SimulatedPair.Movement(rawValue: motion) ?? .walk, distance: distance)
    conditions?.apply(to: pair.bench.chips)
    for chip in pair.bench.chips {
      if let link { try chip.link(at: "\(link)-\(chip.name.lowercased())") }
    }
    takeOutput(for: stamps)
    let file = try stamps.map { path throws(FormatError) in try ExchangeFile(path) }
    pair.bench.recordsExchanges = file != nil || count != nil
    pair.bench.start()
    let announced = pair.bench.chips.map { chip in
      (chip, path: link.map { "\($0)-\(chip.name.lowercased())" } ?? chip.path)
    }
    let limit = duration?.duration ?? .seconds(1_000_000_000)
    defer { pair.bench.stop() }
    do {
      try await Ending.cancelling { [file, count] in
        // A signal stops the chips in order from here on.
        format.print(announced, Self.json) { "\($0.name)\t\($0.profile.name)\t\($1)\n" }
        try await Self.wait(limit, count, writing: file, pair.bench)
      }
    } catch is CancellationError {
      // After Ctrl-C, the last exchanges are written too.
    }
    if count == nil { try file?.write(pair.bench.takeExchanges()) }
  }

  /// Waits for the time limit, for enough exchanges or for cancellation, and writes stamps
  /// meanwhile.
  private static func wait(
    _ limit: Duration, _ count: Int?, writing file: ExchangeFile?, _ bench: SimulatedBench
  ) async throws {
    guard file != nil || count != nil else { return try await Task.sleep(for: limit) }
    var left = count ?? .max
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

/// The stamps of simulated exchanges as CSV with true distances, for `compute ds-twr` and `compute
/// ss-twr`.
struct ExchangeFile {
  private let descriptor: FileDescriptor

  init(_ path: String) throws(FormatError) {
    do throws(FileError) { descriptor = try OutputFile.open(path) } catch {
      throw .notCreated(path, error)
    }
    try write("time_s,peer,t1,t2,t3,t4,t5,t6,cfo_ppm,rx_power_dbm,truth_m\n")
  }

  func write(_ exchanges: [RecordedExchange]) throws(FormatError) {
    let rows = exchanges.map { exchange in
      let stamps = [exchange.t1, exchange.t2, exchange.t3, exchange.t4].map { "\($0)" }
      let cells =
        [fixed(exchange.time, 6), "\(exchange.initiator)-\(exchange.responder)"] + stamps
        + [exchange.t5, exchange.t6].map { $0.map { "\($0)" } ?? "" }
        + [fixed(exchange.carrierOffset, 4), fixed(exchange.level, 2), fixed(exchange.truth, 4)]
      return cells.joined(separator: ",") + "\n"
    }
    try write(rows.joined())
  }

  private func write(_ text: String) throws(FormatError) {
    do { try descriptor.writeAll(text.utf8) } catch { throw .notWritten(error) }
  }
}
