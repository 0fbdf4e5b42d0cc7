// SPDX-License-Identifier: Apache-2.0

import UWBLab
import AccessoryProtocol
import ArgumentParser
import NearbyInteraction
import SystemPackage
import UWB
import UWBLink
import UWBSimulator

struct FindCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Find a Nearby Interaction accessory: show its distance and direction.",
    discussion: """
      Acts as the app: connects to an accessory, such as uwbctl accessory, ranges with it and shows its \
      smoothed distance and its direction as seen from the chip. Tries again when the accessory falls \
      silent. Without --device, embedded simulated chips play both sides. Stops on Ctrl-C, and when \
      the accessory closes the connection.
      """)

  @Option(
    name: .shortAndLong, help: "The chip, as for range --device.",
    completion: DeviceOptions.completion)
  var device = DeviceOptions.simulated
  @Option(
    help: "Where the accessory listens: tcp:port (this machine), tcp:host:port or unix:/path.")
  var accessory: String?
  @Option(help: "The model of the embedded simulated chips.")
  var simChip = ChipOptions.SimulatedChip.qm33pdoa
  @Option(help: "The seed of the simulated noise.") var seed: UInt64 = 1
  @Option(help: "Output format: text or json (default: text on a terminal, otherwise json).")
  var format: OutputFormat?
  @OptionGroup(title: "End") var end: RunOptions

  private var isSimulated: Bool { device == DeviceOptions.simulated }

  func validate() throws {
    guard isSimulated == (accessory == nil) else {
      throw ValidationError(
        isSimulated
          ? "--accessory needs --device: a simulated chip can only reach a simulated accessory."
          : "Name the address of the accessory: --accessory tcp:host:port.")
    }
    if !isSimulated {
      do { _ = try LinkEndpoint(device) } catch {
        throw ValidationError("\(error) \(error.recoverySuggestion ?? "")")
      }
    }
    if let accessory {
      do { _ = try ChannelEndpoint(accessory) } catch {
        throw ValidationError("\(printable(error.description)) \(error.recoverySuggestion ?? "")")
      }
    }
  }

  func execute() async throws {
    if let accessory { return try await find(with: device, at: ChannelEndpoint(accessory)) }
    let chips = try SimulatedPeers(profile: simChip.profile, peers: 1, seed: seed)
    defer { chips.bench.stop() }
    let other = try await UWBDevice.open(SimulatedPeers.endpoint(chips.others[0]))
    let served = try Accessory(other)
    let listener = try await SocketListener(ChannelEndpoint("tcp:0"))
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

  /// Runs until there are enough distances, or the time is over.
  private func find(with chip: String, at endpoint: ChannelEndpoint) async throws {
    let printer = FindPrinter(format ?? (standardOutput.isTerminal ? .text : .json))
    let finder = AccessoryFinder(
      chip: chip, patience: end.recover.duration,
      channel: try await SocketChannel.connect(to: endpoint))
    let limit = end.count ?? .max
    var found = 0
    defer { printer.finish() }
    try await finder.run(for: end.time.limit) { event in
      printer.print(event)
      if case .session(.didUpdate) = event { found += 1 }
      return found < limit
    }
    if found == 0, !Task.isCancelled { throw Failure(.noPeer) }
  }
}
