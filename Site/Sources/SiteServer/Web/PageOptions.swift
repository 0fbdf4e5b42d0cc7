// SPDX-License-Identifier: Apache-2.0

internal import FlyingFox

/// The page of a run.
package struct PageOptions: Sendable {
  package var address: WebAddress
  /// The secret that a page needs; nil for a random secret, which is then needed only for changes.
  package var token: String?
  /// The address of a proxy that checks its users, who need no token; nil without one.
  package var proxy: String?
  /// The site file, which pages may change; nil for a temporary site.
  package var siteFile: String?
  /// The queue of changes from pages to the run.
  package var changes: SiteChanges?
  /// The history, for pages that show the past.
  package var history: HistoryFolder?
  /// The times of a history that is shown without a run, in milliseconds since 1970.
  package var times: ClosedRange<Int64>?
  /// Whether the run is a recording that is read as fast as possible, or a history.
  package var isRecording = false
  /// Whether the system may choose another port if the requested port is in use.
  package var mayChangePort = false
  /// Receives the address for a browser.
  package var report: @Sendable (String) -> Void = { _ in }

  package init(_ address: WebAddress, token: String? = nil) {
    (self.address, self.token) = (address, token)
  }
}

extension PageAccess {
  init(_ options: PageOptions, _ session: PageSession, front: String = "/page.html") {
    self.init(
      check: WebGuard(
        isLoopback: options.address.isLoopback, token: options.token.map { Array($0.utf8) }),
      session: session, front: front, proxy: options.proxy)
  }
}

extension WebServer {
  /// Starts the server of a page, at another port if needed and allowed.
  static func start(
    _ options: PageOptions, _ handler: some HTTPHandler
  ) throws(SinkFailure) -> WebServer {
    do throws(SinkFailure) { return try WebServer(options.address, handler) } catch {
      let host = options.address.isIPv6 ? "[\(options.address.host)]" : options.address.host
      guard options.mayChangePort, let other = WebAddress("\(host):0") else { throw error }
      return try WebServer(other, handler)
    }
  }
}
