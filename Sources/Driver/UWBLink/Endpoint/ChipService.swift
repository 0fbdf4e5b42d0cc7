// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import JSON
internal import System
package import SystemPackage
internal import Varlink

/// A client of `uwbd`, the service that shares chips among programs. All calls block.
package enum ChipService {
  /// The socket of the service: the value of UWBD_SOCKET, or the default path.
  package static var socket: FilePath {
    unsafe getenv("UWBD_SOCKET").map { unsafe FilePath(String(cString: $0)) }
      ?? "/run/uwbd/control"
  }

  private static let interface = "org.swift-uwb.Chips"

  /// The time-out in seconds for connecting, and for a reply.
  private static let patience = 5
  /// The time-out in seconds for a reply that waits up to 10 s for the chip to open.
  private static let patienceForOpening = 15
  /// The time-out in seconds for a reply after sessions have ended and the chip is closed.
  private static let patienceForClosing = 20

  /// Returns the endpoint in the service if the service holds the device, or else `endpoint`.
  package static func endpoint(
    for endpoint: LinkEndpoint, at socket: FilePath = ChipService.socket
  ) -> LinkEndpoint {
    switch endpoint {
    case .service, .descriptor: return endpoint
    default: break
    }
    let place = endpoint.place
    let found = LinkEndpoint.service(socket: socket, chip: place)
    do throws(LinkError) {
      let (descriptor, reply) = try call(
        "Describe", place, patience: patienceForOpening, found)
      try? descriptor.close()
      // The service still holds a chip that it cannot use now.
      guard reply.error == nil || reply.isError("ChipUnavailable") else { return endpoint }
      // The chip's name is stable; the path changes with each plug.
      return .service(socket: socket, chip: reply.parameters["chip"]?.string ?? place)
    } catch { return endpoint }
  }

  /// Opens a connection that carries UCI.
  ///
  /// - Parameters:
  ///   - chip: The name of the chip; nil for the only one.
  ///   - linger: The time for which sessions outlive a program that does not end them.
  static func attach(
    _ socket: FilePath, _ chip: String?, linger: Duration
  ) throws(LinkError) -> FileDescriptor {
    let endpoint = LinkEndpoint.service(socket: socket, chip: chip)
    let (descriptor, reply) = try call(
      "Attach", chip, linger: linger, upgrades: true, patience: patienceForOpening, endpoint)
    guard let error = reply.error else { return descriptor }
    try? descriptor.close()
    let code: LinkError.Code =
      reply.isError("Denied")
      ? .permissionDenied
      : reply.isError("NoChip") || reply.isError("ChipUnavailable") ? .notFound : .system
    var reason = reply.parameters["reason"]?.string ?? error
    if reason.hasSuffix(".") { reason.removeLast() }
    throw LinkError(
      code, endpoint: endpoint.description, detail: reason,
      recoverySuggestion: reply.parameters["advice"]?.string)
  }

  /// A chip that the service holds.
  package struct Chip: Sendable {
    /// The name of the chip in the service.
    package var name: String
    /// The location as in `LinkEndpoint.place`.
    package var place: String
    /// The reason why the chip cannot be used; nil while it works.
    package var problem: String?
    package var sessions: [Session]
  }

  /// A session of a chip, with the programs that own it.
  package struct Session: Sendable {
    package var id: UInt32
    package var state: String
    package var share: String
    package var owners: [(user: UInt32, process: Int32)]
  }

  /// Returns the chips of the service; empty without a service or a reply.
  package static func chips(at socket: FilePath = ChipService.socket) -> [Chip] {
    guard let (descriptor, reply) = try? call("List", nil, .service(socket: socket)) else {
      return []
    }
    try? descriptor.close()
    return (reply.parameters["chips"]?.array ?? []).compactMap { chip in
      guard let chip = chip.object, let name = chip["chip"]?.string else { return nil }
      let sessions = (chip["sessions"]?.array ?? []).compactMap(\.object).map { session in
        Session(
          id: UInt32(clamping: session["session_id"]?.integer ?? 0),
          state: session["state"]?.string ?? "", share: session["share"]?.string ?? "",
          owners: (session["owners"]?.array ?? []).compactMap(\.object).map {
            (UInt32(clamping: $0["uid"]?.integer ?? 0), Int32(clamping: $0["pid"]?.integer ?? 0))
          })
      }
      return Chip(
        name: name, place: (try? LinkEndpoint(name))?.place ?? name,
        problem: chip["problem"]?.string, sessions: sessions)
    }
  }

  /// Makes the service close a chip until the returned connection closes.
  ///
  /// - Parameter reason: The purpose, shown to other programs that want the chip.
  /// - Returns: The connection; nil if no service holds the chip.
  package static func borrow(
    _ endpoint: LinkEndpoint, for reason: String, at socket: FilePath = ChipService.socket
  ) throws(LinkError) -> FileDescriptor? {
    if case .descriptor = endpoint { return nil }
    let place = endpoint.place
    let found = LinkEndpoint.service(socket: socket, chip: place)
    let called: (descriptor: FileDescriptor, reply: VarlinkReply)
    do throws(LinkError) {
      called = try call(
        "Borrow", place, reason: reason, patience: patienceForClosing, found)
    } catch  where [.notFound, .connectionRefused].contains(error.code) { return nil }
    guard let name = called.reply.error else { return called.descriptor }
    try? called.descriptor.close()
    if called.reply.isError("NoChip") { return nil }
    var detail = called.reply.parameters["reason"]?.string ?? name
    if detail.hasSuffix(".") { detail.removeLast() }
    throw LinkError(
      called.reply.isError("Denied") ? .permissionDenied : .busy, endpoint: found.description,
      detail: detail, recoverySuggestion: called.reply.parameters["advice"]?.string)
  }

  private static func call(
    _ method: String, _ chip: String?, reason: String? = nil, linger: Duration = .zero,
    upgrades: Bool = false, patience: Int = ChipService.patience, _ endpoint: LinkEndpoint
  ) throws(LinkError) -> (FileDescriptor, VarlinkReply) {
    guard case .service(let socket, _, _) = endpoint else {
      throw LinkError(.invalidEndpoint, endpoint: endpoint.description)
    }
    let descriptor = try connected(to: socket, patience, endpoint)
    var parameters: [String: JSON] = [:]
    parameters["chip"] = chip.map { .string($0) }
    parameters["reason"] = reason.map { .string($0) }
    // Sent only when needed, because older services reject the unknown parameter.
    if linger > .zero { parameters["linger_ms"] = .integer(Int64(linger.milliseconds)) }
    let call = VarlinkCall("\(interface).\(method)", parameters, upgrade: upgrades)
    do throws(Errno) {
      try send(call.bytes, descriptor)
      let message = try receive(descriptor)
      if let reply = try? VarlinkReply(message) { return (descriptor, reply) }
      throw .badMessage
    } catch {
      try? descriptor.close()
      throw LinkError(
        [.wouldBlock, .timedOut].contains(error) ? .timeout : .system,
        endpoint: endpoint.description, errno: error, detail: "the service does not answer",
        recoverySuggestion: "Read its log, and start it again: systemctl restart uwbd.")
    }
  }

  private static func connected(
    to path: FilePath, _ patience: Int, _ endpoint: LinkEndpoint
  ) throws(LinkError) -> FileDescriptor {
    let number = Glibc.socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else {
      throw LinkError(.system, endpoint: endpoint.description, errno: Errno(rawValue: errno))
    }
    // The time-out for sending also limits connecting (socket(7)).
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      var time = timeval(tv_sec: patience, tv_usec: 0)
      unsafe setsockopt(
        number, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
    let result = unsafe withUnixAddress(path.string) {
      unsafe connect(number, $0, $1) == 0 ? nil : Errno(rawValue: errno)
    }
    let error: Errno
    switch result {
    case .some(.none): return FileDescriptor(rawValue: number)
    case .some(.some(let failure)): error = failure
    case .none: error = .fileNameTooLong
    }
    _ = Glibc.close(number)
    let code: LinkError.Code =
      switch error {
      case .noSuchFileOrDirectory, .notDirectory: .notFound
      case .connectionRefused: .connectionRefused
      case .permissionDenied: .permissionDenied
      case .wouldBlock: .timeout
      default: .system
      }
    let (detail, suggestion) =
      switch code {
      case .permissionDenied:
        (
          "the socket does not admit it",
          "Ask the administrator for access: the socket's mode and group decide who may connect."
        )
      case .timeout:
        (
          "the service accepts no connection",
          "End programs that are connected, or try again later."
        )
      default: ("no service listens there", "Start uwbd, or name the device itself.")
      }
    throw LinkError(
      code, endpoint: endpoint.description, errno: error, detail: detail,
      recoverySuggestion: suggestion)
  }

  private static func send(_ bytes: [UInt8], _ descriptor: FileDescriptor) throws(Errno) {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.send(
          descriptor.rawValue, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno != EINTR { throw Errno(rawValue: errno) }
      sent += max(count, 0)
    }
  }

  /// Receives one message without its zero byte, and no byte after it.
  private static func receive(_ descriptor: FileDescriptor) throws(Errno) -> [UInt8] {
    var message: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while message.count < 1 << 20 {
      var count = unsafe recv(descriptor.rawValue, &buffer, buffer.count, Int32(MSG_PEEK))
      let end = buffer.prefix(max(count, 0)).firstIndex(of: 0)
      if count > 0 { count = unsafe recv(descriptor.rawValue, &buffer, (end ?? count - 1) + 1, 0) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw Errno(rawValue: errno) }
      guard count > 0 else { throw .connectionReset }
      message += buffer.prefix(end ?? count)
      if end != nil { return message }
    }
    throw .badMessage
  }
}

extension VarlinkReply {
  fileprivate func isError(_ name: String) -> Bool { error?.hasSuffix(".\(name)") == true }
}

extension LinkEndpoint {
  /// The path of the device without symbolic links, or the endpoint's name if it has no path.
  /// Blocks.
  package var place: String {
    let resolved = (try? resolved()) ?? self
    guard let path = resolved.path else { return description }
    return (FileTree.resolved(path) ?? path).string
  }
}
