// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
package import Channels
package import CommandSupport
import Formats
import FoundationEssentials
import Glibc
import JSON
import System
package import SystemPackage
import UCI
package import UCIReference
package import UWB
import UWBLink
import Varlink

/// Accepts requests to change the controlees of a running `range`, and to describe its session.
/// Only that process can use the port, so `multicast` and `diff` connect to it: the varlink
/// interface org.swift-uwb.Range.
package final class RangeControl: Sendable {
  package let path: String
  private let server: VarlinkServer

  /// Listens for requests.
  ///
  /// - Parameters:
  ///   - device: The name of the device, as on the command line.
  ///   - folder: See `ControlSocket`.
  /// - Throws: `Errno` or `ChannelError` if the socket cannot be created.
  package init(
    _ session: UWBSession, device: String, folder: String = ControlSocket.folder
  ) throws {
    let server = try VarlinkServer(
      try VarlinkService(
        product: "uwbctl range", version: Program.version, interfaces: [RangeCall.description]))
    try ControlSocket.makeFolder(folder)
    path = "\(folder)/range-\(getpid())-\(session.configuration.sessionID).sock"
    let socket = try ControlSocket.listen(at: path).rawValue
    let calls = RangeCalls(session, device: device)
    self.server = server
    ServiceQueue.shared.later {
      server.start(listeningAt: socket) { descriptor, _ in
        // Silent clients must not use up the descriptors, because a returning device needs one.
        guard server.connectionCount < 32 else {
          close(descriptor)
          return
        }
        server.connect(descriptor).handler = calls
      }
    }
  }

  deinit { stop() }

  /// Stops accepting requests, after completing the accepted ones.
  package func stop() {
    unsafe unlink(path)
    ServiceQueue.shared.later { [server] in server.stop(answersCalls: true) }
  }
}

/// The methods of a running `range`.
package enum RangeCall: String {
  case list = "List"
  case describe = "Describe"
  case add = "Add"
  case remove = "Remove"

  static let interface = "org.swift-uwb.Range"
  static let description = String(
    decoding: PackageResources.org_swift_uwb_Range_varlink, as: UTF8.self)
}

/// Performs the calls of a running `range`.
@ServiceActor private final class RangeCalls: VarlinkHandler {
  private let session: UWBSession
  private let device: String

  nonisolated init(_ session: UWBSession, device: String) {
    (self.session, self.device) = (session, device)
  }

  func perform(
    _ method: String, _ call: VarlinkCall, over connection: VarlinkConnection
  ) -> VarlinkConnection.Outcome {
    let given = call.parameters["addresses"]?.array ?? []
    let addresses = given.compactMap { ShortAddress(argument: $0.string ?? "")?.value }
    guard let call = RangeCall(rawValue: method), addresses.count == given.count else {
      return .reply(VarlinkReply.invalidParameter("addresses").bytes)
    }
    Task {
      let reply = await perform(call, addresses.map { MACAddress($0) })
      connection.answer(.reply(reply.bytes))
    }
    return .later
  }

  private func perform(_ call: RangeCall, _ addresses: [MACAddress]) async -> VarlinkReply {
    do throws(DriverError) {
      let outcomes =
        switch call {
        case .list, .describe: [ControleeOutcome]()
        case .add: try await session.addControlees(addresses)
        case .remove: try await session.removeControlees(addresses)
        }
      let running = RunningRange(
        pid: getpid(), device: device, session: session.configuration.sessionID,
        role: "\(session.configuration.role)",
        controlees: isController ? session.controlees.map(\.description) : [],
        outcomes: outcomes.map {
          .init(address: $0.address.description, status: "\($0.status)", code: $0.status.rawValue)
        })
      // No number in it is infinite.
      let members = ["running": (try? JSON(encoding: running)) ?? .null]
      return VarlinkReply(call == .describe ? members.merging(parameters) { $1 } : members)
    } catch {
      let advice =
        session.configuration.isOneToMany
        ? error.recoverySuggestion
        : "Start all ends of the session with --one-to-many: a one-to-one session remains so."
      return VarlinkReply(
        ["reason": .string(error.description), "advice": advice.map { .string($0) } ?? .null],
        error: "\(RangeCall.interface).Refused")
    }
  }

  private var isController: Bool { session.configuration.role == .controller }

  /// The parameters of this end, with zeros for keys.
  private var parameters: [String: JSON] {
    var configuration = session.configuration
    let controlees = session.controlees
    if isController, !controlees.isEmpty { configuration.peers = controlees }
    let list = configuration.parameters(for: Dialect.assumed.generation).map { tlv -> JSON in
      let isSecret = AppConfigID(rawValue: tlv.id).isSecret
      let value = isSecret ? [UInt8](repeating: 0, count: tlv.value.count) : tlv.value
      return .object(["id": .integer(Int64(tlv.id)), "octets": .string(hexDigits(value))])
    }
    return [
      "session_type": .integer(Int64(configuration.type.rawValue)), "parameters": .array(list),
    ]
  }

  func rejection(of error: VarlinkMessageError) -> VarlinkReply {
    VarlinkReply(["reason": .string("\(error)")], error: "\(RangeCall.interface).InvalidMessage")
  }
}

/// A running `range` and its controlees.
package struct RunningRange: Codable, Equatable {
  package struct Outcome: Codable, Equatable {
    package var address: String
    /// The name of the status.
    package var status: String
    /// The number of the status; 0 is success.
    package var code: UInt8

    private enum CodingKeys: String, CodingKey { case address, status, code = "status_code" }
  }

  /// The process ID of `range`.
  package var pid: Int32
  package var device: String
  package var session: UInt32
  /// `controller` or `controlee`; nil for a controller of an older version.
  package var role: String?
  /// The addresses of the current controlees.
  package var controlees: [String]
  /// The result for each requested address.
  package var outcomes: [Outcome]
}

/// The running `range` commands of this user.
package struct RunningRanges {
  package struct Entry {
    package var path: String
    package var about: RunningRange
  }

  package private(set) var entries: [Entry] = []

  package static let noSession = Failure(
    .unavailable, "No such session is running.",
    try:
      "Start uwbctl range as controller in another terminal, as the same user; uwbctl multicast list "
      + "shows running sessions.")

  /// Queries each socket, and removes the sockets of programs that have ended.
  package init(folder: String = ControlSocket.folder) {
    for path in ControlSocket.paths(in: folder) {
      do throws(VarlinkClient.Failure) {
        let reply = try Self.reply(.list, [], path)
        if let about = try? Self.running(reply) {
          entries.append(Entry(path: path, about: about))
        }
      } catch { if case .unreachable(.connectionRefused) = error { unsafe unlink(path) } }
    }
  }

  /// Returns the controllers that match all arguments that are not nil.
  package func matching(device: String?, session: UInt32?, pid: Int32?) -> [Entry] {
    let place = device.map(Self.place)
    return entries.filter { entry in
      entry.about.role != "controlee" && (session == nil || entry.about.session == session)
        && (pid == nil || entry.about.pid == pid)
        && (place == nil || Self.place(of: entry.about.device) == place)
    }
  }

  /// Returns the sessions that run with a device, as both ends of a comparison have them.
  package func ends(on device: String, session: UInt32?) -> [SessionPeerConfiguration] {
    let place = Self.place(of: device)
    return entries.filter {
      Self.place(of: $0.about.device) == place && session ?? $0.about.session == $0.about.session
    }.compactMap { entry in
      guard let reply = try? Self.reply(.describe, [], entry.path), reply.error == nil,
        let type = reply.parameters["session_type"]?.integer,
        let parameters = reply.parameters["parameters"]?.array
      else { return nil }
      let list = parameters.compactMap { parameter -> TLV? in
        guard let id = parameter.object?["id"]?.integer.flatMap(UInt8.init(exactly:)),
          let value = try? FrameText.bytes(parameter.object?["octets"]?.string ?? "")
        else { return nil }
        return TLV(id, value)
      }
      return SessionPeerConfiguration(
        sessionID: entry.about.session,
        parameters: SessionParameters(
          list, dialect: .assumed, type: SessionType(rawValue: UInt8(clamping: type))))
    }
  }

  /// Returns the location of a device, which has several names.
  private static func place(of device: String) -> String {
    (try? LinkEndpoint(device))?.place ?? device
  }

  /// Calls a running `range`. Blocks until it replies, or for 5 s.
  package static func ask(
    _ call: RangeCall, _ addresses: [ShortAddress], at path: String
  ) throws(Failure) -> RunningRange {
    guard let reply = try? reply(call, addresses, path) else { throw noSession }
    if let error = reply.error {
      throw Failure(
        .configuration, reply.parameters["reason"]?.string ?? error,
        try: reply.parameters["advice"]?.string)
    }
    guard let running = try? running(reply) else { throw noSession }
    return running
  }

  private static func reply(
    _ call: RangeCall, _ addresses: [ShortAddress], _ path: String
  ) throws(VarlinkClient.Failure) -> VarlinkReply {
    let addresses = JSON.array(addresses.map { .string(MACAddress($0.value).description) })
    let called = try VarlinkClient.call(
      VarlinkCall(
        "\(RangeCall.interface).\(call.rawValue)",
        [.list, .describe].contains(call) ? [:] : ["addresses": addresses]),
      at: path)
    try? called.descriptor.close()
    return called.reply
  }

  private static func running(_ reply: VarlinkReply) throws -> RunningRange {
    try JSONNode(reply.parameters["running"] ?? .null).decode(ignoresUnknown: true)
  }
}

/// The sockets of running `range` commands, in a folder that only its owner can enter.
package enum ControlSocket {
  /// The folder `$XDG_RUNTIME_DIR/uwbctl`, or a folder of this user in /tmp without that variable.
  package static var folder: String {
    if let base = unsafe getenv("XDG_RUNTIME_DIR").map({ unsafe String(cString: $0) }),
      !base.isEmpty
    {
      return base + "/uwbctl"
    }
    return "/tmp/uwbctl-\(getuid())"
  }

  /// Creates the folder; throws unless it belongs to this user and only this user can enter it.
  package static func makeFolder(_ path: String) throws(Errno) {
    if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw Errno(rawValue: errno) }
    try check(path)
  }

  /// Throws unless the folder belongs to this user and only this user can enter it. In /tmp,
  /// another user may have made it.
  private static func check(_ path: String) throws(Errno) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { throw Errno(rawValue: errno) }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(),
      status.st_mode & 0o077 == 0
    else { throw .permissionDenied }
  }

  /// Returns all sockets, even of programs that have ended; none of a folder of another user.
  package static func paths(in folder: String) -> [String] {
    guard (try? check(folder)) != nil else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasPrefix("range-") && $0.hasSuffix(".sock") }
      .map { "\(folder)/\($0)" }.sorted()
  }

  /// Listens at an unused path. The socket appears there only when it accepts connections: others
  /// remove a socket that does not.
  package static func listen(at path: String) throws(ChannelError) -> FileDescriptor {
    let temporary = path + ".new"
    unsafe unlink(temporary)
    let socket = try unsafe SocketAddress.withSocket(.unix(path: temporary), forListening: true) {
      unsafe bind($0, $1, $2) == 0 && chmod(temporary, 0o600) == 0 && Glibc.listen($0, 8) == 0
        && rename(temporary, path) == 0
        ? nil : Errno(rawValue: errno)
    }
    makeNonBlocking(socket.rawValue)
    return socket
  }
}

/// A short address in the form that `range` accepts.
package struct ShortAddress: ExpressibleByArgument {
  package var value: UInt16
  package init?(argument: String) {
    guard let address = MACAddress(argument), !address.isExtended else { return nil }
    value = UInt16(truncatingIfNeeded: address.value)
  }
}
