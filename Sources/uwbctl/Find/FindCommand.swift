// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import ArgumentParser
import NearbyInteraction
import Synchronization
import SystemPackage
import UWB
import UWBLab
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
  @Option(help: "Output format (default: text on a terminal, otherwise json).")
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
    try DeviceOptions.check(device)
    if let accessory { try AccessoryOptions.check(accessory) }
  }

  func execute() async throws {
    if let accessory { return try await find(with: device, at: ChannelEndpoint(accessory)) }
    let chips = try SimulatedPeers(profile: simChip.profile, peers: 1, seed: seed)
    defer { chips.bench.stop() }
    let other = try await UWBDevice.open(SimulatedPeers.endpoint(chips.others[0]))
    let served = try Accessory(other)
    let listener = try await SocketListener(ChannelEndpoint("tcp:0"))
    let serving = Task { await served.serve(listener) }
    try await lending {
      try await find(with: chips.own.path, at: listener.endpoint)
    } end: {
      serving.cancel()
      await served.close()
      await other.close()
    }
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
      if case .session(.didUpdate(let objects)) = event, objects.first?.distance != nil {
        found += 1
      }
      return found < limit
    }
    if found == 0, !Task.isCancelled { throw Failure(.noPeer) }
  }
}

/// Prints where an accessory is: on a terminal one line that is updated, otherwise a line for each
/// event.
final class FindPrinter: Sendable {
  private let format: OutputFormat
  /// What the updated line says; empty before the first measurement.
  private let update = Mutex("")
  private let live = Mutex<LiveLines?>(nil)

  init(_ format: OutputFormat) {
    self.format = format
    guard format == .text, standardOutput.isTerminal else { return }
    let live = LiveLines { [weak self] in self?.lines($0) ?? [] }
    self.live.withLock { $0 = live }
  }

  private func lines(_ size: Output.Size) -> [String] {
    let text = update.withLock { $0 }
    guard !text.isEmpty else { return [] }
    return text.wrapped(to: max(20, size.columns - 1), indent: 3).split(separator: "\n")
      .map(String.init)
  }

  func print(_ event: AccessoryFinder.Event) {
    let (word, text, values) = Self.described(event)
    if case .json = format {
      var line: JSONLine = ["event": word]
      for (key, value) in values { line.add(key, value) }
      return standardOutput.write(line.json + "\n")
    }
    guard let text else { return }
    guard let live = live.withLock({ $0 }) else { return standardOutput.write(text + "\n") }
    // Measurements overwrite the line; other events remain visible.
    if case .session(.didUpdate) = event {
      update.withLock { $0 = text }
      live.draw()
    } else {
      live.write(standardOutput.wrapped(text, indent: 2) + "\n", to: standardOutput)
    }
  }

  /// Ends the updated line.
  func finish() { live.withLock { $0 }?.finish() }

  static let json = JSONEntry(
    "find", each: "event",
    [
      "event":
        "started, shareable_data, accessory_started, found, out_of_range, removed, accessory_stopped, suspended, suspension_ended, invalidated",
      "cause?": "timeout or peer_ended for removed, words for invalidated",
      "distance_m?": "smoothed distance, metres",
      "distance_sd_m?": "its standard deviation, metres",
      "raw_m?": "distance reported by the chip, metres", "azimuth_deg?": "degrees to the right",
      "elevation_deg?": "degrees upwards", "rssi_dbm?": "received power",
      "nlos_probability?": "probability that the direct path is blocked, 0…1",
      "outlier?": "whether the distance of the chip was ignored",
      "quality?": "good, fair or poor",
    ])

  /// The word for programs, which never changes, the text if there is one, and the values.
  private static func described(
    _ event: AccessoryFinder.Event
  ) -> (word: String, text: String?, values: KeyValuePairs<String, (any JSONValue)?>) {
    switch event {
    case .accessoryStarted: return ("accessory_started", "the accessory has started ranging", [:])
    case .accessoryStopped: return ("accessory_stopped", "the accessory has stopped ranging", [:])
    case .session(let event):
      switch event {
      case .didStartRunning: return ("started", nil, [:])
      case .didGenerateShareableConfigurationData: return ("shareable_data", nil, [:])
      case .didUpdate(let objects) where objects.first?.distance == nil:
        return ("out_of_range", "the accessory is out of range", [:])
      case .didUpdate(let objects):
        let sight = objects.first.map { Sight($0) }
        return ("found", sight?.text, sight?.values ?? [:])
      case .didUpdateDLTDOA: return ("found", nil, [:])
      case .didRemove(_, .timeout):
        return ("removed", "the accessory is silent; trying again", ["cause": "timeout"])
      case .didRemove: return ("removed", "the accessory has ended", ["cause": "peer_ended"])
      case .didUpdateAlgorithmConvergence: return ("convergence", nil, [:])
      case .wasSuspended: return ("suspended", "waiting for the chip", [:])
      case .suspensionEnded: return ("suspension_ended", "the chip is back", [:])
      case .didInvalidate(let error):
        return ("invalidated", nil, ["cause": error.localizedDescription])
      }
    }
  }
}

/// The position of the accessory as seen from the chip.
private struct Sight {
  private let object: NINearbyObject
  /// Degrees to the right; nil: unknown.
  private let azimuth: Double?

  init(_ object: NINearbyObject) {
    self.object = object
    // Chips without an antenna for the elevation measure an azimuth, but no direction.
    let radians = object.direction.map { atan2($0.x, -$0.z) } ?? object.sample?.azimuth
    azimuth = radians.map { Double($0) * 180 / .pi }
  }

  /// Degrees upwards; nil: unknown.
  private var elevation: Double? { object.sample?.elevation.map { Double($0) * 180 / .pi } }

  /// How reliable it is, in one word.
  private var quality: String {
    guard let sample = object.sample else { return "poor" }
    let blocked = sample.nonLineOfSightProbability ?? 0
    if sample.isOutlier || blocked > 0.5 || sample.standardDeviation > 0.3 { return "poor" }
    return blocked > 0.25 || sample.standardDeviation > 0.1 ? "fair" : "good"
  }

  /// `↗   3.02 m ±0.03   az  30°   good`
  var text: String {
    var line = "\(arrow)  \(number(object.distance, 2).right(6)) m"
    if let sample = object.sample { line += " ±\(number(sample.standardDeviation, 2))" }
    if let azimuth { line += "   az \(fixed(azimuth, 0).right(4))°" }
    if let elevation { line += "   el \(fixed(elevation, 0).right(4))°" }
    return line + "   " + quality
  }

  private var arrow: String {
    guard let azimuth else { return "·" }
    let arrows = ["↑", "↗", "→", "↘", "↓", "↙", "←", "↖"]
    return arrows[(Int((azimuth / 45).rounded()) + 8) % 8]
  }

  private func number(_ value: Float?, _ digits: Int) -> String {
    value.map { fixed(Double($0), digits) } ?? "?"
  }

  var values: KeyValuePairs<String, (any JSONValue)?> {
    let sample = object.sample
    func number(_ value: Float?, _ digits: Int) -> Fixed? {
      Fixed(value.map { Double($0) }, digits)
    }
    return [
      "distance_m": number(object.distance, 3),
      "distance_sd_m": number(sample?.standardDeviation, 3),
      "raw_m": number(sample?.rawDistance, 2),
      "azimuth_deg": Fixed(azimuth, 2), "elevation_deg": Fixed(elevation, 2),
      "rssi_dbm": number(sample?.rssi, 1),
      "nlos_probability": number(sample?.nonLineOfSightProbability, 3),
      "outlier": sample?.isOutlier, "quality": quality,
    ]
  }
}

/// The app's side of a session with an accessory: does the handshake, and repeats it when the
/// accessory was silent or the chip was unavailable.
struct AccessoryFinder {
  enum Event: Sendable {
    case session(NISession.Event)
    case accessoryStarted
    /// The accessory stopped ranging, or declined to.
    case accessoryStopped
  }

  private enum Input: Sendable {
    case message([UInt8])
    case session(NISession.Event)
    case disconnected
    case timeOut
    /// The time for the answer to the n-th request is over.
    case requestTimedOut(Int)
  }

  private let session = NISession()
  private let channel: SocketChannel
  private let answerTime: Duration

  /// - Parameters:
  ///   - chip: as for `NISession.device`.
  ///   - patience: how long to wait for a chip that is unavailable.
  ///   - answerTime: how long the accessory may take to answer.
  init(
    chip: String, patience: Duration, channel: SocketChannel, answerTime: Duration = .seconds(10)
  ) {
    self.answerTime = answerTime
    session.device = chip
    session.timeouts.suspension = patience
    self.channel = channel
  }

  /// Runs until `body` returns false, the time is over or the task is cancelled, and ends the session
  /// on the chip.
  ///
  /// - Throws: `NIError` when the session is invalidated, `AccessoryError` when the connection is
  ///   lost, `Failure` when the accessory does not answer.
  nonisolated(nonsending) func run(for time: Duration?, _ body: (Event) -> Bool) async throws {
    let (inputs, input) = AsyncStream<Input>.makeStream()
    let (messages, events) = (channel.messages, session.events)
    var sources = [
      Task {
        for await message in messages { input.yield(.message(message)) }
        input.yield(.disconnected)
      },
      Task { for await event in events { input.yield(.session(event)) } },
    ]
    if let time { sources.append(Self.timer(time, input, .timeOut)) }
    try await lending {
      try await handle(inputs, input, body)
    } end: { [sources] in
      for source in sources { source.cancel() }
      try? await channel.send(AppMessage.stop.bytes)
      await session.close()
      channel.close()
    }
  }

  private static func timer(
    _ delay: Duration, _ input: AsyncStream<Input>.Continuation, _ event: Input
  ) -> Task<Void, Never> {
    Task {
      do { try await Task.sleep(for: delay) } catch { return }
      input.yield(event)
    }
  }

  private nonisolated(nonsending) func handle(
    _ inputs: AsyncStream<Input>, _ input: AsyncStream<Input>.Continuation,
    _ body: (Event) -> Bool
  ) async throws {
    var (asked, answered) = (0, 0)
    var clock: Task<Void, Never>?
    defer { clock?.cancel() }
    func ask() async throws {
      asked += 1
      clock?.cancel()
      clock = Self.timer(answerTime, input, .requestTimedOut(asked))
      try await send(.initialize)
    }
    try await ask()
    for await input in inputs {
      let event: Event
      switch input {
      case .requestTimedOut(let number):
        if number > answered {
          throw Failure(
            .silent, "The accessory does not answer.",
            try: "Check that an accessory listens there, such as uwbctl accessory.")
        }
        continue
      case .timeOut: return
      case .disconnected: throw channel.failure ?? AccessoryError.closed
      case .session(let what): event = .session(what)
      case .message(let bytes):
        // Ignore vendor messages.
        guard let message = try? AccessoryMessage(bytes) else { continue }
        switch message {
        case .accessoryConfigurationData(let data):
          answered = asked
          session.run(try NINearbyAccessoryConfiguration(data: Data(data)))
          continue
        case .accessoryUwbDidStart: event = .accessoryStarted
        case .accessoryUwbDidStop: event = .accessoryStopped
        }
      }
      guard body(event) else { return }
      if case .session(let what) = event, try await answer(what) { try await ask() }
    }
  }

  /// Reacts to an event.
  ///
  /// - Returns: whether to repeat the handshake.
  private func answer(_ event: NISession.Event) async throws -> Bool {
    switch event {
    case .didGenerateShareableConfigurationData(let data, _):
      try await send(.configureAndStart([UInt8](data)))
    case .didRemove, .suspensionEnded: return true
    case .wasSuspended: try await send(.stop)
    case .didInvalidate(let error): throw error
    case .didStartRunning, .didUpdate, .didUpdateAlgorithmConvergence, .didUpdateDLTDOA: break
    }
    return false
  }

  private func send(_ message: AppMessage) async throws {
    try await channel.send(message.bytes)
  }
}
