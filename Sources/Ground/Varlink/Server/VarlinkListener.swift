// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import JSON
internal import System
internal import SystemPackage

/// A service at a Unix socket, which passes the calls of one interface to a handler.
///
/// Calls with unknown methods or wrong parameters never reach the handler. The interface declares
/// the errors `InvalidMessage (reason: string)` and `LimitReached (reason: string, advice: string)`
/// for programs that send other bytes, or that are too many: 1,000 in all, 250 of a user.
///
/// ```swift
/// let listener = try VarlinkListener(
///   product: "clock", version: "1", interface: description, at: "/run/clock/socket"
/// ) { request throws(VarlinkError) in
///   for number in 0..<10 where request.more { try await request.reply(encoded(number)) }
///   return encoded(10)
/// }
/// ```
public final class VarlinkListener: Sendable {
  /// Answers a call with the parameters of its only or last reply, an object of JSON. Its task is
  /// cancelled when the program disconnects.
  public typealias Handler =
    @Sendable (VarlinkRequest) async throws(VarlinkError) -> [UInt8]

  private let server: VarlinkServer
  /// The path of the socket; nil if systemd has made it.
  private let path: String?

  /// Listens at a path, or at the socket that systemd passes (sd_listen_fds(3)).
  ///
  /// - Parameters:
  ///   - product: The name of the program.
  ///   - version: The version of the program.
  ///   - interface: The description of the interface, in the varlink language.
  ///   - path: The path of the socket. A socket that no program uses is replaced.
  ///   - mode: The permissions of the socket: its users may call.
  ///   - handler: Answers the calls.
  /// - Throws: `VarlinkError` with the name `Connection.Unreachable` if the socket cannot be made,
  ///   or `Interface.Invalid` for a wrong description.
  public init(
    product: String, version: String, interface: String, at path: String, mode: UInt32 = 0o660,
    _ handler: @escaping Handler
  ) throws(VarlinkError) {
    let name: String
    do throws(VarlinkInterfaceError) {
      name = try VarlinkInterface(interface).name
      let service = try VarlinkService(product: product, version: version, interfaces: [interface])
      do throws(Errno) { server = try VarlinkServer(service) } catch {
        throw VarlinkInterfaceError(line: 0, reason: "\(error)")
      }
    } catch {
      throw VarlinkError("Interface.Invalid", reason: "\(error).", advice: "Correct the text.")
    }
    let socket: Int32
    do throws(SocketFailure) {
      if let inherited = try ListeningSocket.inherited().socket {
        (socket, self.path) = (inherited, nil)
      } else {
        (socket, self.path) = (try ListeningSocket.make(at: path, mode: mode), path)
      }
    } catch {
      throw VarlinkError(
        "Connection.Unreachable", reason: error.cause, advice: error.suggestion ?? "")
    }
    let programs = Programs(name, handler)
    ServiceQueue.shared.later { [server] in
      server.start(listeningAt: socket, Programs.limits) { programs.accept($0, of: $1.uid, server) }
    }
  }

  /// Closes the socket and all connections.
  public func stop() {
    if let path { unsafe unlink(path) }
    ServiceQueue.shared.later { [server] in server.stop() }
  }
}

/// The connected programs of a listener.
@ServiceActor private final class Programs {
  nonisolated let interface: String
  nonisolated let handler: VarlinkListener.Handler
  private var count = 0
  private var countOfUser: [UInt32: Int] = [:]
  /// The number of connections over the limits that have not got their error.
  private var refused = 0

  nonisolated static let limits = ConnectionLimits()
  private static let mostRefused = 64
  /// The time for the first call of a connection over the limits.
  private static let patience = Duration.seconds(5)

  nonisolated init(_ interface: String, _ handler: @escaping VarlinkListener.Handler) {
    (self.interface, self.handler) = (interface, handler)
  }

  func accept(_ descriptor: Int32, of user: UInt32, _ server: VarlinkServer) {
    let isRefused = Self.limits.reached(count, ofUser: countOfUser[user, default: 0], user) != nil
    guard !isRefused || refused < Self.mostRefused else {
      close(descriptor)
      return
    }
    change(by: 1, user, isRefused: isRefused)
    let connection = server.connect(descriptor, of: user)
    connection.handler = Program(self, user, isRefused: isRefused)
    guard isRefused else { return }
    ServiceQueue.shared.later(after: Self.patience) { [weak connection] in connection?.close() }
  }

  func change(by number: Int, _ user: UInt32, isRefused: Bool) {
    guard !isRefused else { return refused += number }
    count += number
    let ofUser = countOfUser[user, default: 0] + number
    countOfUser[user] = ofUser > 0 ? ofUser : nil
  }
}

/// A connected program.
@ServiceActor private final class Program: VarlinkHandler {
  private let programs: Programs
  private let user: UInt32
  private let isRefused: Bool
  private var call: (replies: RequestReplies, task: Task<Void, Never>)?

  init(_ programs: Programs, _ user: UInt32, isRefused: Bool) {
    (self.programs, self.user, self.isRefused) = (programs, user, isRefused)
  }

  var refusal: VarlinkReply? {
    guard isRefused else { return nil }
    return VarlinkReply(
      [
        "reason": .string("The service has as many connections as it allows."),
        "advice": .string("End idle programs that are connected, or try again later."),
      ], error: "\(programs.interface).LimitReached")
  }

  func perform(
    _ method: String, _ call: VarlinkCall, over connection: VarlinkConnection
  ) -> VarlinkConnection.Outcome {
    let replies = RequestReplies(connection, isStream: call.more && !call.oneway)
    let request = VarlinkRequest(
      method: method, parameters: Array("\(JSON.object(call.parameters))".utf8), more: call.more,
      user: user, replies: replies)
    let handler = programs.handler
    let task = Task {
      let result: Result<[UInt8], VarlinkError>
      do throws(VarlinkError) { result = .success(try await handler(request)) } catch {
        result = .failure(error)
      }
      replies.finish(result)
    }
    self.call = (replies, task)
    return replies.isStream ? .stream(replies) : .later
  }

  func rejection(of error: VarlinkMessageError) -> VarlinkReply {
    VarlinkReply(
      ["reason": .string("\(error)")], error: "\(programs.interface).InvalidMessage")
  }

  func closed(_ connection: VarlinkConnection) {
    call?.replies.end()
    call?.task.cancel()
    call = nil
    programs.change(by: -1, user, isRefused: isRefused)
  }
}
