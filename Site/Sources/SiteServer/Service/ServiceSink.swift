// SPDX-License-Identifier: Apache-2.0

internal import FlyingFox
internal import UWBSite
internal import Varlink

/// Offers a run to other programs, as `org.swift-uwb.Site` at a Unix socket, and to pages.
package final class ServiceSink: SiteSink {
  private let path: String
  private let mode: UInt32
  private let page: PageOptions?
  private var hub: SiteHub?
  private var feed: PageFeed?
  private var listener: VarlinkListener?
  private var server: WebServer?
  /// The port for pages.
  package var port: UInt16? { server?.port }

  /// - Parameters:
  ///   - path: the path of the socket.
  ///   - mode: the permissions of the socket. Users with access can see all places.
  ///   - page: the page; nil for none.
  package init(at path: String, mode: UInt32 = 0o660, page: PageOptions? = nil) {
    (self.path, self.mode, self.page) = (path, mode, page)
  }

  package func begin(_ run: SiteRun) throws(SinkFailure) {
    let name = String(UInt64.random(in: .min ... .max), radix: 16)
    let hub = SiteHub(SiteService(run, run: name))
    self.hub = hub
    let calls = SiteCalls(hub: hub)
    do throws(VarlinkError) {
      listener = try VarlinkListener(
        product: "uwbsite", version: siteVersion, interface: SiteCalls.description, at: path,
        mode: mode
      ) { request throws(VarlinkError) in try await calls.answer(request) }
    } catch { throw SinkFailure("\(error)") }
    guard let page else { return }
    do throws(SinkFailure) { try serve(page, run) } catch {
      close()
      throw error
    }
  }

  private func serve(_ page: PageOptions, _ run: SiteRun) throws(SinkFailure) {
    let feed = PageFeed(run, history: page.history, times: page.times)
    let session = PageSession(token: page.token)
    let handler = PageHandler(
      access: PageAccess(page, session),
      editor: SiteEditor(path: page.siteFile, run.site, changes: page.changes),
      feed: feed, isRecording: page.isRecording,
      relay: WebSocketHTTPHandler(handler: SocketHandler(path: path)))
    let server = try WebServer.start(page, handler)
    (self.feed, self.server) = (feed, server)
    page.report(page.address.page(port: server.port, token: session.token))
  }

  package func change(_ run: SiteRun) {
    hub?.change(run)
    feed?.change(run.site)
  }

  package func receive(_ batch: SiteBatch) {
    feed?.add(batch)
    hub?.add(batch)
  }

  /// Closes the socket. The page of a recording remains open until its user closes it.
  package func finish(_ counters: SiteCounters) {
    feed?.finish()
    if page?.isRecording != true { close() }
  }

  /// Closes the socket and all connections, even if the run has failed.
  package func close() {
    server?.close()
    listener?.stop()
    (server, listener, feed) = (nil, nil, nil)
  }
}
