// SPDX-License-Identifier: Apache-2.0

import Channels
import Foundation
import ProgramTestSupport
import System
import Testing
import UWBTestSupport
import UWBSimulator
import UWBTools
import uwbctl

@testable import Peers

/// `uwbctl peer` in two processes, each with a chip of one scene, and people who answer.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct PeerTests {
  private struct Stage {
    let bench = SimulatedBench(scene: Scene(seed: 33))
    let chips: [SimulatedBench.Chip]
    let service = "t-" + String(UInt32.random(in: 0 ... .max), radix: 36)

    init() throws {
      chips = [
        try bench.add(profile: .qm33PDoA, placement: Placement(at: SIMD3(0, 0, 0))),
        try bench.add(profile: .sr250, placement: Placement(at: SIMD3(3, 1, 0), yaw: 180)),
      ]
      bench.start()
    }

    func start(
      _ index: Int, _ name: String, answer: String = "y\n", more: [String] = []
    ) throws -> ChildProcess {
      try ChildProcess(
        [
          "peer", "--device", chips[index].path, "--name", name, "--service", service, "--format",
          "json",
        ] + more, input: Data(answer.utf8))
    }
  }

  private static func events(_ outcome: ChildProcess.Outcome, _ word: String) throws
    -> [[String: Any]]
  {
    try outcome.objects().filter { $0["event"] as? String == word }
  }

  @Test func twoMachinesFindEachOtherAndRange() throws {
    let stage = try Stage()
    let bob = try stage.start(1, "Bob")
    let alice = try stage.start(0, "Alice", more: ["-n", "10"]).outcome()
    #expect(alice.status == 0, "\(alice.complaints)")
    let other = bob.outcome()
    #expect(other.status == 85, "\(other.complaints)")
    #expect(other.complaints.contains("Alice has ended"), "\(other.complaints)")
    let codes = try [alice, other].map { try Self.events($0, "code").first?["code"] as? String }
    #expect(codes[0] != nil && codes[0] == codes[1])
    #expect(alice.complaints.contains("Does Bob show \(codes[0] ?? ""), too?"))
    let truth = stage.chips[0].position.distance(to: stage.chips[1].position)
    for outcome in [alice, other] {
      let distances = try Self.events(outcome, "found").compactMap { $0["distance_m"] as? Double }
      #expect(abs(try #require(distances.last) - truth) < 0.15)
    }
    stage.bench.stop()
  }

  @Test func aRefusedCodeEndsBoth() throws {
    let stage = try Stage()
    let bob = try stage.start(1, "Bob", answer: "n\n")
    let alice = try stage.start(0, "Alice").outcome()
    let other = bob.outcome()
    #expect(alice.status == 86, "\(alice.complaints)")
    #expect(other.status == 86, "\(other.complaints)")
    for outcome in [alice, other] {
      #expect(outcome.complaints.contains("\n  try: "))
      #expect(try Self.events(outcome, "found").isEmpty)
    }
    stage.bench.stop()
  }

  @Test func aPeerThatIsKilledIsNoticed() throws {
    let stage = try Stage()
    let bob = try stage.start(1, "Bob")
    let alice = try stage.start(0, "Alice")
    _ = try bob.read(until: #"{"event":"found""#)
    bob.kill()
    let outcome = alice.outcome()
    #expect(outcome.status == 85, "\(outcome.complaints)")
    stage.bench.stop()
  }

  /// Eve announces a listener that never answers, and keeps nine silent connections.
  @Test func silentConnectionsDoNotKeepMachinesApart() async throws {
    let stage = try Stage()
    let listener = try await SocketListener(.tcp(host: "0.0.0.0", port: 0))
    guard case .tcp(_, let port) = listener.endpoint else { throw NIPeerError.closed }
    let known = Locked<Set<UInt64>>([])
    let (found, find) = AsyncStream<ChannelEndpoint>.makeStream()
    // The other peers invite Eve, because her number is the highest.
    let eve = PeerAnnouncement(id: .max, port: port, service: stage.service, name: "Eve")
    let beacon = try PeerBeacon(eve, every: .milliseconds(50)) { heard in
      let (other, address) = (heard.announcement, heard.address)
      guard other.service == eve.service, other.id != eve.id, other.port != 0 else { return }
      guard known.withLock({ $0.insert(other.id).inserted }) else { return }
      find.yield(.tcp(host: address, port: other.port))
    } tick: {
    }
    var calls = found.makeAsyncIterator()
    var silent: [SocketChannel] = []
    let alice = try stage.start(0, "Alice", more: ["-n", "3"])
    let first = try #require(await calls.next())
    for _ in 0..<9 { silent.append(try await SocketChannel.connect(to: first)) }
    _ = try alice.read(until: "Eve")
    let bob = try stage.start(1, "Bob")
    let outcome = alice.outcome()
    #expect(outcome.status == 0, "\(outcome.complaints)")
    #expect(try Self.events(outcome, "found").count == 3)
    #expect(bob.outcome().status == 85)
    for channel in silent { channel.close() }
    beacon.close()
    listener.close()
    stage.bench.stop()
  }

  @Test func whoIsAloneIsTold() throws {
    let stage = try Stage()
    let outcome = try stage.start(0, "Alice", more: ["--wait", "0.2"]).outcome()
    #expect(outcome.status == 82, "\(outcome.complaints)")
    #expect(outcome.complaints.contains("No peer was found."))
    stage.bench.stop()
    let wrong = [
      ["--service", "No"], ["--name", ""], ["--name", "a\nb"], ["--ble"],
      ["--ble-adapter", "hci0"],
      ["--device", "/dev/null", "--ble", "--name", String(repeating: "n", count: 30)],
    ]
    for arguments in wrong {
      let outcome = try ChildProcess.run(["peer"] + arguments)
      #expect(outcome.status == 64, "\(outcome.complaints)")
    }
  }

  @Test func theSimulatedPeerNeedsNoAnswer() throws {
    let outcome = try ChildProcess.run(["peer", "-n", "3"])
    #expect(outcome.status == 0, "\(outcome.complaints)")
    #expect(try Self.events(outcome, "found").count == 3)
  }
}
