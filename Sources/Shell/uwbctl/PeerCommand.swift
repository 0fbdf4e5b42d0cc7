// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Glibc
import Peers
import UWB
import UWBLink
import UWBTools

struct PeerCommand: DeviceCommand {
  static let configuration = CommandConfiguration(
    commandName: "peer",
    abstract: "Find another Linux machine, and range with it.",
    discussion: """
      Start it on both machines. They find each other by UDP announcements to 239.255.85.87, port 7701, \
      and exchange tokens over TCP. With --ble they use Bluetooth LE for both, which needs bluetoothd on \
      both machines. Then each shows a code. Compare the codes before you answer, because anyone in the \
      network, or nearby, can use any name. Answers are read from standard input. Without --device, \
      embedded simulated chips play both sides, without questions. Stops on Ctrl-C, and when the other \
      machine stops.
      """)

  @OptionGroup(title: "Device") var device: DeviceOption
  @OptionGroup(title: "Device") var chip: ChipOptions
  @Option(help: "The name shown on the other machine (default: the name of this one).")
  var name: String?
  @Option(help: "Only a peer with this name (default: the first one found).")
  var to: String?
  @Option(help: "Only programs with the same service find each other.")
  var service = "uwbctl"
  @Flag(help: "Find each other over Bluetooth LE instead of the network.") var ble = false
  @Option(help: "The Bluetooth adapter, such as hci0, or its address (default: the first).")
  var bleAdapter: String?
  @Option(help: "How many seconds to look for a peer; 0: until Ctrl-C.")
  var wait = Seconds(60)
  @Option(help: "Output format (default: text on a terminal, otherwise json).")
  var format: OutputFormat?
  @OptionGroup(title: "Computed values") var estimation: EstimationOptions
  @OptionGroup(title: "End") var end: RunOptions

  func validate() throws {
    try require(
      PeerAnnouncement.isService(service),
      "--service takes 1 to 15 lower-case letters, digits and hyphens.")
    try require(
      name.map { PeerAnnouncement.name($0.utf8) != nil } ?? true,
      "--name takes 1 to 63 bytes without control characters.")
    try require(
      !ble || (name?.utf8.count ?? 0) <= NINearbyPeers.longestBluetoothName,
      "With --ble, --name takes up to \(NINearbyPeers.longestBluetoothName) bytes.")
    try require(ble || bleAdapter == nil, "--ble-adapter needs --ble.")
    try require(
      !ble || !options.isSimulated,
      "--ble needs --device: simulated chips play both sides in this machine's network.")
  }

  func execute() async throws {
    try await options.withDevice(peers: 1, recovery: end.recovery) { device, simulated in
      guard let chip = simulated?.others.first else {
        return try await range(with: device, in: service, isAsked: true)
      }
      // The random name keeps other machines from finding this pair.
      let service = "sim-" + String(UInt32.random(in: 0 ... .max), radix: 16)
      let other = try await UWBDevice.open(SimulatedPeers.endpoint(chip))
      let playing = Task { try await Self.playPeer(on: other, in: service) }
      try await lending {
        try await range(with: device, in: service, isAsked: false)
      } end: {
        playing.cancel()
        _ = await playing.result
        await other.close()
      }
    }
  }

  private static func hostName(of length: Int) -> String {
    var name = utsname()
    unsafe uname(&name)
    let text = unsafe withUnsafeBytes(of: name.nodename) {
      unsafe String(decoding: $0.prefix { $0 != 0 }.prefix(length), as: UTF8.self)
    }
    return text.isEmpty ? "uwbctl" : text
  }

  private static func identity(of device: UWBDevice) throws -> PeerIdentity {
    do throws(PeerTokenError) {
      return try PeerIdentity(of: device)
    } catch {
      throw NIPeerError(error)
    }
  }

  /// Acts as the other machine on an embedded chip, until cancelled.
  private static func playPeer(on device: UWBDevice, in service: String) async throws {
    let identity = try Self.identity(of: device)
    let nearby = try await NINearbyPeers(service: service, name: "simulated peer")
    defer { nearby.close() }
    guard let connection = await nearby.meet(as: identity) else { return }
    let session = try identity.session(with: await connection.confirmed())
    try await device.withSession(session) { session in
      try await session.start()
      _ = await connection.ended()
    }
  }

  private func range(
    with device: UWBDevice, in service: String, isAsked: Bool
  ) async throws {
    let printer = FindPrinter(
      format ?? (standardOutput.isTerminal ? .text : .json), of: "the other machine")
    defer { printer.finish() }
    let name = name ?? Self.hostName(of: ble ? NINearbyPeers.longestBluetoothName : 63)
    let identity = try Self.identity(of: device)
    let nearby = try await NINearbyPeers(
      service: service, name: name, over: ble ? .bluetooth(adapter: bleAdapter) : .network)
    try await lending {
      try await range(with: device, nearby, name, identity, printer, isAsked: isAsked)
    } end: {
      // Without this call, bluetoothd would keep the connection.
      await nearby.end()
    }
  }

  private func range(
    with device: UWBDevice, _ nearby: NINearbyPeers, _ name: String, _ identity: PeerIdentity,
    _ printer: FindPrinter, isAsked: Bool
  ) async throws {
    printer.say("looking", "looking for a peer, as \(printable(name))", ["name": name])
    if !nearby.hasNetwork, isAsked {
      note("There is no network: only programs on this machine can be found.")
    }
    let connection = try await find(nearby, identity, printer)
    // Peers that come later are rejected.
    nearby.close()
    defer { connection.close() }
    printer.say(
      "code", "the code with \(printable(connection.name)) is \(connection.code)",
      ["name": connection.name, "code": connection.code])
    if isAsked, try await !isConfirmed(connection) {
      await connection.refuse()
      throw Failure(
        .notConfirmed, "The code was not confirmed.",
        try: "If the other machine shows another code, another program interferes: "
          + "use another network. Otherwise answer y on both machines.")
    }
    let session = try identity.session(with: await connection.confirmed())
    printer.say("confirmed", "both have confirmed", ["name": connection.name])
    try await device.withSession(session) { try await follow($0, connection, printer) }
  }

  private func find(
    _ nearby: NINearbyPeers, _ identity: PeerIdentity, _ printer: FindPrinter
  ) async throws -> NIPeerConnection {
    let limit = wait.duration > .zero ? wait.duration : nil
    // Closing the session ends the stream of events.
    let timer = limit.map { limit in
      Task {
        try await Task.sleep(for: limit)
        nearby.close()
      }
    }
    defer { timer?.cancel() }
    let connection = await nearby.meet(as: identity, named: to) { step in
      switch step {
      case .found(let peer):
        printer.say("peer_found", "found \(printable(peer.name))", ["name": peer.name])
      case .invited(let name):
        printer.say("invited", "\(printable(name)) invites", ["name": name])
      case .failed(let error):
        printer.say("failed", "\(error.description)", ["cause": error.description])
      }
    }
    if let connection { return connection }
    try Task.checkCancellation()
    throw Failure(
      .noPeer, "No peer was found.",
      try: "Start uwbctl peer on the other machine, with the same --service and "
        + (ble
          ? "--ble; uwbctl doctor ble checks Bluetooth."
          : "in the same network; no firewall may stop UDP to port 7701 or TCP."))
  }

  /// Asks the user of this machine, while the other machine waits.
  private func isConfirmed(_ connection: NIPeerConnection) async throws -> Bool {
    let question = "Does \(printable(connection.name)) show \(connection.code), too?"
    return try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask { try await Prompt.confirm(question) }
      group.addTask {
        if let error = await connection.ended() { throw error }
        throw CancellationError()
      }
      defer { group.cancelAll() }
      return try await group.next() ?? false
    }
  }

  private enum Input: Sendable {
    case measured(EstimatedMeasurement)
    case device(DeviceEvent)
    /// The session has ended.
    case over(DriverError?)
    /// The other machine has disconnected.
    case left
    case timeOut
  }

  /// Returns the stream of inputs while ranging, and the tasks that feed it.
  private func inputs(
    _ session: UWBSession, _ connection: NIPeerConnection, _ settings: EstimationSettings
  ) -> (AsyncStream<Input>, [Task<Void, Never>]) {
    let (inputs, input) = AsyncStream<Input>.makeStream()
    let (estimates, events) = (session.estimates(settings), session.device.events)
    var sources = [
      Task {
        do throws(DriverError) {
          for try await estimate in estimates { input.yield(.measured(estimate)) }
          input.yield(.over(session.unexpectedEnd))
        } catch {
          input.yield(.over(error))
        }
      },
      Task { for await event in events { input.yield(.device(event)) } },
      Task { if await connection.ended() != nil { input.yield(.left) } },
    ]
    if let limit = end.time.limit {
      sources.append(
        Task {
          guard (try? await Task.sleep(for: limit)) != nil else { return }
          input.yield(.timeOut)
        })
    }
    return (inputs, sources)
  }

  /// Ranges until there are enough distances, or until the time limit.
  private func follow(
    _ session: UWBSession, _ connection: NIPeerConnection, _ printer: FindPrinter
  ) async throws {
    let peer = printable(connection.name)
    let hasEnded = Failure(.sessionEnded, "\(peer) has ended.", try: "Start both again.")
    // The address of the peer is random, so the delay for other peers applies.
    var settings = try estimation.settings(channel: Int(session.configuration.channel), peers: [])
    settings.expectsDiagnostics = false
    settings.noteMissingCalibration(on: session.device.family)
    let (inputs, sources) = inputs(session, connection, settings)
    defer { for source in sources { source.cancel() } }
    try await session.start()
    printer.print(.started)
    var sights = SightWatch(session, patience: .seconds(10))
    var found = 0
    for await next in inputs {
      switch next {
      case .measured(let estimate):
        switch sights.take(estimate) {
        case .silent:
          throw Failure(
            .silent, "\(peer) is not measured any more.",
            try: "Bring the two closer together, and start both again.")
        case let event?:
          printer.print(event)
          if case .found = event { found += 1 }
          if found == end.count { return }
        case nil: break
        }
      case .device(.lost): printer.print(.suspended)
      case .device(.recovered): printer.print(.suspensionEnded)
      case .device(let event):
        guard let error = event.end(of: session) else { continue }
        throw error.endReason == .stoppedInBand ? hasEnded : error
      case .over(let error?): throw error.endReason == .stoppedInBand ? hasEnded : error
      case .left: throw hasEnded
      case .over(nil), .timeOut:
        guard found == 0 else { return }
        throw Failure(
          .noPeer, "\(peer) was not measured.",
          try: "Check that it is near, and that both chips work: uwbctl doctor DEVICE.")
      }
    }
  }

  static let json: JSONEntry = {
    var entry = FindPrinter.json.also("peer")
    entry.keys[0].meaning =
      "looking, peer_found, invited, failed, code, confirmed, started, found, out_of_range, suspended, suspension_ended"
    entry.keys[1].meaning = "reason why the connection to a peer failed"
    let others = ["region", "change", "address", "name", "paired"]
    entry.keys.removeAll { others.contains($0.path) }
    entry.keys += [
      .init("name?", "name of the peer; with looking the own one"),
      .init("code?", "code that people compare"),
    ]
    return entry
  }()
}
