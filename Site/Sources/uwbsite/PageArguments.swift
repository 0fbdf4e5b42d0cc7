// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import SiteServer

/// The options of commands with a page.
struct PageArguments: ParsableArguments {
  /// The port of --page, unless another program has it.
  private static let usualPort = "8642"

  @Flag(
    help: """
      Show a live map to browsers of this machine, and print its address. Files are read at once, \
      and the page plays them.
      """)
  var page = false

  @Option(
    help: """
      Offer the page and the service, as WebSocket at /ws, to browsers of this machine at this \
      port. With ADDRESS:PORT, other machines may connect, too, and --token is needed.
      """)
  var web: String?

  @Option(
    help: """
      A file whose first line is the secret that pages send, of 16 or more characters. Without it, \
      the address of --page has a new one in each run.
      """,
    completion: .file())
  var token: String?

  @Option(
    help: """
      The address of a proxy that checks its users, such as Home Assistant's: 172.30.32.2. Its \
      requests may read and change the site without a token, and all others are refused.
      """)
  var webProxy: String?

  func validate() throws {
    if let webProxy {
      guard web != nil else { throw ValidationError("--web-proxy needs --web") }
      guard token == nil else { throw ValidationError("--web-proxy excludes --token") }
      guard WebAddress.isNumeric(webProxy) else {
        throw ValidationError("--web-proxy takes an address such as 172.30.32.2, not a name")
      }
    }
    guard let web else { return }
    guard let address = WebAddress(web) else {
      throw ValidationError("--web takes a port, or ADDRESS:PORT")
    }
    guard address.isLoopback || token != nil || webProxy != nil else {
      throw ValidationError(
        "--web \(web) needs --token or --web-proxy, since other machines may connect")
    }
  }

  /// The address; nil if there is no page.
  var address: WebAddress? {
    (web ?? (page ? Self.usualPort : nil)).flatMap(WebAddress.init)
  }

  /// The socket of a service that only the page uses.
  static var socket: String {
    let own = "uwbsite-\(ProcessInfo.processInfo.processIdentifier).socket"
    return FileManager.default.temporaryDirectory.appending(path: own).path()
  }

  /// Returns the page; nil if there is none.
  func options(siteFile: String?) throws(CommandFailure) -> PageOptions? {
    guard let address else { return nil }
    var secret: String?
    if let token {
      let line = try SiteFiles.bytes(token).prefix { $0 != 10 && $0 != 13 }
      guard line.count >= 16 else {
        throw CommandFailure(.data, "\(token): the first line needs 16 or more characters")
      }
      secret = String(decoding: line, as: UTF8.self)
    }
    var options = PageOptions(address, token: secret)
    options.siteFile = siteFile
    options.proxy = webProxy
    options.mayChangePort = web == nil
    // A secret of the user never reaches the output, which may be a log.
    let ending: Substring? = token != nil ? "#TOKEN" : webProxy != nil ? "" : nil
    if page {
      options.report = { address in
        let shown = ending.map { address.prefix { $0 != "#" } + $0 } ?? address[...]
        Terminal.note("the page is at \(shown)")
      }
    }
    return options
  }
}
