// SPDX-License-Identifier: Apache-2.0

import UWBLab
import AccessoryProtocol
import ArgumentParser
import NearbyInteraction
import SystemPackage
import UWB
import UWBLink
import UWBSimulator

/// `uwbctl find`: the app's side of Nearby Interaction.
struct FindCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Find a Nearby Interaction accessory: how far, and where.",
    discussion: """
      Plays the app: connects to an accessory, such as uwbctl accessory, ranges with it and shows its \
      distance, smoothed, and its direction as seen from the chip. An accessory that falls silent is \
      tried again. Without --device embedded simulated chips play both sides. Ends with Ctrl-C, and \
      when the accessory closes the connection.
      """)

  @Option(
    name: .shortAndLong, help: "The chip, named as for range; or sim.",
    completion: DeviceOptions.completion)
  var device = DeviceOptions.simulated
  @Option(
    help: "Where the accessory listens: tcp:port (this machine), tcp:host:port or unix:/path.")
  var accessory: String?
  @Option(help: "What the embedded simulated chips are.")
  var simChip = ChipOptions.SimulatedChip.qm33pdoa
  @Option(help: "Seed of the simulated noise.") var seed: UInt64 = 1
  @Option(help: "text or json; without it text on a terminal, and JSON in a pipe.")
  var format: OutputFormat?
  @OptionGroup(title: "End") var end: RunOptions

  private var isSimulated: Bool { device == DeviceOptions.simulated }

  func validate() throws {
    guard isSimulated == (accessory == nil) else {
      throw ValidationError(
        isSimulated
          ? "--accessory needs a --device: a simulated chip is near its own accessory only."
          : "Say where the accessory listens: --accessory tcp:host:port.")
    }
    if !isSimulated {
      do { _ = try LinkEndpoint(device) } catch {
        throw ValidationError("\(error) \(error.suggestion ?? "")")
      }
    }
    if let accessory {
      do { _ = try ChannelEndpoint(accessory) } catch {
        throw ValidationError("\(printable(error.description)) \(error.suggestion)")
      }
    }
  }

  func execute() async throws {
    if let accessory { return try await find(with: device, at: ChannelEndpoint(accessory)) }
    let chips = try SimulatedPeers(profile: simChip.profile, peers: 1, seed: seed)
    defer { chips.bench.stop() }
    let other = try await UWBDevice.open(SimulatedPeers.endpoint(chips.others[0]))
    let served = try Accessory(other)
    let listener = try SocketListener(ChannelEndpoint("tcp:0"))
    let serving = Task { await served.serve(listener) }
    do {
      try await find(with: chips.own.path, at: listener.endpoint)
    } catch {
      serving.cancel()
      throw error
    }
    serving.cancel()
    await served.close()
    await other.close()
  }

  /// Until there are enough distances, the time is over, or it cannot go on.
  private func find(with chip: String, at place: ChannelEndpoint) async throws {
    let printer = FindPrinter(format ?? (standardOutput.isTerminal ? .text : .json))
    let finder = AccessoryFinder(
      chip: chip, patience: .seconds(end.recover),
      channel: try await SocketChannel.connect(to: place))
    let limit = end.count ?? .max
    var found = 0
    defer { printer.finish() }
    try await finder.run(seconds: end.duration) { event in
      printer.print(event)
      if case .session(.didUpdate) = event { found += 1 }
      return found < limit
    }
    if found == 0, !Task.isCancelled { throw ExitCode(ExitStatus.noPeer.rawValue) }
  }
}
