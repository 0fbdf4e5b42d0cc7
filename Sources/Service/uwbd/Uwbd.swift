// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CVersion
import Dispatch
import Formats
import Glibc
import System
import Logging
import Ranging
import UWBLink
import UWBService
import Varlink

/// Starts `uwbd`. An asynchronous `main` would run on Dispatch, which aborts if no descriptor is
/// left. So this `main` checks the limit of descriptors first.
@main struct Program {
  static func main() {
    do { try Uwbd.raiseDescriptorLimit() } catch { Uwbd.exit(withError: error) }
    Task.detached {
      await Uwbd.main()
      exit(0)
    }
    dispatchMain()
  }
}

/// The command `uwbd`.
struct Uwbd: AsyncParsableCommand {
  static let version = unsafe String(cString: cversion_number())

  static let configuration = CommandConfiguration(
    commandName: "uwbd",
    abstract: "Share UWB chips among programs.",
    discussion: """
      Opens the chips, and serves programs at a Unix socket with varlink. Programs start sessions, \
      join the sessions of other programs, and receive measurements. A session ends when its last \
      program disconnects, or after the delay that a program asked for. For example:
        uwbd --socket ./control /dev/ttyACM0
        varlinkctl introspect ./control org.swift-uwb.Chips
      Started by a socket unit of systemd, uwbd serves that socket. SIGINT, SIGTERM and SIGQUIT end \
      all sessions and then uwbd. So does SIGHUP without --sessions.
      """,
    version: "uwbd \(version)\nPart of swift-uwb. Licence: Apache-2.0.")

  @Option(help: "The path at which programs connect.", completion: .file())
  var socket = "/run/uwbd/control"

  @Option(help: "The octal mode of the socket: its users may connect and see measurements.")
  var mode = "0660"

  @Option(help: "The group whose members may start sessions (default: everybody who may connect).")
  var group: String?

  @Option(
    help: """
      A folder with profiles of sessions that the service holds for itself. Files are NAME.json, or \
      with several chips CHIP.NAME.json with the last part of the chip's name. SIGHUP reads the \
      folder again.
      """,
    completion: .directory)
  var sessions: String?

  @Option(
    help: """
      CHIP=FILE, may be repeated: correct the distances of a chip with this calibration, as written \
      by uwblab calibrate. CHIP is the name of the chip or its last part, and its name in a file of \
      several boards.
      """)
  var calibration: [String] = []

  @Option(help: "Exit after this many seconds without clients and sessions (for socket units).")
  var idle: Int?

  @Flag(name: .shortAndLong, help: "Log the actions of clients and driver; -vv: every detail.")
  var verbose: Int

  @Argument(
    help: """
      The chips, as for uwbctl --device: /dev/ttyACM0, usb:SERIAL, tcp:host:port, and so on. The \
      default is the boards that udev names in /dev/uwb, as they are plugged in.
      """)
  var devices: [String] = []

  private var socketMode: mode_t? { mode_t(mode, radix: 8).flatMap { $0 <= 0o777 ? $0 : nil } }

  func validate() throws {
    guard socketMode != nil else {
      throw ValidationError("--mode takes octal digits, such as 0660.")
    }
    guard Set(devices).count == devices.count else {
      throw ValidationError("A chip is named twice.")
    }
    for text in calibration {
      guard let pair = Self.pair(text) else {
        throw ValidationError("--calibration takes CHIP=FILE, not \(text).")
      }
      let names = devices + devices.map(lastPart(of:))
      guard devices.isEmpty || names.contains(pair.chip) else {
        throw ValidationError("--calibration names no chip of the service: \(pair.chip).")
      }
    }
    guard idle ?? 1 > 0 else { throw ValidationError("--idle takes 1 or more.") }
    for device in devices {
      do { _ = try LinkEndpoint(device) } catch {
        throw ValidationError("\(error) \(error.recoverySuggestion ?? "")")
      }
    }
  }

  private static func pair(_ text: String) -> (chip: String, file: String)? {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    return parts.count == 2 ? (parts[0], parts[1]) : nil
  }

  /// Reads the calibrations. A service without them would report wrong distances.
  private func readCalibrations() async throws -> [ChipCalibration] {
    let read = try await runBlocking { [calibration] in
      Result { () throws(FormatError) in
        var read: [ChipCalibration] = []
        for pair in calibration.compactMap(Self.pair) {
          read.append(ChipCalibration(chip: pair.chip, try RangingCalibration.read(pair.file)))
        }
        return read
      }
    }
    do throws(FormatError) { return try read.get() } catch {
      throw Self.report("\(error)", nil, EX_NOINPUT)
    }
  }

  func run() async throws {
    let (events, event) = AsyncStream<Event>.makeStream()
    let signals = receiveSignals(event)
    defer { signals.cancel() }
    var logger = Logger(label: "uwbd") { _ in JournalLog(logLevel: .notice) }
    logger.logLevel = verbose == 0 ? .notice : verbose == 1 ? .info : .trace
    let supervisor = Supervisor()
    let permissions = Permissions(group: try groupID())
    let calibrations = try await readCalibrations()
    let inherited = try reporting { () throws(SocketFailure) in
      try ListeningSocket.inherited(storedAs: PortStore.prefix)
    }
    let ports = PortStore(supervisor, inherited: inherited.stored)
    let (listening, isOwn) = try listen(inherited.socket)
    defer { if isOwn { unsafe unlink(socket) } }
    let boards = BoardFolder()
    // Lists the boards before the first call, which may name one of them.
    let names = devices.isEmpty ? try await runBlocking { boards.boards } : devices
    let service = try await Service(
      names.map { ($0, try LinkEndpoint($0)) }, permissions, version: Self.version,
      calibrations: calibrations, ports: ports, logger: logger)
    await readSessions(service, logger)
    await service.start(listeningAt: listening)
    supervisor.notify("READY=1\nSTATUS=\(await service.status)")
    let watchdog = Task {
      while let interval = supervisor.interval, (try? await Task.sleep(for: interval)) != nil {
        await service.waitForReaders()
        supervisor.notify("WATCHDOG=1\nSTATUS=\(await service.status)")
      }
    }
    let watch = devices.isEmpty ? Task { await boards.watch { event.yield(.boards($0)) } } : nil
    defer { watch?.cancel() }
    if let idle { await service.whenIdle(for: .seconds(idle)) { event.yield(.end) } }
    for await event in events {
      guard try await handle(event, service, supervisor, logger) else { break }
    }
    watchdog.cancel()
    supervisor.notify("STOPPING=1")
    await service.stop()
    await JournalLog.finish()
  }

  private enum Event {
    case end, reload
    case boards([String])
  }

  /// Reports signals as events. The second signal that ends the program ends it at once.
  private func receiveSignals(_ event: AsyncStream<Event>.Continuation) -> Signals.Receiver {
    let reloads = sessions != nil
    let first = Locked(FirstSignal())
    signal(SIGPIPE, SIG_IGN)
    return Signals.receive(Signals.ending) { number in
      if reloads, number == SIGHUP {
        event.yield(.reload)
        return
      }
      if first.withLock({ $0.isSecond() }) { _exit(128 + number) }
      event.yield(.end)
    }
  }

  /// Raises the limit of descriptors: each client and each chip needs some.
  ///
  /// - Throws: `ExitCode` if the limit is so low that Dispatch, which aborts without descriptors,
  ///   might get none.
  static func raiseDescriptorLimit() throws {
    var limits = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else {
      return
    }
    limits.rlim_cur = min(limits.rlim_max, 65_536)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    guard limits.rlim_max < 32 else { return }
    throw report(
      "It may open only \(limits.rlim_max) files, and needs 32 or more.",
      "Raise the limit: ulimit -Hn 1024, or LimitNOFILE= in the unit.", EX_OSERR)
  }

  /// Handles an event.
  /// - Returns: Whether the program continues.
  private func handle(
    _ event: Event, _ service: Service, _ supervisor: Supervisor, _ logger: Logger
  ) async throws -> Bool {
    switch event {
    case .end: return false
    case .boards(let names):
      var isAnyNew = false
      for name in names {
        if await service.add(name, try LinkEndpoint(name)) { isAnyNew = true }
      }
      if isAnyNew { await readSessions(service, logger) }
    case .reload:
      supervisor.notify("RELOADING=1\nMONOTONIC_USEC=\(nanoseconds(of: CLOCK_MONOTONIC) / 1_000)")
      await readSessions(service, logger)
      supervisor.notify("READY=1\nSTATUS=\(await service.status)")
    }
    return true
  }

  /// Reads the profiles again. A file that cannot be used is logged, and the others are used.
  private func readSessions(_ service: Service, _ logger: Logger) async {
    guard let sessions else { return }
    let (chips, held) = await (service.names, service.held)
    let read = try? await runBlocking { ProfileFolder(sessions, chips: chips, held: held) }
    guard let folder = read ?? nil else {
      logger.error("The folder \(printable(sessions)) cannot be read: sessions stay as they are.")
      return
    }
    for problem in folder.problems { logger.error("\(printable(problem))") }
    await service.hold(folder.profiles)
  }

  private func groupID() throws -> (name: String, id: UInt32)? {
    guard let group else { return nil }
    guard let entry = unsafe getgrnam(group) else {
      throw Self.report(
        "There is no group \(group).", "Create it: groupadd --system \(group)", EX_USAGE)
    }
    return unsafe (group, entry.pointee.gr_gid)
  }

  private func listen(_ inherited: Int32?) throws -> (socket: Int32, isOwn: Bool) {
    if let inherited { return (inherited, false) }
    return try reporting { () throws(SocketFailure) in
      let mode = socketMode ?? 0o600
      return (try ListeningSocket.make(at: socket, mode: mode, option: "--socket"), true)
    }
  }

  private func reporting<R>(_ body: () throws(SocketFailure) -> R) throws -> R {
    do throws(SocketFailure) { return try body() } catch {
      throw Self.report(error.cause, error.suggestion, EX_CANTCREAT)
    }
  }

  private static func report(_ cause: String, _ suggestion: String?, _ status: Int32) -> ExitCode {
    var text = "uwbd: \(printable(cause))\n"
    if let suggestion { text += "  try: \(printable(suggestion))\n" }
    let bytes = Array(text.utf8)
    _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
    return ExitCode(status)
  }
}
