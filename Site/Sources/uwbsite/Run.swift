// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import SiteServer
import UWBSite

enum PlaceFormat: String, ExpressibleByArgument, CaseIterable { case text, json }

struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Follow the tags of a site.",
    discussion: """
      Reads ranges, differences and directions of any number of sources, and prints the place of \
      each tag after each of its rounds, and changes of zones, floors and doors. A source is - for \
      standard input, a pipe or a file, with one JSON object a line; uwbd: or a socket for the \
      service that shares chips; pans:/dev/ttyACM0 for a DWM1001 board with PANS firmware; \
      BOARD=FILE.pcapng for a capture; history:FOLDER for the measurements that --raw has \
      recorded; or utc:- for standard input from several hosts. A line is as `uwbctl range --format \
      json` prints it, or shorter:

      {"t": 12.5, "tag": "T1", "anchor": "A3", "distance_m": 4.21, "sd_m": 0.1}

      A file whose name ends with .csv has the same keys in its first line. Boards have their id, \
      their label or an address of the site file, in either order. BOARD=SOURCE names the board at \
      this end, for lines that name their peer only: of ranges, and of the messages that anchors and \
      tags of uplink and downlink TDoA and observers of angles receive. A line that cannot be used is counted, and the \
      first ones are printed with their field on standard error. Ctrl-C ends the command with a \
      summary.

      With utc:- or utc:PIPE, the times of the lines are seconds since 1970, by clocks that are \
      synchronised, and places keep them. It is the only source of a run.

      Services, boards, pipes and standard input are live: a tag is lost after a silence that its rate does not \
      explain. Files alone are read as fast as possible, or with --speed at a multiple of their own \
      times.

      The site file may change while services, boards, pipes or standard input are read, by the \
      page or by any editor: within 2 s the run continues with the new one, and tags keep their \
      tracks. A file with problems is reported, and the former site holds.
      """)

  @Argument(help: "The site file.", completion: .file(extensions: ["json"]))
  var site: String

  @Argument(help: "The sources of measurements.", completion: .file())
  var sources = ["-"]

  @Option(help: "Multiple of the speed of recordings.")
  var speed: Double?

  @Option(
    help: """
      Start the sessions of a folder of `uwbsite plan --profiles` at the services of this host, and \
      keep their rounds apart.
      """,
    completion: .directory)
  var rounds: String?

  @Option(help: "text or json. Default: text; with --page nothing is printed unless given.")
  var format: PlaceFormat?

  @Option(help: "Record places and events in this folder.", completion: .directory)
  var history: String?

  @Flag(
    help: """
      Record the measurements as well, from which places can be computed again: about 9 MB for a \
      tag with 80 ranges a second in an hour. Days after a week lose them.
      """)
  var raw = false

  @Option(
    help: """
      Offer places and events to other programs at this Unix socket, as org.swift-uwb.Site. Started \
      by a socket unit of systemd, the program serves that socket.
      """,
    completion: .file())
  var listen: String?

  @Option(
    help: """
      Write the tracks, the learned errors and the zones of all tags to this file each 5 s and at \
      the end, and continue from it at the start.
      """,
    completion: .file())
  var state: String?

  @OptionGroup var page: PageArguments

  func validate() throws {
    if let speed, !(speed > 0 && speed.isFinite) {
      throw ValidationError("--speed is a number greater than 0.")
    }
    if raw, history == nil { throw ValidationError("--raw needs --history") }
  }

  func run() async throws {
    try await Terminal.onThread { try follow() }
  }

  private func follow() throws {
    try Terminal.run { () throws(CommandFailure) in
      let site = try SiteFiles.read(site)
      var opened = try open(SiteNames(site))
      if let rounds { opened.append(try Self.rounds(rounds, site)) }
      if opened.count > 1, let timed = opened.first(where: \.isTimed) {
        throw CommandFailure(.usage, "\(timed.name) is the only source of a run")
      }
      if speed != nil, let live = opened.first(where: \.isLive) {
        throw CommandFailure(.usage, "--speed is for files, and \(live.name) is live")
      }
      let recorder = try recorder()
      // The output may be closed before the end of the run.
      defer { recorder?.close() }
      Interrupt.install()
      // Recordings without live sources are read at once, and a page shows them at any speed.
      let isRecording = page.address != nil && speed == nil && !opened.contains(where: \.isLive)
      let changes = SiteChanges()
      let service = try makeService(isRecording: isRecording, changes)
      defer { service?.close() }
      let output = OutputQueue(write: Self.write)
      defer { Self.noteDropped(output) }
      let waits = opened.contains(where: \.isTimed) || !opened.contains(where: \.isLive)
      let printer = printer(waits ? nil : output)
      do throws(SinkFailure) {
        let sinks = [printer, recorder, service].compactMap { (sink: (any SiteSink)?) in sink }
        var runner = try SiteRunner(
          site, opened, sinks: sinks, speed: speed, epoch: Date().timeIntervalSince1970,
          changes: changes, watch: SiteFileWatch(self.site),
          state: state.map { StateFile($0) { Terminal.note($0) } },
          isStopped: { Interrupt.isSet })
        try runner.run()
        try output.finish()
        while isRecording, !Interrupt.isSet { Interrupt.sleep(.seconds(1)) }
      } catch { throw CommandFailure(.inputOutput, "\(error)") }
    }
  }

  /// Returns the service for other programs, if there is one.
  private func makeService(
    isRecording: Bool, _ changes: SiteChanges
  ) throws(CommandFailure) -> ServiceSink? {
    guard var options = try page.options(siteFile: site) else {
      return listen.map { ServiceSink(at: $0) }
    }
    options.history = history.map(HistoryFolder.init)
    options.isRecording = isRecording
    options.changes = changes
    return ServiceSink(
      at: listen ?? PageArguments.socket, mode: listen == nil ? 0o600 : 0o660, page: options)
  }

  private func open(_ names: SiteNames) throws(CommandFailure) -> [Source] {
    do throws(SourceFailure) {
      var opened: [Source] = []
      for argument in sources { opened.append(try Source(argument: argument, names)) }
      return opened
    } catch { throw CommandFailure(.noInput, "\(error)") }
  }

  private static func rounds(_ folder: String, _ site: Site) throws(CommandFailure) -> Source {
    do throws(SourceFailure) {
      return Source("rounds", .live(RoundsSource(try RoundsFolder(folder, site))))
    } catch { throw CommandFailure(.data, "\(error)") }
  }

  private func recorder() throws(CommandFailure) -> HistorySink? {
    guard let history else { return nil }
    do throws(HistoryFailure) {
      return try HistorySink(HistoryFolder(history), isRaw: raw) { Terminal.note($0) }
    } catch { throw CommandFailure(.cannotCreate, error.description) }
  }

  private static func write(_ text: String) throws(SinkFailure) {
    do throws(CommandFailure) { try Terminal.write(text) } catch {
      throw SinkFailure(error.description)
    }
  }

  private static func noteDropped(_ output: OutputQueue) {
    let lines = output.dropped
    guard lines > 0 else { return }
    Terminal.note("\(lines) lines of output are missing, since their reader was too slow")
  }

  /// - Parameter output: The queue of a live run, which does not wait for the reader.
  private func printer(_ output: OutputQueue?) -> EventPrinter {
    let isSilent = page.page && format == nil
    return EventPrinter(format == .json ? .json : .text) { text throws(SinkFailure) in
      guard !isSilent else { return }
      guard let output else { return try Self.write(text) }
      try output.add(text)
    } report: {
      Terminal.note($0)
    }
  }
}
