// SPDX-License-Identifier: Apache-2.0

/// Where a data channel over a socket is.
public enum ChannelEndpoint: Sendable, Hashable {
  /// A host and a port. An accessory that listens at port 0 gets a free one.
  case tcp(host: String, port: UInt16)
  /// A path in the file system; only its owner can connect.
  case unix(path: String)

  /// From text: `tcp:host:port`, `tcp:[::1]:port`, `tcp:port` (this machine only), `unix:/path`.
  ///
  /// - Throws: `DataChannelError.invalidEndpoint`.
  public init(_ text: String) throws(DataChannelError) {
    func invalid(_ reason: String) -> DataChannelError { .invalidEndpoint(text, reason: reason) }
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard !path.isEmpty, !path.utf8.contains(0) else { throw invalid("there is no path") }
      self = .unix(path: path)
      return
    }
    guard text.hasPrefix("tcp:") else {
      throw invalid("it begins neither with tcp: nor with unix:")
    }
    let rest = text.dropFirst(4)
    let colon = rest.lastIndex(of: ":")
    let digits = colon.map { rest[rest.index(after: $0)...] } ?? rest
    guard digits.allSatisfy({ ("0"..."9").contains($0) }), let port = UInt16(digits) else {
      throw invalid("the port has to be a number from 0 to 65535")
    }
    var host = colon.map { rest[..<$0] } ?? "127.0.0.1"
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty, !host.utf8.contains(0) else { throw invalid("there is no host") }
    self = .tcp(host: String(host), port: port)
  }
}

extension ChannelEndpoint: CustomStringConvertible {
  /// The form `init(_:)` reads.
  public var description: String {
    switch self {
    case .tcp(let host, let port): "tcp:\(host.contains(":") ? "[\(host)]" : host):\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }
}
