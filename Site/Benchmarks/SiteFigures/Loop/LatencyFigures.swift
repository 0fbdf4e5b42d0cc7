// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SiteServer
import UWBSite

/// The time from the last range of a round in a pipe to the place at a sink, and its cost.
struct LatencyFigures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "latency",
    abstract: "Source to place through a pipe, beside a relay that only reads the lines.",
    discussion: """
      The first 2 seconds, in which the places of all tags are searched, do not count. The feeder \
      of the pipe and the clients have threads of their own, whose processor time is not counted.
      """)

  @Option(help: "Tags, each with 10 rounds a second of 8 ranges.")
  var tags = 100

  @Option(help: "Seconds.")
  var seconds = 10

  @Flag(help: "Record a history as well.")
  var history = false

  @Option(help: "Clients of a socket that follow all tags.")
  var clients = 0

  @Option(help: "Milliseconds between two replies to a client.")
  var every = 0

  func run() throws {
    let relay = try LatencyScene.measure(tags: tags, seconds: seconds) { path, clock, isEnded in
      LineRelay(path, clock, isEnded).run()
      return 0
    }
    let site = try LatencyScene.site(tags: tags)
    let (history, clients, every) = (history, clients, every)
    let places = try LatencyScene.measure(tags: tags, seconds: seconds) { path, clock, isEnded in
      let source = try Source(argument: path, SiteNames(site))
      let servers = try LatencyServers(history: history, clients: clients, every: every)
      // The last sink: its times include the work of the others.
      var runner = try SiteRunner(
        site, [source], sinks: servers.sinks + [LatencySink(clock)],
        epoch: Date().timeIntervalSince1970, isStopped: isEnded)
      servers.connect()
      try runner.run()
      return servers.close()
    }
    show(relay, places)
  }

  private func show(_ relay: LatencyResult, _ places: LatencyResult) {
    for (id, part, aim) in [("p50", 0.5, 2.0), ("p99", 0.99, 10.0)] {
      print(
        Figure(
          id: id, quantity: "\(tags) tags at 10 Hz, 8 ranges: source to place", unit: "ms",
          textbook: ("relay of lines", 1000 * Errors.quantile(relay.latencies, part)),
          value: 1000 * Errors.quantile(places.latencies, part), aim: 0...aim
        ).line)
    }
    let parts = (history ? ", history" : "") + (clients > 0 ? ", \(clients) clients" : "")
    print(
      Figure(
        id: "cpu", quantity: "source and engine\(parts)", unit: "% of a core",
        textbook: ("relay of lines", 100 * relay.load), value: 100 * places.load, aim: 0...25
      ).line)
    print(
      "\(places.latencies.count) of \(tags * (10 * seconds - LatencyScene.warmUp)) rounds "
        + "after the first 2 s have a place")
    let turns = [0.5, 0.99, 1].map { 1000 * Errors.quantile(places.turns, $0) }
    print(
      "loop: \(turns[0]) ms of processor time in a turn, p99 \(turns[1]) ms, at most \(turns[2]) ms"
    )
    print(
      "memory: \(places.memory.first) MiB after the first 2 s, \(places.memory.last) MiB at the end"
    )
  }
}
