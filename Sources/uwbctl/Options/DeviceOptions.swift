// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import System
import Glibc
import Logging
import SystemPackage
import UCI
import UWB
import UWBLab
import UWBLink
import UWBSimulator

/// The options for the kind of chip and for logging.
struct ChipOptions: ParsableArguments {
  enum Family: String, ExpressibleByArgument, CaseIterable {
    case auto, qorvo, nxp
    var profile: DeviceProfile? {
      switch self {
      case .auto: nil
      case .qorvo: .qorvo
      case .nxp: .nxp
      }
    }
  }

  enum SimulatedChip: String, ExpressibleByArgument, CaseIterable {
    case qm33, qm33pdoa, sr250, fira1, pica
    var profile: ChipProfile { ChipProfile.named(rawValue) ?? .qm33 }
  }

  @Option(help: "Assume this family of chips instead of reading it from the chip.")
  var chip = Family.auto

  @Option(help: "The model of the embedded simulated chips.")
  var simChip = SimulatedChip.qm33pdoa

  @Option(help: "The seed of the simulated noise.")
  var seed: UInt64 = 1

  @Option(
    help: """
      A file with the conditions of the embedded simulated chips, whose names are "own", "peer 1" and \
      so on; see uwbctl simulate --help.
      """,
    completion: .file())
  var scene: String?

  @Flag(help: "Open the chip directly, even if a service (uwbd) shares it.") var direct = false

  @Flag(
    help: """
      Use the chip exclusively, for its configuration, calibration, tests and packets: a service (uwbd) \
      that shares it closes it until the command has ended.
      """)
  var exclusive = false

  @Flag(
    name: .shortAndLong, help: "Log the driver's actions to standard error; -vv: every detail.")
  var verbose: Int

  var driverOptions: UWBDevice.Options {
    var logger = Logger(label: "uwbctl", factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = verbose == 0 ? .error : verbose == 1 ? .info : .trace
    var options = UWBDevice.Options(profile: chip.profile, logger: logger)
    options.usesService = !direct && !exclusive
    return options
  }

  /// The contents of `--scene`.
  var conditions: SceneFile? {
    get throws { try scene.map { path throws(LabError) in try SceneFile(file: path) } }
  }

  /// Returns the embedded simulated chip, and the given number of peers.
  func simulatedChip(peers: Int = 0) throws -> SimulatedPeers {
    try SimulatedPeers(
      profile: simChip.profile, peers: peers, seed: seed, conditions: conditions)
  }
}

struct DeviceOptions: ParsableArguments {
  static let simulated = "sim"

  /// Suggests devices that are plugged in.
  static let completion = CompletionKind.custom { _, _, _ in
    Discovery().names() + ["usb:", "tcp:localhost:", simulated]
  }

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The device: a serial path (/dev/ttyACM0, /dev/ttyUSB0?baud=3000000&rtscts), usb:SERIAL (see "
        + "uwbctl list), "
        + "spi:/dev/spidev0.0?chip=sr150&irq=…&ri=…&ce=…, sr1xx:/dev/srxxx, uci:/dev/uci0, "
        + "nxp-usb:/dev/ttyACM0, tcp:host:port, uwbd:SOCKET?chip=NAME, or sim."),
    completion: DeviceOptions.completion)
  var device = Self.simulated

  @OptionGroup var chip: ChipOptions

  var isSimulated: Bool { device == Self.simulated }
  var driverOptions: UWBDevice.Options { chip.driverOptions }

  /// Prints a note that measurements come from simulated chips.
  func noteSimulation() {
    if isSimulated { note("Simulated chips: --device names a board.") }
  }

  func validate() throws { try Self.check(device) }

  /// Checks the name of a device.
  ///
  /// - Throws: `ValidationError` for an invalid name.
  static func check(_ device: String) throws {
    guard device != simulated else { return }
    do { _ = try LinkEndpoint(device) } catch {
      throw ValidationError("\(error) \(error.recoverySuggestion ?? "")")
    }
  }

  /// Returns the options for a device that a command accepts under another name.
  static func naming(_ device: String, _ chip: ChipOptions) throws -> DeviceOptions {
    var options = try parse(["--device", device])
    options.chip = chip
    return options
  }
}

/// The options for recording packets.
struct CaptureOptions: ParsableArguments {
  @Option(
    help: "Record every packet in this file (pcapng), overwriting it.",
    completion: .file(extensions: ["pcapng"]))
  var capture: String?

  @Flag(help: "Record keys in clear instead of as zeros.")
  var includeSecrets = false

  func validate() throws {
    if includeSecrets, capture == nil {
      throw ValidationError("--include-secrets needs --capture.")
    }
  }

  /// Creates the file, or returns nil without --capture. The device is opened later, so that no
  /// packet is missing.
  func start(_ device: String, simulated: ChipOptions.SimulatedChip?) throws -> CaptureFile? {
    takeOutput(for: capture)
    if capture == "-", isatty(STDOUT_FILENO) != 0 {
      throw Failure(
        .usage, "A capture is not text, and is not written to a terminal.",
        try: "Name a file, or the program that reads it: uwbctl capture - | wireshark -k -i -")
    }
    return try capture.map { path in
      try CaptureFile(
        path,
        description: .init(
          hardware: simulated.map { "simulated \($0.rawValue)" },
          os: Self.system, userApplication: "uwbctl \(Program.version)", interfaceName: device,
          interfaceDescription: "UWB chip, UCI"),
        includeSecrets: includeSecrets)
    }
  }

  /// The operating system, such as `Linux 6.12.0 aarch64`.
  private static var system: String {
    var name = utsname()
    uname(&name)
    func text<T>(_ field: T) -> String {
      withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
    return "\(text(name.sysname)) \(text(name.release)) \(text(name.machine))"
  }
}

extension CaptureFile {
  /// The function that records packets. A failed write does not stop ranging: it is reported at
  /// once, and the command fails at its end.
  var tap: UWBDevice.PacketTap {
    {
      if let failure = self.record($0, $1, time: $2) { Ending.captureFailed(failure) }
    }
  }
}

/// The options for the end of ranging, and for a lost device.
struct RunOptions: ParsableArguments {
  @Option(name: [.customShort("n"), .long], help: "Stop after this many measured ranging rounds.")
  var count: Int?
  @OptionGroup var time: TimeLimit
  @Option(
    help: """
      How many seconds to wait for a device that was unplugged or failed; 0: end at once.
      """)
  var recover = Seconds(60)

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count takes 1 or more.") }
  }

  /// The policy for a lost device; nil ends the command.
  var recovery: RecoveryPolicy? {
    recover.duration > .zero ? RecoveryPolicy(limit: recover.duration) : nil
  }
}

/// A duration in seconds on the command line.
struct Seconds: ExpressibleByArgument {
  var duration: Duration

  init(_ seconds: Double) { duration = .seconds(seconds) }

  init?(argument: String) {
    guard let seconds = Double(argument), 0...1e9 ~= seconds else { return nil }
    self.init(seconds)
  }

  var defaultValueDescription: String {
    let seconds = duration / .seconds(1)
    return seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
  }
}

/// The option `-t`, a time limit.
struct TimeLimit: ParsableArguments {
  @Option(name: [.customShort("t"), .long], help: "Stop after this many seconds.")
  var duration: Seconds?

  func validate() throws {
    if let duration, duration.duration <= .zero {
      throw ValidationError("--duration takes more than 0 seconds.")
    }
  }

  /// The limit; nil for none.
  var limit: Duration? { duration?.duration }

  /// Runs `body` with the time limit.
  ///
  /// At the limit, `body` is cancelled as by a signal. A chip that does not end its sessions within
  /// two seconds is closed anyway.
  ///
  /// - Parameter device: The device that `body` has opened.
  /// - Returns: The result; nil at the time limit.
  func limiting<R: Sendable>(
    _ device: Locked<UWBDevice?>, _ body: @escaping @Sendable () async throws -> R
  ) async throws -> R? {
    let task = Task(executorPreference: Ending.threads) { try await body() }
    let isOver = Locked(false)
    let timer = limit.map { limit in
      Task {
        try await Task.sleep(for: limit)
        isOver.withLock { $0 = true }
        task.cancel()
        try await Task.sleep(for: .seconds(2))
        await device.withLock { $0 }?.close(within: .zero)
      }
    }
    defer { timer?.cancel() }
    do {
      return try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    } catch let error where isOver.withLock({ $0 }) && Ending.isCancellation(error) {
      guard device.withLock({ $0 }) == nil else { return nil }
      throw Failure(
        .silent, "The time was over before the device had answered.",
        try: "Give it more time with -t; uwbctl doctor checks a device.")
    }
  }
}

/// The device to open and the capture, resolved from `--device` and `--capture`.
struct OpenTarget {
  let endpoint: LinkEndpoint
  let tap: UWBDevice.PacketTap?
  /// The embedded simulated chips; nil for another device.
  let simulated: SimulatedPeers?
  /// The connection that keeps a service from opening the chip.
  private let loan: FileDescriptor?

  /// Resolves the options.
  ///
  /// - Parameter peers: The number of further simulated chips.
  /// - Throws: `LinkError`, `CaptureError`, or the error of the pseudo-terminal.
  init(
    _ device: String, _ chip: ChipOptions, _ capture: CaptureOptions?, peers: Int = 0
  ) async throws {
    simulated = device == DeviceOptions.simulated ? try chip.simulatedChip(peers: peers) : nil
    endpoint = try simulated.map { SimulatedPeers.endpoint($0.own) } ?? LinkEndpoint(device)
    tap = try capture?.start(device, simulated: simulated == nil ? nil : chip.simChip)?.tap
    loan =
      chip.exclusive && simulated == nil
      ? try await runBlocking { [endpoint] in
        Result { () throws(LinkError) in try ChipService.borrow(endpoint, for: Program.name) }
      }.get() : nil
  }

  /// Stops the simulated chips, and returns the chip to the service.
  func finish() {
    simulated?.bench.stop()
    try? loan?.close()
  }
}

extension DeviceOptions {
  /// Opens the device, or an embedded simulated one with its peers, passes it to `body`, and closes
  /// it.
  ///
  /// - Parameters:
  ///   - capture: The options for recording packets.
  ///   - peers: The number of further simulated chips.
  ///   - resetPolicy: The treatment of the sessions on the chip.
  ///   - resetAdvice: The next step for a chip that answers only with errors; nil asks the user or
  ///     suggests `--reset`.
  ///   - recovery: Whether to wait for a lost device.
  func withDevice<R: Sendable>(
    _ capture: CaptureOptions? = nil, peers count: Int = 0,
    resetPolicy: UWBDevice.ResetPolicy = .reset, resetAdvice: String? = nil,
    recovery: RecoveryPolicy? = nil, _ body: (UWBDevice, SimulatedPeers?) async throws -> R
  ) async throws -> R {
    let target = try await OpenTarget(device, chip, capture, peers: count)
    defer { target.finish() }
    var driverOptions = chip.driverOptions
    (driverOptions.tap, driverOptions.recovery) = (target.tap, recovery)
    driverOptions.resetPolicy = resetPolicy
    let device: UWBDevice
    do throws(DriverError) {
      device = try await UWBDevice.open(target.endpoint, options: driverOptions)
    } catch {
      guard error.code == .needsReset else { throw error }
      if let resetAdvice {
        throw Failure(.deviceFailure, "\(error)", try: resetAdvice)
      }
      try await Prompt.confirmReset()
      driverOptions.resetPolicy = .reset
      device = try await UWBDevice.open(target.endpoint, options: driverOptions)
    }
    if driverOptions.resetPolicy == .keepState, device.wasReset {
      note("The chip did not answer without a reset, so it was reset.")
    }
    let result: Result<R, any Error>
    do { result = .success(try await body(device, target.simulated)) } catch {
      result = .failure(Self.advised(error, device))
    }
    await device.close()
    guard let cause = device.remainingSession else { return try result.get() }
    let remains = Failure(remaining: cause)
    if case .failure(let error) = result, error as? DriverError != cause,
      !Ending.isCancellation(error)
    {
      _ = remains.report()
      throw error
    }
    throw remains
  }

  /// Adds advice to the error of a service that rejects a command for the whole chip.
  private static func advised(_ error: any Error, _ device: UWBDevice) -> any Error {
    guard case .service = device.endpoint, let cause = error as? DriverError,
      cause.status == .rejected
    else { return error }
    return Failure(
      ExitStatus(cause), "\(cause)",
      try: "A service shares the chip: commands for the whole chip need --exclusive.")
  }

  /// Opens the device as above for a command that ranges, until its time limit.
  ///
  /// - Returns: The result; nil at the time limit.
  func withDevice<R: Sendable>(
    _ capture: CaptureOptions? = nil, peers count: Int, _ end: RunOptions,
    _ body: @escaping @Sendable (UWBDevice, SimulatedPeers?) async throws -> R
  ) async throws -> R? {
    noteSimulation()
    let opened = Locked<UWBDevice?>(nil)
    return try await end.time.limiting(opened) {
      try await withDevice(capture, peers: count, recovery: end.recovery) { device, simulated in
        opened.withLock { $0 = device }
        return try await body(device, simulated)
      }
    }
  }
}

extension Failure {
  /// Creates the failure for a session that may remain on the chip.
  ///
  /// - Parameter cause: The error when closing the session.
  fileprivate init(remaining cause: DriverError) {
    let isClosed = cause.code == .closed
    self.init(
      isClosed ? .silent : ExitStatus(cause),
      isClosed ? "The chip did not end its session in time." : "\(cause)",
      try: "It may still be ranging: uwbctl reset ends every session of a chip.")
  }
}

/// Runs `body` and then `end`, even after an error.
nonisolated(nonsending) func lending<R>(
  _ body: nonisolated(nonsending) () async throws -> R,
  end: nonisolated(nonsending) () async -> Void
) async throws -> R {
  let result: R
  do { result = try await body() } catch {
    await end()
    throw error
  }
  await end()
  return result
}

/// The embedded simulated chips: the one used as the device, and its peers with their hosts.
struct SimulatedPeers {
  let bench: SimulatedBench
  let own: SimulatedBench.Chip
  let others: [SimulatedBench.Chip]

  /// Places chips a few metres apart. The first peer walks back and forth; the others stand still.
  init(
    profile: ChipProfile, peers: Int, seed: UInt64, conditions: SceneFile? = nil
  ) throws {
    var scene = Scene(seed: seed)
    conditions?.apply(to: &scene)
    bench = SimulatedBench(scene: scene)
    own = try bench.add(profile: profile, at: SIMD3(0, 0, 1), name: "own")
    others = try (0..<peers).map { [bench] index in
      let place = SIMD3<Double>(2 + 0.5 * Double(index), Double(index % 3) - 1, 1)
      let placement =
        index == 0
        ? Placement(.between(place, SIMD3<Double>(5, 1, 1), period: 20), yaw: 180)
        : Placement(at: place, yaw: 180)
      return try bench.add(profile: profile, placement: placement, name: "peer \(index + 1)")
    }
    if let conditions { for chip in bench.chips { conditions.apply(to: chip) } }
    bench.start()
  }

  static func endpoint(_ chip: SimulatedBench.Chip) -> LinkEndpoint {
    .serial(path: FilePath(chip.path))
  }

  /// Opens the peers and starts their end of a session.
  func start(_ configurations: [SessionConfiguration]) async throws -> [UWBDevice] {
    var devices: [UWBDevice] = []
    for (chip, configuration) in zip(others, configurations) {
      let device = try await UWBDevice.open(Self.endpoint(chip))
      devices.append(device)
      let session = try await device.makeSession(configuration)
      try await session.start()
    }
    return devices
  }
}
