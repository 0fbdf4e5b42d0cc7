// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import SiteServer
package import UWBSite

/// A site that other programs see at a socket and at a port of this machine, with its own folder.
package final class ServedSite {
  /// The secret of the site's pages.
  static let token = "0123456789abcdef"

  private let folder =
    FileManager.default.temporaryDirectory.path() + "/served-" + UUID().uuidString
  private let sink: ServiceSink
  private var loop: SiteLoop
  private var now = 0.0

  package init(_ site: Site) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try site.json.write(toFile: folder + "/site.json", atomically: true, encoding: .utf8)
    guard let address = WebAddress("127.0.0.1:0") else { throw SinkFailure("no address") }
    var page = PageOptions(address, token: Self.token)
    page.siteFile = folder + "/site.json"
    sink = ServiceSink(at: folder + "/socket", mode: 0o600, page: page)
    loop = try SiteLoop(
      SiteRun(site, sources: ["fuzz"], isLive: true, epoch: 0), sinks: [sink])
  }

  deinit {
    sink.close()
    try? FileManager.default.removeItem(atPath: folder)
  }

  package var socket: String { folder + "/socket" }
  package var port: UInt16 { sink.port ?? 0 }

  /// Makes an event, for which readers may be waiting.
  func change() throws {
    now += 0.01
    loop.add(.state(.connected(identity: nil)), from: 0, arrival: now)
    try loop.turn(now: now, isComplete: true)
  }
}
