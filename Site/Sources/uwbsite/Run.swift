// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
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
      service that shares chips; pans:/dev/ttyACM0 for a DWM1001 board with PANS firmware; or \
      BOARD=FILE.pcapng for a capture. A line is as `uwbctl range --format json` prints it, or \
      shorter:

      {"t": 12.5, "tag": "T1", "anchor": "A3", "distance_m": 4.21, "sd_m": 0.1}

      A file whose name ends with .csv has the same keys in its first line. Boards have their id, \
      their label or an address of the site file, in either order. BOARD=SOURCE names the board at \
      this end, for lines that name their peer only. A line that cannot be used is counted, and the \
      first ones are printed with their field on standard error. Ctrl-C ends the command with a \
      summary.

      Services, boards, pipes and standard input are live: a tag is lost after a silence that its rate does not \
      explain. Files alone are read as fast as possible, or with --speed at a multiple of their own \
      times.
      """)

  @Argument(help: "The site file.", completion: .file(extensions: ["json"]))
  var site: String

  @Argument(help: "The sources of measurements.", completion: .file())
  var sources = ["-"]

  @Option(help: "Multiple of the speed of recordings.")
  var speed: Double?

  @Option(help: "text or json.")
  var format = PlaceFormat.text

  @Option(help: "Record places and events in this folder.", completion: .directory)
  var history: String?

  @Option(
    help: """
      Offer places and events to other programs at this Unix socket, as org.swift-uwb.Site. Started \
      by a socket unit of systemd, the program serves that socket.
      """,
    completion: .file())
  var listen: String?

  @Option(
    help: """
      Offer the same to pages of browsers of this machine, over WebSocket at /ws of this port. With \
      ADDRESS:PORT, other machines may connect, too, and --token is needed.
      """)
  var web: String?

  @Option(
    help: "A file whose first line is the secret that pages send, of 16 or more characters.",
    completion: .file())
  var token: String?

  func validate() throws {
    if let web {
      guard let address = WebAddress(web) else {
        throw ValidationError("--web takes a port, or ADDRESS:PORT")
      }
      guard address.isLoopback || token != nil else {
        throw ValidationError("--web \(web) needs --token, since other machines may connect")
      }
    }
    if let speed, !(speed > 0 && speed.isFinite) {
      throw ValidationError("--speed is a number greater than 0.")
    }
  }

  func run() async throws {
    // Not on a thread of tasks, which the service needs.
    let run = { @Sendable in try follow() }
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "run").async { continuation.resume(with: Result(catching: run)) }
    }
  }

  private func follow() throws {
    try Terminal.run { () throws(CommandFailure) in
      let site = try SiteFiles.read(site)
      let opened = try open(SiteNames(site))
      if speed != nil, let live = opened.first(where: \.isLive) {
        throw CommandFailure(.usage, "--speed is for files, and \(live.name) is live")
      }
      let recorder = try recorder()
      // The output may be closed before the end of the run.
      defer { recorder?.close() }
      Interrupt.install()
      let service = try makeService()
      defer { service?.close() }
      do throws(SinkFailure) {
        let sinks = [printer, recorder, service].compactMap { (sink: (any SiteSink)?) in sink }
        var runner = try SiteRunner(
          site, opened, sinks: sinks, speed: speed, epoch: Date().timeIntervalSince1970,
          isStopped: { Interrupt.isSet })
        try runner.run()
      } catch { throw CommandFailure(.inputOutput, "\(error)") }
    }
  }

  /// Returns the service for other programs, if there is one.
  private func makeService() throws(CommandFailure) -> ServiceSink? {
    guard let address = web.flatMap(WebAddress.init) else {
      return listen.map { ServiceSink(at: $0) }
    }
    var secret: String?
    if let token {
      let line = try SiteFiles.bytes(token).prefix { $0 != 10 && $0 != 13 }
      guard line.count >= 16 else {
        throw CommandFailure(.data, "\(token): the first line needs 16 or more characters")
      }
      secret = String(decoding: line, as: UTF8.self)
    }
    let own = "uwbsite-\(ProcessInfo.processInfo.processIdentifier).socket"
    let path = listen ?? FileManager.default.temporaryDirectory.appending(path: own).path()
    return ServiceSink(at: path, mode: listen == nil ? 0o600 : 0o660, web: (address, secret))
  }

  private func open(_ names: SiteNames) throws(CommandFailure) -> [Source] {
    do throws(SourceFailure) {
      var opened: [Source] = []
      for argument in sources { opened.append(try Source(argument: argument, names)) }
      return opened
    } catch { throw CommandFailure(.noInput, "\(error)") }
  }

  private func recorder() throws(CommandFailure) -> HistorySink? {
    guard let history else { return nil }
    do throws(HistoryFailure) {
      return try HistorySink(HistoryFolder(history)) { Terminal.note($0) }
    } catch { throw CommandFailure(.cannotCreate, error.description) }
  }

  private var printer: EventPrinter {
    EventPrinter(format == .json ? .json : .text) { text throws(SinkFailure) in
      do throws(CommandFailure) { try Terminal.write(text) } catch {
        throw SinkFailure(error.description)
      }
    } report: {
      Terminal.note($0)
    }
  }
}
