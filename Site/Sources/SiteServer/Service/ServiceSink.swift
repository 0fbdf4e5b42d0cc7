// SPDX-License-Identifier: Apache-2.0

internal import UWBSite
internal import Varlink

/// Offers a run to other programs, as `org.swift-uwb.Site` at a Unix socket, and to pages.
package final class ServiceSink: SiteSink {
  private let path: String
  private let mode: UInt32
  private let web: (address: WebAddress, token: String?)?
  private var hub: SiteHub?
  private var listener: VarlinkListener?
  private var server: WebServer?
  /// The port for pages.
  var port: UInt16? { server?.port }

  /// - Parameters:
  ///   - path: the path of the socket.
  ///   - mode: the permissions of the socket; its users may see all places.
  ///   - web: the address for pages, and the secret that a page needs; nil for no pages.
  package init(
    at path: String, mode: UInt32 = 0o660, web: (address: WebAddress, token: String?)? = nil
  ) {
    (self.path, self.mode, self.web) = (path, mode, web)
  }

  package func begin(_ run: SiteRun) throws(SinkFailure) {
    let name = String(UInt64.random(in: .min ... .max), radix: 16)
    let hub = SiteHub(SiteService(run, run: name))
    self.hub = hub
    let calls = SiteCalls(hub: hub)
    do throws(VarlinkError) {
      listener = try VarlinkListener(
        product: "uwbsite", version: "\(SiteService.protocolVersion)",
        interface: SiteCalls.description, at: path,
        mode: mode
      ) { request throws(VarlinkError) in try await calls.answer(request) }
    } catch { throw SinkFailure("\(error)") }
    guard let web else { return }
    do throws(SinkFailure) {
      server = try WebServer(web.address, token: web.token, service: path)
    } catch {
      close()
      throw error
    }
  }

  package func receive(_ batch: SiteBatch) { hub?.add(batch) }

  package func finish(_ counters: SiteCounters) { close() }

  /// Closes the socket and all connections, also of a run that fails.
  package func close() {
    server?.close()
    listener?.stop()
    (server, listener) = (nil, nil)
  }
}
