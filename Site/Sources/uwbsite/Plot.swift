// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWBSite

struct Plot: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Draw a site from above, as SVG.",
    discussion: """
      Writes anchors with the ellipses of their places, zones and doors to standard output, in \
      metres; a panel for each floor. Small ellipses are enlarged, and the drawing has the factor.
      """)

  @Argument(help: "The site file.", completion: .file(extensions: ["json"]))
  var file: String

  func run() throws {
    try Terminal.run { () throws(CommandFailure) in
      try Terminal.write(SitePlot(SiteFiles.read(file)).svg)
    }
  }
}
