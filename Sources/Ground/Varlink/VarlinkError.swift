// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// The reason why a call of a varlink service has no result.
public struct VarlinkError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name of the error with its interface, such as `org.varlink.service.MethodNotFound`.
  ///
  /// Names that begin with `Connection.` are of this library: `Connection.Unreachable` when no
  /// program accepts the connection, and `Connection.Ended` when it ends before the reply.
  public var name: String
  /// The parameters of the error: an object of JSON.
  public var parameters: [UInt8]

  /// Creates an error of a service.
  public init(_ name: String, _ parameters: [UInt8] = Array("{}".utf8)) {
    (self.name, self.parameters) = (name, parameters)
  }

  /// The cause and the next step, where the parameters have them as `reason` and `advice`.
  public var description: String {
    let members = try? JSON(parameters).object
    let sentences = ["reason", "advice"].compactMap { members?[$0]?.string }
    guard sentences.isEmpty else { return sentences.joined(separator: " ") }
    return "The service returns the error \(name) \(String(decoding: parameters, as: UTF8.self))."
  }
}

extension VarlinkError {
  init(_ name: String, _ members: [String: JSON]) {
    self.init(name, Array("\(JSON.object(members))".utf8))
  }

  init(_ name: String, reason: String, advice: String) {
    self.init(name, ["reason": .string(reason), "advice": .string(advice)])
  }

  static func unreachable(_ path: String, _ reason: String) -> VarlinkError {
    VarlinkError(
      "Connection.Unreachable", reason: "No service accepts connections at \(path): \(reason).",
      advice: "Start the service, or name the socket at which it listens.")
  }

  static func ended(_ reason: String) -> VarlinkError {
    VarlinkError(
      "Connection.Ended", reason: "The connection to the service has ended: \(reason).",
      advice: "Connect again.")
  }
}
