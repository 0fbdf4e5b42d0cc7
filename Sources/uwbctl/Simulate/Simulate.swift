// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import Glibc
import UWBSimulator

struct Simulate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run simulated UWB chips on pseudo-terminals until interrupted.",
    discussion: """
      Prints one line for each chip: its name, its profile and the path to open instead of a serial
      port. The chips share one scene, so that they can range with each other. Stops on Ctrl-C.

      --scene takes JSON with any of: distance_noise_m, angle_noise_deg, loss, range_m, clock_ppm
      (clock offsets are random within plus or minus this value), clock_wander_ppm,
      carrier_noise_ppm, level_noise_db, power_bias [{rx_power_dbm, bias_m}], reflection_delay_ns,
      reflection_loss_db, noise_dbm, walls [{from [x,y], to [x,y], loss_db, delay_ns}], and chips by
      name, or "all": {position [x,y,z], yaw_deg, clock_ppm, antenna_delay_m,
      delays {"9": {tx_m, rx_m}}, antenna [{angle_deg, phase_rad}]}.
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

  @Option(name: [.customShort("t"), .long], help: "Stop after this many seconds.")
  var duration: Seconds?

  @Option(help: "Output format: text or json.")
  var format = OutputFormat.text

  func validate() throws {
    guard (1...64).contains(chips) else { throw ValidationError("--chips takes 1 to 64.") }
    guard (0...1).contains(loss) else { throw ValidationError("--loss takes 0 to 1.") }
    guard noise >= 0 else { throw ValidationError("--noise takes centimetres, 0 or more.") }
    guard SimulatedPair.Movement(rawValue: motion) != nil else {
      throw ValidationError("--motion takes static, walk or circle.")
    }
    if let distance, !(0...1_000).contains(distance) {
      throw ValidationError("--distance takes 0 to 1000 metres.")
    }
  }

  func run() async throws {
    try await reporting { try await simulate() }
  }

  private func simulate() async throws {
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
    var file = try stamps.map { path throws(LabError) in try ExchangeFile(path) }
    pair.bench.recordsExchanges = file != nil
    pair.bench.start()
    let lines = pair.bench.chips.map { line(for: $0) + "\n" }.joined()
    let limit = duration?.duration ?? .seconds(1_000_000_000)
    defer { pair.bench.stop() }
    do {
      try await cancelledBySignals { [file] in
        // From here on a signal stops the chips in order.
        standardOutput.write(lines)
        try await Self.wait(limit, writing: file, pair.bench)
      }
    } catch is CancellationError {
      // Ctrl-C: the last exchanges are written, too.
    }
    try file?.write(pair.bench.takeExchanges())
  }

  /// Waits until the time is over or the task is cancelled, and writes stamps meanwhile.
  private static func wait(
    _ limit: Duration, writing file: ExchangeFile?, _ bench: SimulatedBench
  ) async throws {
    guard var file else { return try await Task.sleep(for: limit) }
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
      try await Task.sleep(until: min(end, .now + .milliseconds(200)))
      try file.write(bench.takeExchanges())
    }
  }

  private func line(for chip: SimulatedBench.Chip) -> String {
    let path = link.map { "\($0)-\(chip.name.lowercased())" } ?? chip.path
    switch format {
    case .text: return "\(chip.name)\t\(chip.profile.name)\t\(path)"
    case .json:
      var line = JSONLine()
      line.add("name", chip.name)
      line.add("profile", chip.profile.name)
      line.add("path", path)
      return line.text
    }
  }
}
