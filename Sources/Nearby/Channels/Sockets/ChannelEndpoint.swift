// SPDX-License-Identifier: Apache-2.0

/// The address of a data channel over a socket.
public enum ChannelEndpoint: Sendable, Hashable, CustomStringConvertible {
  /// A host and a port. A listener at port 0 gets a free port.
  case tcp(host: String, port: UInt16)
  /// A path in the file system. Only the listener's user can connect.
  case unix(path: String)

  /// Parses `tcp:host:port`, `tcp:[::1]:port`, `tcp:port` (this machine only), `unix:/path`.
  ///
  /// - Throws: `ChannelError` with the code `.invalidEndpoint`.
  public init(_ text: String) throws(ChannelError) {
    func invalid(_ reason: String) -> ChannelError {
      ChannelError(.invalidEndpoint(text, reason: reason))
    }
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard !path.isEmpty, !path.utf8.contains(0) else { throw invalid("the path is missing") }
      self = .unix(path: path)
      return
    }
    guard text.hasPrefix("tcp:") else {
      throw invalid("it starts with neither tcp: nor unix:")
    }
    let rest = text.dropFirst(4)
    let colon = rest.lastIndex(of: ":")
    let digits = colon.map { rest[rest.index(after: $0)...] } ?? rest
    guard digits.allSatisfy({ ("0"..."9").contains($0) }), let port = UInt16(digits) else {
      throw invalid("the port is not a number from 0 to 65535")
    }
    var host = colon.map { rest[..<$0] } ?? "127.0.0.1"
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty, !host.utf8.contains(0) else { throw invalid("the host is missing") }
    self = .tcp(host: String(host), port: port)
  }

  /// The form that `init(_:)` parses.
  public var description: String {
    switch self {
    case .tcp(let host, let port): "tcp:\(host.contains(":") ? "[\(host)]" : host):\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }
}
