// SPDX-License-Identifier: Apache-2.0

/// The files of the page, which are a part of the program.
enum PageFiles {
  struct File: Sendable {
    let type: String
    let bytes: [UInt8]
  }

  static func file(_ path: String) -> File? {
    switch path {
    case "/page.html": File(type: html, bytes: PackageResources.page_html)
    case "/page.css": File(type: "text/css; charset=utf-8", bytes: PackageResources.page_css)
    case "/icon.svg": File(type: "image/svg+xml", bytes: PackageResources.icon_svg)
    case "/main.js": script(PackageResources.main_js)
    case "/server.js": script(PackageResources.server_js)
    case "/model.js": script(PackageResources.model_js)
    case "/map.js": script(PackageResources.map_js)
    case "/draw.js": script(PackageResources.draw_js)
    case "/panel.js": script(PackageResources.panel_js)
    case "/replay.js": script(PackageResources.replay_js)
    case "/edit.js": script(PackageResources.edit_js)
    case "/units.js": script(PackageResources.units_js)
    case "/chip.html": File(type: html, bytes: PackageResources.chip_html)
    case "/chip.js": script(PackageResources.chip_js)
    default: nil
    }
  }

  private static let html = "text/html; charset=utf-8"

  private static func script(_ bytes: [UInt8]) -> File {
    File(type: "text/javascript; charset=utf-8", bytes: bytes)
  }
}
