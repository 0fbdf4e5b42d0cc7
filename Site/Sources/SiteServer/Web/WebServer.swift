// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import FlyingFox
internal import FlyingSocks
internal import Foundation
internal import Synchronization

/// Offers the page of a site, and its service at `/ws`: the messages of its Unix socket over
/// WebSocket.
package final class WebServer: Sendable {
  /// The port, even if the system has chosen it.
  package let port: UInt16
  private let task: Task<Void, Never>

  /// Starts the server.
  ///
  /// - Parameters:
  ///   - handler: answers the requests.
  init(_ address: WebAddress, _ handler: some HTTPHandler) throws(SinkFailure) {
    let server: HTTPServer
    do { server = try Self.server(address, handler) } catch {
      throw SinkFailure("\(address.host) is not an address: use the one of a network interface")
    }
    let start = Start()
    let running = Task {
      do { try await server.run() } catch { start.end(nil) }
    }
    task = running
    Task {
      try? await server.waitUntilListening()
      start.end(await server.port)
    }
    guard let port = start.wait() else {
      running.cancel()
      throw SinkFailure(
        "Cannot listen at port \(address.port) of \(address.host). Use another port, or end the "
          + "program that has it.")
    }
    self.port = port
  }

  private static func server(
    _ address: WebAddress, _ handler: some HTTPHandler
  ) throws -> HTTPServer {
    let host = address.host == "localhost" ? "127.0.0.1" : address.host
    if address.isIPv6 {
      return HTTPServer(
        address: try sockaddr_in6.inet6(ip6: host, port: address.port), logger: .disabled,
        handler: handler)
    }
    return HTTPServer(
      address: try sockaddr_in.inet(ip4: host, port: address.port), logger: .disabled,
      handler: handler)
  }

  package func close() { task.cancel() }
}

/// The port of a server that starts, for the thread that waits.
private final class Start: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  private let port = Mutex<UInt16?>(nil)

  func end(_ port: UInt16?) {
    self.port.withLock { if $0 == nil { $0 = port } }
    semaphore.signal()
  }

  func wait() -> UInt16? {
    semaphore.wait()
    return port.withLock { $0 }
  }
}

extension WebAddress {
  /// Returns whether a text is an IPv4 or IPv6 address in digits.
  package static func isNumeric(_ text: String) -> Bool {
    (try? sockaddr_in.inet(ip4: text, port: 0)) != nil
      || (try? sockaddr_in6.inet6(ip6: text, port: 0)) != nil
  }
}

extension HTTPServer {
  fileprivate var port: UInt16? {
    switch listeningAddress {
    case .ip4(_, let port), .ip6(_, let port): port
    default: nil
    }
  }
}
