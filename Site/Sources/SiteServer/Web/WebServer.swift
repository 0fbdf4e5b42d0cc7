// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import FlyingFox
internal import FlyingSocks
internal import Foundation
internal import Synchronization

/// Offers the service of a site to pages, at `/ws`: the messages of its Unix socket over WebSocket.
package final class WebServer {
  /// The port, also where the system has chosen it.
  package let port: UInt16
  private let task: Task<Void, Never>

  /// Starts the server.
  ///
  /// - Parameters:
  ///   - token: the secret that a request needs; nil on loopback only.
  ///   - path: the Unix socket of the service.
  package init(
    _ address: WebAddress, token: String?, service path: String
  ) throws(SinkFailure) {
    let server: HTTPServer
    do { server = try Self.server(address, token, path) } catch {
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
    _ address: WebAddress, _ token: String?, _ path: String
  ) throws -> HTTPServer {
    let handler = PageHandler(
      check: WebGuard(isLoopback: address.isLoopback, token: token.map { Array($0.utf8) }),
      relay: WebSocketHTTPHandler(handler: SocketHandler(path: path)))
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

extension HTTPServer {
  fileprivate var port: UInt16? {
    switch listeningAddress {
    case .ip4(_, let port), .ip6(_, let port): port
    default: nil
    }
  }
}

/// Answers requests: `/ws` becomes a WebSocket, and nothing else is there.
private struct PageHandler: HTTPHandler {
  let check: WebGuard
  let relay: WebSocketHTTPHandler

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard request.path == "/ws" else {
      return response(.notFound, "There is only /ws, for WebSocket.")
    }
    let origin = request.headers[HTTPHeader("Origin")]
    let token = request.query.first { $0.name == "token" }?.value
    switch check.refusal(host: request.headers[.host], origin: origin, token: token) {
    case nil: return try await relay.handleRequest(request)
    case .host: return response(.forbidden, "Use the address 127.0.0.1 or localhost.")
    case .origin: return response(.forbidden, "Only pages of this server may connect.")
    case .token: return response(.unauthorized, "Add ?token= with the token of the server.")
    }
  }

  private func response(_ status: HTTPStatusCode, _ text: String) -> HTTPResponse {
    HTTPResponse(
      statusCode: status, headers: [.contentType: "text/plain"], body: Data((text + "\n").utf8))
  }
}
