// SPDX-License-Identifier: Apache-2.0

package import Channels
import ArgumentParser
import CommandSupport
import Dispatch
import Formats
import FoundationEssentials
import Glibc
import JSON
package import SystemPackage
import UCI
package import UWB

/// Accepts requests to change the controlees of a running `range`. Only that process can use the
/// port, so `multicast` connects to it.
package final class RangeControl: Sendable {
  package let path: String
  private let source: Source

  /// Safe because the source is only cancelled, which any thread may do.
  private struct Source: @unchecked Sendable { let source: any DispatchSourceRead }

  /// Listens for requests.
  ///
  /// - Parameters:
  ///   - device: The name of the device, as on the command line.
  ///   - folder: See `ControlSocket`.
  /// - Throws: `Errno` or `ChannelError` if the socket cannot be created.
  package init(
    _ session: UWBSession, device: String, folder: String = ControlSocket.folder
  ) throws {
    try ControlSocket.makeFolder(folder)
    let path = "\(folder)/range-\(getpid())-\(session.configuration.sessionID).sock"
    let socket = try ControlSocket.listen(at: path)
    let queue = DispatchQueue(label: "control", attributes: .concurrent)
    let source = DispatchSource.makeReadSource(fileDescriptor: socket.rawValue, queue: queue)
    source.setEventHandler {
      let number = accept(socket.rawValue, nil, nil)
      guard number >= 0 else { return }
      let connection = FileDescriptor(rawValue: number)
      ControlSocket.setPatience(connection)
      queue.async { Self.serve(connection, session, device) }
    }
    source.setCancelHandler { try? socket.close() }
    source.resume()
    self.path = path
    self.source = Source(source: source)
  }

  deinit { stop() }

  /// Stops accepting requests, after completing the accepted ones.
  package func stop() {
    unlink(path)
    source.source.cancel()
  }

  private static func serve(
    _ connection: FileDescriptor, _ session: UWBSession, _ device: String
  ) {
    guard let request = try? ControlSocket.receive(ControlRequest.self, over: connection) else {
      try? connection.close()
      return
    }
    Task {
      let reply = await answer(request, session, device)
      try? ControlSocket.send(reply, over: connection)
      try? connection.close()
    }
  }

  private static func answer(
    _ request: ControlRequest, _ session: UWBSession, _ device: String
  ) async -> ControlReply {
    var reply = ControlReply(
      pid: getpid(), device: device, session: session.configuration.sessionID, controlees: [])
    let addresses = request.addresses.map { MACAddress($0) }
    do throws(DriverError) {
      let outcomes =
        switch request.action {
        case .list: [ControleeOutcome]()
        case .add: try await session.addControlees(addresses)
        case .remove: try await session.removeControlees(addresses)
        }
      reply.outcomes = outcomes.map {
        .init(
          address: UInt16(truncatingIfNeeded: $0.address.value), status: "\($0.status)",
          code: $0.status.rawValue)
      }
    } catch {
      reply.error = error.description
      reply.suggestion =
        session.configuration.isOneToMany
        ? error.recoverySuggestion
        : "Start all ends of the session with --one-to-many: a one-to-one session remains so."
    }
    reply.controlees = session.controlees.map { UInt16(truncatingIfNeeded: $0.value) }
    return reply
  }
}

/// The running `range` commands of this user.
package struct RunningRanges {
  package struct Entry {
    package var path: String
    package var about: ControlReply
  }

  package private(set) var entries: [Entry] = []

  /// Queries each socket, and removes the sockets of programs that have ended.
  package init(folder: String = ControlSocket.folder) {
    for path in ControlSocket.paths(in: folder) {
      do throws(ChannelError) {
        let connection = try ControlSocket.connect(to: path)
        defer { try? connection.close() }
        let reply = try? Self.exchange(ControlRequest(action: .list), connection)
        if let reply { entries.append(Entry(path: path, about: reply)) }
      } catch {
        if case .system(.connectionRefused, _) = error.reason { unlink(path) }
      }
    }
  }

  /// Returns the entries that match all arguments that are not nil.
  package func matching(device: String?, session: UInt32?, pid: Int32?) -> [Entry] {
    entries.filter { entry in
      (session == nil || entry.about.session == session) && (pid == nil || entry.about.pid == pid)
        && (device == nil || Self.isSame(device ?? "", entry.about.device))
    }
  }

  /// Compares devices by the targets of their paths.
  private static func isSame(_ a: String, _ b: String) -> Bool {
    func real(_ path: String) -> String {
      guard let resolved = realpath(path, nil) else { return path }
      defer { free(resolved) }
      return String(cString: resolved)
    }
    return a == b || real(a) == real(b)
  }

  package static func ask(_ request: ControlRequest, at path: String) throws -> ControlReply {
    let connection = try ControlSocket.connect(to: path)
    defer { try? connection.close() }
    return try exchange(request, connection)
  }

  private static func exchange(
    _ request: ControlRequest, _ connection: FileDescriptor
  ) throws -> ControlReply {
    try ControlSocket.send(request, over: connection)
    return try ControlSocket.receive(ControlReply.self, over: connection)
  }
}

/// The sockets of running `range` commands, in a folder that only its owner can enter.
package enum ControlSocket {
  /// The greatest length of a request in bytes.
  static let lineLimit = 65_536
  /// The time-out for the other end in seconds.
  package static let patience = 5

  /// The folder `$XDG_RUNTIME_DIR/uwbctl`, or a folder of this user in /tmp without that variable.
  package static var folder: String {
    if let base = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), !base.isEmpty {
      return base + "/uwbctl"
    }
    return "/tmp/uwbctl-\(getuid())"
  }

  /// Creates the folder; throws unless it belongs to this user and only this user can enter it.
  package static func makeFolder(_ path: String) throws(Errno) {
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw Errno(rawValue: errno) }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw Errno(rawValue: errno) }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(),
      status.st_mode & 0o077 == 0
    else { throw .permissionDenied }
  }

  /// Returns all sockets, even of programs that have ended.
  package static func paths(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasPrefix("range-") && $0.hasSuffix(".sock") }
      .map { "\(folder)/\($0)" }.sorted()
  }

  /// Listens at an unused path.
  package static func listen(at path: String) throws(ChannelError) -> FileDescriptor {
    unlink(path)
    return try SocketAddress.withSocket(.unix(path: path), forListening: true) {
      bind($0, $1, $2) == 0 && chmod(path, 0o600) == 0 && Glibc.listen($0, 8) == 0
        ? nil : Errno(rawValue: errno)
    }
  }

  package static func connect(to path: String) throws(ChannelError) -> FileDescriptor {
    try SocketAddress.withSocket(.unix(path: path), forListening: false) {
      setPatience(FileDescriptor(rawValue: $0))
      return Glibc.connect($0, $1, $2) == 0 ? nil : Errno(rawValue: errno)
    }
  }

  /// Sets time-outs, so that a silent other end cannot block this one.
  static func setPatience(_ descriptor: FileDescriptor) {
    var time = timeval(tv_sec: patience, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(
        descriptor.rawValue, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  package static func send(_ message: some Encodable, over descriptor: FileDescriptor) throws {
    try descriptor.writeAll(Array("\(JSON(encoding: message))\n".utf8))
  }

  /// Receives one line; throws if it is not a message of this type, or after the time-out.
  package static func receive<M: Decodable>(_ type: M.Type, over descriptor: FileDescriptor) throws
    -> M
  {
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while !line.contains(0x0A), line.count < lineLimit {
      let count = try buffer.withUnsafeMutableBytes { try descriptor.read(into: $0) }
      guard count > 0 else { break }
      line += buffer[..<count]
    }
    return try JSONNode(line.prefix { $0 != 0x0A }, .strict).decode(ignoresUnknown: true)
  }
}

/// A request to a running `range`: one line of JSON over its socket.
package struct ControlRequest: Codable, Equatable {
  package enum Action: String, Codable { case list, add, remove }

  package var action: Action
  /// The short addresses.
  package var addresses: [UInt16] = []

  package init(
    action: Action, addresses: [UInt16] = []
  ) {
    self.action = action
    self.addresses = addresses
  }
}

/// The reply of a running `range`: one line of JSON.
package struct ControlReply: Codable, Equatable {
  package struct Outcome: Codable, Equatable {
    package var address: UInt16
    /// The name of the status, and its number, where 0 is success.
    package var status: String
    package var code: UInt8
  }

  /// The process ID of `range`.
  package var pid: Int32
  package var device: String
  package var session: UInt32
  /// The current controlees.
  package var controlees: [UInt16]
  /// The result for each requested address.
  package var outcomes: [Outcome] = []
  /// The cause of a failure, and the next step.
  package var error: String?
  package var suggestion: String?
}

/// A short address in the form that `range` accepts.
package struct ShortAddress: ExpressibleByArgument {
  package var value: UInt16
  package init?(argument: String) {
    guard let address = MACAddress(argument), !address.isExtended else { return nil }
    value = UInt16(truncatingIfNeeded: address.value)
  }
}
