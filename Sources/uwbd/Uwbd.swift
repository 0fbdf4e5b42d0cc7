// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Dispatch
import Glibc
import Logging
import UWBLab
import UWBLink

/// The service.
@main struct Uwbd: AsyncParsableCommand {
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "uwbd",
    abstract: "Share UWB chips among programs.",
    discussion: """
      Opens the chips, and serves programs at a Unix socket with varlink: they start sessions, join \
      those of others and see what is measured. A session ends when the programs that hold it have \
      gone. For example:
        uwbd --socket ./control /dev/ttyACM0
        varlinkctl introspect ./control org.swift-uwb.Chips
      Started by a socket unit of systemd, it serves that socket. SIGINT, SIGTERM, SIGHUP and SIGQUIT \
      end it: sessions end first.
      """,
    version: "uwbd \(version)\nPart of swift-uwb. Licence: Apache-2.0.")

  @Option(help: "The path at which programs connect.", completion: .file())
  var socket = "/run/uwbd/control"

  @Option(help: "The mode of the socket in octal digits: who may connect, and see measurements.")
  var mode = "0660"

  @Option(help: "The group whose members may start sessions (default: everybody who may connect).")
  var group: String?

  @Flag(name: .shortAndLong, help: "Log what clients and the driver do; -vv: every detail.")
  var verbose: Int

  @Argument(
    help: "The chips, as for uwbctl --device: /dev/ttyACM0, usb:SERIAL, tcp:host:port, and so on.")
  var devices: [String]

  private var socketMode: mode_t? { mode_t(mode, radix: 8).flatMap { $0 <= 0o777 ? $0 : nil } }

  func validate() throws {
    guard socketMode != nil else {
      throw ValidationError("--mode takes octal digits, such as 0660.")
    }
    guard Set(devices).count == devices.count else {
      throw ValidationError("A chip is named twice.")
    }
    for device in devices {
      do { _ = try LinkEndpoint(device) } catch {
        throw ValidationError("\(error) \(error.recoverySuggestion ?? "")")
      }
    }
  }

  func run() async throws {
    let signals = EndSignals()
    var logger = Logger(label: "uwbd") { _ in JournalLog(logLevel: .notice) }
    logger.logLevel = verbose == 0 ? .notice : verbose == 1 ? .info : .trace
    let supervisor = Supervisor()
    let permissions = Permissions(group: try groupID())
    let (listening, isOwn) = try listen()
    defer { if isOwn { unlink(socket) } }
    // Each client and each chip has descriptors.
    var limits = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 {
      limits.rlim_cur = min(limits.rlim_max, 65_536)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    }
    let service = try await Service(
      devices.map { ($0, try LinkEndpoint($0)) }, permissions, version: Self.version, logger: logger
    )
    await service.start(listeningAt: listening)
    supervisor.notify("READY=1\nSTATUS=\(await service.status)")
    let watchdog = Task {
      while let interval = supervisor.interval, (try? await Task.sleep(for: interval)) != nil {
        await service.waitForReaders()
        supervisor.notify("WATCHDOG=1\nSTATUS=\(await service.status)")
      }
    }
    await signals.first()
    watchdog.cancel()
    supervisor.notify("STOPPING=1")
    await service.stop()
  }

  private func groupID() throws -> (name: String, id: UInt32)? {
    guard let group else { return nil }
    guard let entry = getgrnam(group) else {
      throw report("There is no group \(group).", "Create it: groupadd --system \(group)", EX_USAGE)
    }
    return (group, entry.pointee.gr_gid)
  }

  private func listen() throws -> (socket: Int32, isOwn: Bool) {
    do throws(SocketFailure) {
      if let inherited = try ListeningSocket.inherited() { return (inherited, false) }
      return (try ListeningSocket.make(at: socket, mode: socketMode ?? 0o600), true)
    } catch {
      throw report(error.cause, error.suggestion, EX_CANTCREAT)
    }
  }

  private func report(_ cause: String, _ suggestion: String?, _ status: Int32) -> ExitCode {
    var text = "uwbd: \(printable(cause))\n"
    if let suggestion { text += "  try: \(printable(suggestion))\n" }
    let bytes = Array(text.utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    return ExitCode(status)
  }
}

/// The signals that end a program.
struct EndSignals {
  private let numbers: AsyncStream<Int32>
  private let source: any DispatchSourceRead

  /// Receives them from now on. A second one, at least a second after the first, ends the program at
  /// once.
  init() {
    let (numbers, continuation) = AsyncStream<Int32>.makeStream()
    self.numbers = numbers
    let source = DispatchSource.makeReadSource(
      fileDescriptor: signalPipe.readEnd, queue: DispatchQueue(label: "signals"))
    let since = FirstTime()
    source.setEventHandler {
      var number: UInt8 = 0
      while read(signalPipe.readEnd, &number, 1) == 1 {
        if since.age() >= .seconds(1) { _exit(128 + Int32(number)) }
        continuation.yield(Int32(number))
      }
    }
    self.source = source
    source.resume()
    signal(SIGPIPE, SIG_IGN)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
      var action = sigaction()
      action.sa_flags = SA_RESTART
      action.__sigaction_handler.sa_handler = { number in
        let error = errno
        var byte = UInt8(truncatingIfNeeded: number)
        write(signalPipe.writeEnd, &byte, 1)
        errno = error
      }
      sigaction(number, &action, nil)
    }
  }

  /// Waits for the first one.
  func first() async { for await _ in numbers { return } }

  /// When something was asked first; on one queue.
  private final class FirstTime: @unchecked Sendable {
    private var first: ContinuousClock.Instant?

    func age() -> Duration {
      let now = ContinuousClock.now
      defer { first = first ?? now }
      return now - (first ?? now)
    }
  }
}

/// Made before the handlers that use it are in place.
private let signalPipe: (readEnd: Int32, writeEnd: Int32) = {
  var ends: [Int32] = [-1, -1]
  guard pipe(&ends) == 0 else { fatalError("no descriptor is left") }
  for end in ends {
    _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    _ = fcntl(end, F_SETFL, O_NONBLOCK)
  }
  return (ends[0], ends[1])
}()
