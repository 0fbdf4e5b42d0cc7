// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWBSite

struct Run: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Follow the tags of a site.",
    discussion: """
      Reads ranges, differences and directions, one JSON object a line, and prints the place of each \
      tag after each of its rounds. A line is as `uwbctl range --format json` prints it, or shorter:

      {"t": 12.5, "tag": "T1", "anchor": "A3", "distance_m": 4.21, "sd_m": 0.1}

      A file whose name ends with .csv has the same keys in its first line. Boards have their id, \
      their label or an address of the site file, in either order. A line that cannot be used is \
      counted, and the first ones are printed with their field on standard error. Ctrl-C ends the \
      command with a summary.

      Standard input is live: a tag is lost after a silence that its rate does not explain. A file \
      is read as fast as possible, or with --speed at a multiple of its own times.
      """)

  @Argument(help: "The site file.", completion: .file(extensions: ["json"]))
  var site: String

  @Argument(help: "The measurements; - is standard input.")
  var file = "-"

  @Option(help: "Multiple of the speed of the recording.")
  var speed: Double?

  @Option(help: "The board at this end, for lines that name their peer only.")
  var device: String?

  @Option(help: "text or json.")
  var format = PlaceFormat.text

  func validate() throws {
    if let speed, !(speed > 0 && speed.isFinite) {
      throw ValidationError("--speed is a number greater than 0.")
    }
  }

  func run() throws {
    try Terminal.run { () throws(CommandFailure) in
      let site = try SiteFiles.read(site)
      var lines = try LineSource(file)
      Interrupt.install()
      var run = SiteRun(
        site, format: format, device: device, isTable: file.hasSuffix(".csv"),
        Pace(speed: speed, isLive: file == "-"))
      loop: while !Interrupt.isSet {
        switch try lines.next() {
        case .line(let line): try run.take(line)
        case .pause: try run.pause()
        case .end: break loop
        }
      }
      try run.finish()
    }
  }
}
