// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import UWB
import UWBLab
import UWBLink
import UWBSimulator

/// Which boards, and how they range.
struct BoardOptions: ParsableArguments {
  @Option(
    name: .customLong("board"),
    help: ArgumentHelp(
      "A board, NAME=DEVICE (A=/dev/ttyACM0, B=usb:SERIAL); repeatable (default: simulated boards).",
      valueName: "name=device"))
  var boards: [String] = []
  @Option(help: "Number of simulated boards, without --board.") var simulated: Int?
  @Option(help: "The UWB channel: 5 or 9 on most chips.") var channel: UInt8 = 9
  @Option(help: "Measurements at each placement.") var rounds = 100
  @Option(help: "Time between measurements in milliseconds.") var interval: UInt32 = 50
  @OptionGroup var chip: ChipOptions

  func validate() throws {
    guard 1...100_000 ~= rounds else { throw ValidationError("--rounds takes 1 to 100000.") }
    guard boards.isEmpty || simulated == nil else {
      throw ValidationError("Give either --board or --simulated.")
    }
    if let simulated, !(2...8).contains(simulated) {
      throw ValidationError("--simulated takes 2 to 8.")
    }
    let named = try named
    guard Set(named.map(\.name)).count == named.count,
      Set(named.map { "\($0.endpoint)" }).count == named.count
    else { throw ValidationError("Each board needs a name and a device of its own.") }
  }

  /// The boards that were given.
  var named: [(name: String, endpoint: LinkEndpoint)] {
    get throws {
      try boards.map { text in
        guard let mark = text.firstIndex(of: "="), mark != text.startIndex else {
          throw ValidationError("--board takes NAME=DEVICE, not \(printable(text)).")
        }
        do throws(LinkError) {
          return (String(text[..<mark]), try LinkEndpoint(String(text[text.index(after: mark)...])))
        } catch { throw ValidationError("\(error) \(error.recoverySuggestion ?? "")") }
      }
    }
  }

  /// Opens the boards, lends them to `body`, and closes them again.
  ///
  /// - Parameters:
  ///   - usual: the number of simulated boards, unless it was given.
  ///   - least: how many boards the calibration needs.
  ///   - hasBias: whether the level shifts the distances of simulated boards.
  func withBench<R: Sendable>(
    usual: Int, least: Int = 2, hasBias: Bool = false,
    _ body: (BoardBench, TerminalConsole) async throws -> R
  ) async throws -> R {
    let (channel, interval) = (channel, interval)
    var options = BoardBench.Options { id in
      let range = try RangeOptions.parse([
        "--interval", "\(interval)", "--channel", "\(channel)", "--session-id", "\(id)",
      ])
      let controller = try range.configuration()
      try controller.validate()
      return (controller, RangeOptions.mirrored(controller)[0])
    }
    options.rounds = rounds
    var places = try named
    var simulation: SimulatedBench?
    if places.isEmpty {
      let bench = try simulatedBoards(simulated ?? usual, hasBias: hasBias)
      let chips = bench.chips
      places = chips.map { ($0.name, SimulatedPeers.endpoint($0)) }
      simulation = bench
      options.place = { a, b, distance, angle in
        let radians = angle * .pi / 180
        chips[a].placement.motion = .still(SIMD3(0, 0, 1))
        chips[a].placement.yaw = 0
        chips[b].placement.motion = .still(
          SIMD3<Double>(distance * cos(radians), distance * sin(radians), 1))
      }
    }
    defer { simulation?.stop() }
    guard places.count >= least else {
      throw ValidationError("At least \(least) boards are needed: --board NAME=DEVICE for each.")
    }
    let console = TerminalConsole()
    return try await BoardBench.withBoards(places, chip.driverOptions, options, console) {
      try await body($0, console)
    }
  }

  /// Boards whose delays are not calibrated, as they come from a factory.
  private func simulatedBoards(_ count: Int, hasBias: Bool) throws -> SimulatedBench {
    var scene = Scene(seed: chip.seed)
    if hasBias {
      scene.radio.powerBias = Curve([(-95, -0.03), (-65, 0.04)])
    }
    let bench = SimulatedBench(scene: scene)
    let delays = (0..<count).map { 0.12 + 0.017 * Double($0 * 3 % 5) }
    let names = delays.indices.map { String(UnicodeScalar(UInt8(65 + $0))) }
    for (index, (name, delay)) in zip(names, delays).enumerated() {
      var placement = Placement(at: SIMD3(50 + 10 * Double(index), 50, 1), yaw: 180)
      placement.antennaDelayError = delay
      _ = try bench.add(profile: chip.simChip.profile, placement: placement, name: name)
    }
    bench.start()
    let truth = zip(names, delays).map { "\($0) \(fixed($1, 3)) m" }.joined(separator: ", ")
    standardError.write("Simulated boards, which move by themselves. True delays: \(truth).\n")
    return bench
  }
}
