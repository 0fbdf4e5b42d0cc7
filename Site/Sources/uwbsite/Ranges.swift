// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SiteServer

struct Ranges: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the ranges of one chip in a browser.",
    discussion: """
      Reads lines of `uwbctl range --format json`, and prints the address of a page: distance over \
      time with the band that holds it in 95 of 100 cases, direction, received power and losses of \
      each peer. It needs no site file:

      uwbctl range --format json | uwbsite ranges

      A line that is not an object of JSON is counted. After the end of the input, the page stays \
      until Ctrl-C.
      """)

  @Argument(help: "A file; - for standard input.", completion: .file())
  var source = "-"

  @OptionGroup var page: PageArguments

  func run() async throws { try await Terminal.onThread { try show() } }

  private func show() throws {
    try Terminal.run { () throws(CommandFailure) in
      var arguments = page
      arguments.page = true
      guard let options = try arguments.options(siteFile: nil) else { return }
      let lines: LineInput
      do throws(SourceFailure) { lines = try LineInput(source) } catch {
        throw CommandFailure(.noInput, "\(error)")
      }
      Interrupt.install()
      let page: ChipPage
      do throws(SinkFailure) { page = try ChipPage(options) } catch {
        throw CommandFailure(.inputOutput, "\(error)")
      }
      defer { page.close() }
      var bad = 0
      let reason = lines.forEach(isStopped: { Interrupt.isSet }) { if !page.add($0) { bad += 1 } }
      page.finish()
      if let reason { Terminal.note("\(source): \(reason)") }
      if bad > 0 { Terminal.note("\(bad) lines are not objects of JSON") }
      while !Interrupt.isSet { Interrupt.sleep(.seconds(1)) }
    }
  }
}
