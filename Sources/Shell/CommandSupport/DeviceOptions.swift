// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Formats
import System
import Glibc
import Logging
import SystemPackage
package import UWB
package import UWBLink
package import UWBSimulator

/// The options for the kind of chip and for logging.
package struct ChipOptions: ParsableArguments {
  package enum Family: String, ExpressibleByArgument, CaseIterable {
    case auto, qorvo, nxp
    package var profile: DeviceProfile? {
      switch self {
      case .auto: nil
      case .qorvo: .qorvo
      case .nxp: .nxp
      }
    }
  }

  package enum SimulatedChip: String, ExpressibleByArgument, CaseIterable {
    case qm33, qm33pdoa, sr250, fira1, pica
    package var profile: ChipProfile { ChipProfile.named(rawValue) ?? .qm33 }
  }

  @Option(help: "Assume this family of chips instead of reading it from the chip.")
  package var chip = Family.auto

  @Option(help: "The model of the embedded simulated chips.")
  package var simChip = SimulatedChip.qm33pdoa

  @Option(help: "The seed of the simulated noise.")
  package var seed: UInt64 = 1

  @Option(
    help: """
      A file with the conditions of the embedded simulated chips, whose names are "own", "peer 1" and \
      so on; see uwbctl simulate --help.
      """,
    completion: .file())
  package var scene: String?

  @Flag(help: "Open the chip directly, even if a service (uwbd) shares it.") package var direct =
    false

  @Flag(
    help: """
      Use the chip exclusively, for its configuration, calibration, tests and packets: a service (uwbd) \
      that shares it closes it until the command has ended.
      """)
  package var exclusive = false

  @Flag(
    name: .shortAndLong, help: "Log the driver's actions to standard error; -vv: every detail.")
  package var verbose: Int

  package init() {}

  package var driverOptions: UWBDevice.Options {
    var logger = Logger(
      label: Program.command, factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = verbose == 0 ? .error : verbose == 1 ? .info : .trace
    var options = UWBDevice.Options(profile: chip.profile, logger: logger)
    options.usesService = !direct && !exclusive
    return options
  }

  /// The contents of `--scene`.
  package var conditions: SceneFile? {
    get throws { try scene.map { path throws(FormatError) in try SceneFile(file: path) } }
  }

  /// Returns the embedded simulated chip, and the given number of peers.
  package func simulatedChip(peers: Int = 0) throws -> SimulatedPeers {
    try SimulatedPeers(
      profile: simChip.profile, peers: peers, seed: seed, conditions: conditions)
  }
}

package struct DeviceOptions: ParsableArguments {
  package static let simulated = "sim"

  /// Suggests devices that are plugged in.
  package static let completion = CompletionKind.custom { _, _, _ in
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
  package var device = Self.simulated

  @OptionGroup package var chip: ChipOptions

  package var isSimulated: Bool { device == Self.simulated }
  package var driverOptions: UWBDevice.Options { chip.driverOptions }

  /// Prints a note that measurements come from simulated chips.
  package func noteSimulation() {
    if isSimulated { note("Simulated chips: --device names a board.") }
  }

  package init() {}

  package func validate() throws { try Self.check(device) }

  /// Checks the name of a device.
  ///
  /// - Throws: `ValidationError` for an invalid name.
  package static func check(_ device: String) throws {
    guard device != simulated else { return }
    do { _ = try LinkEndpoint(device) } catch {
      throw ValidationError("\(error) \(error.recoverySuggestion ?? "")")
    }
  }

  /// Returns the options for a device that a command accepts under another name.
  package static func naming(_ device: String, _ chip: ChipOptions) throws -> DeviceOptions {
    var options = try parse(["--device", device])
    options.chip = chip
    return options
  }
}

/// The options for recording packets.
package struct CaptureOptions: ParsableArguments {
  @Option(
    help: "Record every packet in this file (pcapng), overwriting it.",
    completion: .file(extensions: ["pcapng"]))
  package var capture: String?

  @Flag(help: "Record keys in clear instead of as zeros.")
  package var includeSecrets = false

  package init() {}

  package func validate() throws {
    if includeSecrets, capture == nil {
      throw ValidationError("--include-secrets needs --capture.")
    }
  }

  /// Creates the file, or returns nil without --capture. The device is opened later, so that no
  /// packet is missing.
  package func start(_ device: String, simulated: ChipOptions.SimulatedChip?) throws -> CaptureFile?
  {
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
          os: Self.system, userApplication: "\(Program.command) \(Program.version)",
          interfaceName: device,
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
  package var tap: UWBDevice.PacketTap {
    {
      if let failure = self.record($0, $1, time: $2) { Ending.captureFailed(failure) }
    }
  }
}

/// The device to open and the capture, resolved from `--device` and `--capture`.
package struct OpenTarget {
  package let endpoint: LinkEndpoint
  package let tap: UWBDevice.PacketTap?
  /// The embedded simulated chips; nil for another device.
  package let simulated: SimulatedPeers?
  /// The connection that keeps a service from opening the chip.
  private let loan: FileDescriptor?

  /// Resolves the options.
  ///
  /// - Parameter peers: The number of further simulated chips.
  /// - Throws: `LinkError`, `CaptureError`, or the error of the pseudo-terminal.
  package init(
    _ device: String, _ chip: ChipOptions, _ capture: CaptureOptions?, peers: Int = 0
  ) async throws {
    simulated = device == DeviceOptions.simulated ? try chip.simulatedChip(peers: peers) : nil
    endpoint = try simulated.map { SimulatedPeers.endpoint($0.own) } ?? LinkEndpoint(device)
    tap = try capture?.start(device, simulated: simulated == nil ? nil : chip.simChip)?.tap
    loan =
      chip.exclusive && simulated == nil
      ? try await runBlocking { [endpoint] in
        Result { () throws(LinkError) in try endpoint.borrow(for: Program.name) }
      }.get() : nil
  }

  /// Stops the simulated chips, and returns the chip to the service.
  package func finish() {
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
  package func withDevice<R: Sendable>(
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
package nonisolated(nonsending) func lending<R>(
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
package struct SimulatedPeers {
  package let bench: SimulatedBench
  package let own: SimulatedBench.Chip
  package let others: [SimulatedBench.Chip]

  /// Places chips a few metres apart. The first peer walks back and forth; the others stand still.
  package init(
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

  package static func endpoint(_ chip: SimulatedBench.Chip) -> LinkEndpoint {
    .serial(path: FilePath(chip.path))
  }

  /// Opens the peers and starts their end of a session.
  package func start(_ configurations: [SessionConfiguration]) async throws -> [UWBDevice] {
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
