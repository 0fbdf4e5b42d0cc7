// SPDX-License-Identifier: Apache-2.0

public import AccessoryProtocol
public import ArgumentParser
import CommandSupport
import Formats
import Ranging
import UCI
import UWB
import UWBLink

struct AccessoryCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "accessory",
    abstract: "Let a chip serve as a Nearby Interaction accessory.",
    discussion: """
      Apps connect to a socket, receive the accessory's configuration data and range with the chip, each \
      in its own session. Each message is preceded by its length in two bytes, the lower one first. A \
      Unix socket accepts only its owner. tcp:port accepts every user of this machine, and \
      tcp:0.0.0.0:port everyone in all its networks. Apps are not authenticated: each can range with the \
      chip and so measure its distance. With ble, phones find the accessory over Bluetooth LE, which \
      needs bluetoothd; --pairing controls whether phones may pair. Without --device, embedded simulated \
      chips play both sides. Stops on Ctrl-C.
      """)

  enum Rate: String, ExpressibleByArgument, CaseIterable {
    case automatic, infrequent
    case userInteractive = "user-interactive"
    var value: AccessoryConfigurationData.UpdateRate {
      switch self {
      case .automatic: .automatic
      case .infrequent: .infrequent
      case .userInteractive: .userInteractive
      }
    }
  }

  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup(title: "Accessory") var accessory: AccessoryOptions
  @OptionGroup(title: "Bluetooth LE") var bluetooth: BluetoothOptions
  @OptionGroup(title: "Regions") var regions: RegionOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @OptionGroup(title: "End") var end: RunOptions

  @Option(help: "Output format.") var format = OutputFormat.text

  func execute() async throws {
    _ = try await options.withDevice(capture, peers: 1, end) { try await serve($0, $1) }
  }

  private func serve(_ device: UWBDevice, _ simulated: SimulatedPeers?) async throws {
    var options = accessory.options
    options.regions = try regions.rules
    let accessory = try Accessory(device, options: options)
    try accessory.warnings.report(strictly: self.accessory.strict)
    var listeners: [SocketListener] = []
    for endpoint in try self.accessory.endpoints {
      listeners.append(try await SocketListener(endpoint))
    }
    let peripheral = self.accessory.isOnBluetooth ? bluetooth.peripheral : nil
    let printer = AccessoryPrinter(format)
    let actions = try RegionActions(regions)
    actions.report { printer.print($0) }
    for listener in listeners { printer.print(listening: listener) }
    // A stream of its own: when output blocks, the stream of printed events loses its oldest
    // events.
    let acting = Task { [changes = accessory.events] in
      for await case .regionChanged(let app, let change, let measurement) in changes {
        actions.take(change, measurement, app: app.name)
      }
    }
    let (events, ends) = (accessory.events, device.events)
    let this = self
    // Ends after the last round, when the device is lost, at the time limit, or on Ctrl-C.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for listener in listeners { group.addTask { await accessory.serve(listener) } }
      if let peripheral {
        group.addTask { try await accessory.serve(peripheral) { printer.print($0) } }
      }
      group.addTask { await this.print(events, printer) }
      group.addTask {
        for await case .disconnected(let error) in ends { throw error }
        // The group was cancelled.
        try await Task.sleep(for: .seconds(1e9))
      }
      if let simulated, let listener = listeners.first {
        group.addTask { try await runApp(on: simulated, over: listener.endpoint) }
      }
      let outcome = await group.nextResult()
      group.cancelAll()
      await accessory.close()
      await acting.value
      await actions.finish()
      try outcome?.get()
    }
  }

  /// Prints events until the given number of rounds has been measured.
  private func print(
    _ events: AsyncStream<Accessory.Event>, _ printer: AccessoryPrinter
  ) async {
    var left = end.count ?? Int.max
    for await event in events {
      printer.print(event)
      guard case .measured(_, let measurement) = event, measurement.result.status.isSuccess else {
        continue
      }
      left -= 1
      if left == 0 { return }
    }
  }
}

extension ConfigurationVersion: ExpressibleByArgument {
  /// Parses `1.0`, `1.1` or `2.0`.
  public init?(argument: String) {
    guard let version = Self.allCases.first(where: { "\($0)" == argument }) else { return nil }
    self = version
  }
}

struct AccessoryOptions: ParsableArguments {
  @Option(
    help: """
      The address for apps: tcp:port (this machine only), tcp:host:port, unix:/path or ble; port 0 \
      selects a free port. Repeatable.
      """
  )
  var listen = ["tcp:7700"]
  @Option(help: "controller or controlee (default: controller, if the chip lists it).")
  var role: RangeOptions.Role?
  @Option(help: "The preferred update rate: automatic, infrequent or user-interactive.")
  var rate = AccessoryCommand.Rate.userInteractive
  @Option(help: "The version of the configuration data: 1.0, 1.1 or 2.0.")
  var dataVersion = ConfigurationVersion.v11
  @Option(help: "End a session after this many seconds without a measurement; 0: never.")
  var silence = Seconds(10)
  @Option(
    help: "Close a connection after this many seconds without a message or ranging; 0: never.")
  var idle = Seconds(300)
  @Option(help: "The maximum number of apps (default: as many as the chip supports).")
  var apps: Int?

  @Flag(
    help: """
      Notify an app when its phone enters, stays in or leaves a region: 0x40, see the page on \
      accessories. Apps like Apple's sample stop at unknown messages.
      """)
  var tellApp = false
  @Flag(help: "Let the chip decode the data of the app (NXP).")
  var dataToChip = false
  @Flag(
    help: """
      Share the ranging rounds with other accessories, in one session of the app. iPhones range with \
      each accessory alone.
      """)
  var oneToMany = false
  @Flag(help: "Fail if the chip's list of capabilities lacks one that apps need.")
  var strict = false

  func validate() throws {
    for address in listen where address != Self.bluetooth { try Self.check(address) }
    try require(silence.duration <= .seconds(4_000_000), "--silence takes 0 to 4000000 seconds.")
    try require(idle.duration <= .seconds(4_000_000), "--idle takes 0 to 4000000 seconds.")
    if let apps, apps < 1 { throw ValidationError("--apps takes 1 or more.") }
  }

  /// The value of `--listen` for Bluetooth LE in place of an address.
  static let bluetooth = "ble"
  var isOnBluetooth: Bool { listen.contains(Self.bluetooth) }
  var endpoints: [ChannelEndpoint] {
    get throws(AccessoryError) {
      var endpoints: [ChannelEndpoint] = []
      for address in listen where address != Self.bluetooth {
        endpoints.append(try ChannelEndpoint(address))
      }
      return endpoints
    }
  }

  /// Checks the address of a socket.
  ///
  /// - Throws: `ValidationError` if it is not an address.
  static func check(_ address: String) throws {
    do { _ = try ChannelEndpoint(address) } catch {
      throw ValidationError("\(printable(error.description)) \(error.recoverySuggestion ?? "")")
    }
  }

  var options: Accessory.Options {
    var options = Accessory.Options()
    options.role = role?.value
    options.updateRate = rate.value
    options.version = dataVersion
    options.inactivityTimeout = silence.duration > .zero ? silence.duration : nil
    options.idleTimeout = idle.duration > .zero ? idle.duration : nil
    options.maximumSessions = apps
    options.leavesDataToChip = dataToChip
    options.tellsApps = tellApp
    options.isOneToMany = oneToMany
    return options
  }
}

/// The options of Bluetooth LE, for `--listen ble`.
struct BluetoothOptions: ParsableArguments {
  enum Pairing: String, ExpressibleByArgument, CaseIterable {
    case allow, ask, refuse
  }

  @Option(help: "The name that phones show, at most 29 bytes.")
  var bleName = "UWB accessory"
  @Option(help: "The Bluetooth adapter, such as hci0, or its address (default: the first).")
  var bleAdapter: String?
  @Option(help: "Whether phones may pair: allow, ask (on standard input) or refuse.")
  var pairing = Pairing.allow

  func validate() throws {
    try require(1...29 ~= bleName.utf8.count, "--ble-name takes 1 to 29 bytes.")
  }

  var peripheral: BluetoothPeripheral {
    let consent: BluetoothPeripheral.Pairing =
      switch pairing {
      case .allow: .allowed
      case .refuse: .refused
      case .ask:
        .asked { phone in
          (try? await Prompt.confirm("Pair with the phone \(printable(phone))?")) ?? false
        }
      }
    return BluetoothPeripheral(name: bleName, adapter: bleAdapter, pairing: consent)
  }
}

/// Runs an app on the first embedded peer, for an accessory on an embedded chip. The app connects
/// to the accessory, and ranges until it is cancelled or disconnected.
private func runApp(on simulated: SimulatedPeers, over endpoint: ChannelEndpoint) async throws {
  let device = try await UWBDevice.open(SimulatedPeers.endpoint(simulated.others[0]))
  try await lending {
    let channel = try await SocketChannel.connect(to: endpoint)
    defer { channel.close() }
    try await channel.send(AppMessage.initialize.bytes)
    for await bytes in channel.messages {
      guard case .accessoryConfigurationData(let data) = try AccessoryMessage(bytes) else {
        continue
      }
      let accessory = try AccessoryConfigurationData(data)
      let shareable = ShareableConfigurationData.answering(accessory)
      let session = try await device.makeSession(
        try shareable.session(of: .app, with: accessory.uwb))
      try await session.start()
      try await channel.send(AppMessage.configureAndStart(shareable.bytes).bytes)
    }
  } end: {
    await device.close()
  }
}

/// Prints the events of an accessory and its apps.
struct AccessoryPrinter: Sendable {
  private let format: OutputFormat

  init(_ format: OutputFormat) { self.format = format }

  func print(listening listener: SocketListener) {
    let (endpoint, isOpen) = (listener.endpoint.description, listener.isOnAllInterfaces)
    let line: JSONLine = [
      "event": "listening", "app": nil, "endpoint": endpoint, "all_interfaces": isOpen,
    ]
    standardOutput.write(
      format == .json ? line.json + "\n" : "listening at \(printable(endpoint))\n")
    guard isOpen else { return }
    standardError.write(
      """
      Everyone in every network of this machine can connect and range, without authentication.
        try: tcp:PORT for this machine only, tcp:ADDRESS:PORT for one network, unix:/PATH for one user

      """)
  }

  func print(_ event: BluetoothPeripheral.Event) {
    switch event {
    case .advertising(let adapter):
      print(
        ["event": "listening", "app": nil, "endpoint": "ble:\(adapter)"],
        "listening at ble:\(adapter)")
    case .servesOnePhone:
      note(
        "This BlueZ sends each notification to every phone, so one phone is served at a time.",
        try: "Use BlueZ 5.76 or later: bluetoothd --version.")
    case .refused(let phone):
      let cause = "Another phone is being served."
      print(
        ["event": "refused", "app": phone, "cause": cause], "\(printable(phone)): refused: \(cause)"
      )
    case .lost:
      let cause = "bluetoothd has stopped, or its adapter was removed."
      print(["event": "lost", "app": nil, "cause": cause], cause + " Waiting for it to come back.")
    case .failed(let error):
      print(
        [
          "event": "failed", "app": nil, "cause": error.description,
          "next_step": error.recoverySuggestion,
        ], printable(error.description) + (error.recoverySuggestion.map { "\n  try: \($0)" } ?? ""))
    }
  }

  private func print(_ line: JSONLine, _ text: String) {
    standardOutput.write((format == .json ? line.json : text) + "\n")
  }

  func print(_ event: Accessory.Event) {
    let (app, word, text, values) = Self.described(event)
    var line: JSONLine = ["event": word, "app": app.name]
    for (key, value) in values { line.add(key, value) }
    standardOutput.write(
      (format == .json ? line.json : "\(printable(app.name)): \(text ?? word)") + "\n")
  }

  /// Prints the end of a command: as JSON always, as text only if the command failed.
  func print(_ ended: CommandRunner.Ended) {
    if format == .json {
      let line: JSONLine = [
        "event": "command", "app": ended.job.values["UWB_APP"], "option": ended.job.option,
        "region": ended.job.region, "change": ended.job.change.rawValue,
        "exit_status": ended.outcome.status, "cause": ended.complaint,
      ]
      return standardOutput.write(line.json + "\n")
    }
    if let complaint = ended.complaint { standardOutput.write(complaint + "\n") }
  }

  static let json = JSONEntry(
    "accessory", each: "event",
    [
      "event":
        "listening, connected, offered, started, measured, region, command, stopped, waiting, refused, ignored, disconnected, lost, failed",
      "app": "app concerned", "endpoint?": "address of the socket, or ble: and the adapter",
      "all_interfaces?": "whether everyone in all networks of this machine can connect",
      "address?": "address of the accessory", "role?": "controller or controlee",
      "version?": "version of the configuration data", "session_id?": "session id",
      "status?": "status name of the measurement", "distance_cm?": "centimetres",
      "azimuth_deg?": "degrees", "elevation_deg?": "degrees", "cause?": "cause in words",
      "next_step?": "what to do", "region?": "region that the phone entered, stayed in or left",
      "change?": "entered, dwelled or left",
      "distance_m?": "smoothed distance, metres; the last one for a phone that is silent",
      "distance_sd_m?": "its standard deviation, metres",
      "inside_s?": "seconds since the phone entered",
      "option?": "option of the command that has ended",
      "exit_status?": "its exit status, 128 and the signal that ended it; null: it was not run",
    ])

  /// Returns the app, the stable event name for programs, the text unless it equals the name, and
  /// the values.
  private static func described(
    _ event: Accessory.Event
  ) -> (
    app: Accessory.App, word: String, text: String?,
    values: KeyValuePairs<String, (any JSONValue)?>
  ) {
    switch event {
    case .connected(let app): return (app, "connected", nil, [:])
    case .offered(let app, let data):
      let role = data.uwb.role == .controller ? "controller" : "controlee"
      let address = MACAddress(data.uwb.address).description
      let text =
        "received the configuration of \(address), \(role), version \(data.uwb.version)"
      return (
        app, "offered", text,
        ["address": address, "role": role, "version": "\(data.uwb.version)"]
      )
    case .started(let app, let id):
      return (app, "started", "ranging, session \(id)", ["session_id": id])
    case .measured(let app, let measurement):
      let result = measurement.result
      return (
        app, "measured", text(result),
        [
          "status": result.status.description, "distance_cm": result.distanceCentimetres,
          "azimuth_deg": Fixed(result.azimuth.valid, 2),
          "elevation_deg": Fixed(result.elevation.valid, 2),
        ]
      )
    case .regionChanged(let app, let change, _):
      return (
        app, "region", change.text,
        [
          "region": change.region.name, "change": change.kind.rawValue,
          "cause": change.cause.rawValue, "distance_m": Fixed(change.estimate.distance, 3),
          "distance_sd_m": Fixed(change.estimate.standardDeviation, 3),
          "inside_s": Fixed(change.duration, 1),
        ]
      )
    case .stopped(let app, let reason):
      let words = reason.words
      return (app, "stopped", "stopped ranging: \(printable(words))", ["cause": words])
    case .waiting(let app, let error):
      let cause = error.description
      return (app, "waiting", "waiting for the device: \(printable(cause))", ["cause": cause])
    case .refused(let app, let error):
      let (cause, next) = (error.description, error.recoverySuggestion)
      let text =
        "refused: \(printable(cause))" + (next.map { "\n  try: \(printable($0))" } ?? "")
      return (app, "refused", text, ["cause": cause, "next_step": next])
    case .ignored(let app, let error):
      let cause = error.description
      return (app, "ignored", "ignored: \(printable(cause))", ["cause": cause])
    case .disconnected(let app, let error):
      let cause = error?.description
      return (
        app, "disconnected", cause.map { "disconnected: \(printable($0))" }, ["cause": cause]
      )
    }
  }

  private static func text(_ result: TwoWayMeasurement) -> String {
    guard let centimetres = result.distanceCentimetres else { return "\(result.status)" }
    var line = "\(fixed(Double(centimetres) / 100, 2)) m"
    if let azimuth = result.azimuth.valid { line += "  az \(fixed(azimuth, 1))°" }
    if let elevation = result.elevation.valid { line += "  el \(fixed(elevation, 1))°" }
    return line
  }
}

extension Angle {
  /// The angle in degrees; nil if the chip marks it as invalid.
  var valid: Double? { figureOfMerit > 0 ? degrees : nil }
}

extension Accessory.StopReason {
  fileprivate var words: String {
    switch self {
    case .byApp: "the app stopped it"
    case .replaced: "the app started a new session"
    case .inactivity: "nothing was measured for a while"
    case .byChip(let error): error.description
    case .closed: "the accessory is shutting down"
    }
  }
}
