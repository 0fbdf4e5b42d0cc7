// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SiteServer
import UWBSite

struct Replay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Play the history of a site on the map in a browser.",
    discussion: """
      Reads the folder that `uwbsite run --history` fills, also while a run fills it, and prints the \
      address of a page. It needs no chips. The page begins at the first place, and its bar reaches \
      to the last one. A history has places and events, but no ranges: `uwbsite run home.json \
      history:FOLDER --page` computes the places of `--raw` again, and shows their ranges.

      Times are days (2026-11-27), days with a time in UTC (2026-11-27T10:30), or seconds since \
      1970. The page stays until Ctrl-C.
      """)

  @Argument(help: "The site file.", completion: .file(extensions: ["json"]))
  var site: String

  @Argument(help: "The folder of the history.", completion: .directory)
  var folder: String

  @OptionGroup var times: HistoryTimes

  @OptionGroup var page: PageArguments

  func run() async throws {
    let query = try times.query()
    try await Terminal.onThread { try show(query) }
  }

  private func show(_ query: History.Query) throws {
    try Terminal.run { () throws(CommandFailure) in
      let site = try SiteFiles.read(site)
      let history: History
      do throws(HistoryFailure) { history = try History(HistoryFolder(folder)) } catch {
        throw CommandFailure(.noInput, error.description)
      }
      guard let times = history.extent(query) else {
        throw CommandFailure(
          .noInput,
          "\(folder): no places at these times; uwbsite history \(folder) lists the days")
      }
      try serve(site, history, times)
    }
  }

  /// Shows the page until a signal.
  private func serve(
    _ site: Site, _ history: History, _ times: ClosedRange<Int64>
  ) throws(CommandFailure) {
    var arguments = page
    arguments.page = true
    guard var options = try arguments.options(siteFile: self.site) else { return }
    (options.history, options.times, options.isRecording) = (history.folder, times, true)
    Interrupt.install()
    let service = ServiceSink(at: PageArguments.socket, mode: 0o600, page: options)
    do throws(SinkFailure) {
      try service.begin(SiteRun(site, sources: [], isLive: false, epoch: 0))
    } catch { throw CommandFailure(.inputOutput, "\(error)") }
    defer { service.close() }
    while !Interrupt.isSet { Interrupt.sleep(.seconds(1)) }
  }
}
