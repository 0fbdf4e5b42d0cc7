// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import JSON
import Testing
import UWB
import UWBTestSupport
import Varlink

@testable import UWBService

@Suite(.ownThreads, .timeLimit(.minutes(10))) struct HostileTests {
  @Test func whatIsNoCallEndsOnlyItsConnection() async throws {
    try await ServiceBench.lendService { bench, _ in
      let (owner, watcher) = (try bench.client(), try bench.client())
      try owner.call("Start", ServiceBench.start())
      watcher.send("Monitor", more: true)
      let inputs: [[UInt8]] = [
        Array("{\"method\":\0".utf8), [0], Array("[]\0".utf8), Array("{}\0".utf8),
        Array("GET / HTTP/1.1\r\n\r\n\0".utf8), (0..<255).map { 255 - $0 } + [0],
        [0xFF, 0xFE, 0x00], [UInt8](repeating: 0x5B, count: 60_000) + [0],
        [UInt8](repeating: 0x20, count: 70_000), [UInt8](repeating: 0x22, count: 1_000_000),
      ]
      for input in inputs {
        let client = try bench.client()
        client.send(input)
        let reply = try client.receive()
        #expect(reply?.errorName == "InvalidMessage", "\(input.prefix(20))")
        #expect(try client.receive() == nil)
      }
      #expect(try watcher.measurements(3).found.count == 3)
      #expect(try owner.call("Stop", ["session_id": .integer(42)]).error == nil)
    }
  }

  @Test func callsMayComeInPiecesAndTogether() async throws {
    try await ServiceBench.lendService { bench, _ in
      let client = try bench.client()
      for byte in VarlinkCall("org.varlink.service.GetInfo").bytes { client.send([byte]) }
      #expect(try client.receive()?.parameters["product"] == .string("uwbd"))
      // The service accepts this many calls at once. Calls without a reply are not counted.
      let info = VarlinkCall("org.varlink.service.GetInfo").bytes
      let silent = VarlinkCall("org.varlink.service.GetInfo", oneway: true).bytes
      client.send((0..<500).flatMap { _ in silent + info })
      for _ in 0..<500 { #expect(try client.receive()?.error == nil) }
      // Calls wait for the previous call.
      client.send("Start", ServiceBench.start())
      client.send("Stop", ["session_id": .integer(42)])
      client.send("Monitor", oneway: true)
      client.send("List")
      #expect(try client.receive()?.parameters["session_id"] == .integer(42))
      #expect(try client.receive() == VarlinkReply())
      #expect(try client.receive()?.parameters["chips"] != nil)
    }
  }

  @Test func aSlowClientLosesAndIsTold() async throws {
    try await ServiceBench.lendService { bench, service in
      let (slow, newest, quick) = (try bench.client(), try bench.client(), try bench.client())
      slow.send("Monitor", ["queue": .integer(10)], more: true)
      newest.send("Monitor", ["keep": .string("newest")], more: true)
      quick.send("Monitor", ["queue": .integer(10_000)], more: true)
      while await service.listenerCount < 3 { await Task.yield() }
      let count = 5_000
      for number in 0..<count {
        await service.handle(.measured(measurement(number, UInt16(number % 3))))
        // The bytes never exceed the buffer of the socket.
        if number % 50 == 49 { #expect(try quick.measurements(50).found.count == 50) }
      }
      for client in [slow, newest] {
        var (received, seen, last) = (0, 0, Int64(-1))
        while seen < count {
          let reply = try #require(try client.receive())
          seen += 1 + Int(reply.parameters["lost"]?.integer ?? 0)
          received += 1
          let number = try #require(reply.parameters["monotonic_us"]?.integer)
          #expect(number > last || client === newest)
          last = number
        }
        #expect(seen == count)
        #expect(received < count / 2)
      }
    }
  }

  private func measurement(_ number: Int, _ peer: UInt16) -> PublishedMeasurement {
    PublishedMeasurement(
      chip: "x", sessionID: 1, peer: MACAddress(peer), time: UInt64(number), audience: .everyone,
      reply: MeasurementReply(chip: "x", sessionID: 1, monotonic: UInt64(number), utc: 0) {
        $0.appendJSON(String(repeating: "x", count: 300))
      })
  }

  @Test func theQueueKeepsWhatIsAskedFor() {
    func drained(_ queue: inout MeasurementQueue) -> [String] {
      var found: [String] = []
      while let (measurement, lost) = queue.next() {
        var bytes: [UInt8] = []
        measurement.reply.append(to: &bytes, lost: lost, continues: false)
        let members = try? VarlinkReply(bytes.dropLast()).parameters
        found.append("\(members?["monotonic_us"]?.integer ?? -1)/\(lost)")
      }
      return found
    }
    var queue = MeasurementQueue(.all, limit: 3)
    for number in 0..<5 { queue.add(measurement(number, UInt16(number))) }
    #expect(drained(&queue) == ["2/2", "3/0", "4/0"])
    queue.add(measurement(5, 0))
    #expect(drained(&queue) == ["5/0"])
    queue = MeasurementQueue(.newest, limit: 3)
    for number in 0..<7 { queue.add(measurement(number, UInt16(number % 2))) }
    #expect(drained(&queue) == ["6/5", "5/0"])
    // There are more measurements of different peers than can wait.
    for number in 0..<5 { queue.add(measurement(number, UInt16(number))) }
    #expect(drained(&queue) == ["2/2", "3/0", "4/0"])
  }

  @Test func waitingMeasurementsHaveARoomInBytes() {
    let length = measurement(10, 0).reply.count
    for rule in [Chips.Keep.all, .newest] {
      var queue = MeasurementQueue(rule, limit: 10_000)
      for number in 0..<100 {
        queue.add(measurement(10 + number % 10, UInt16(number)), room: 3 * length)
      }
      #expect(queue.next()?.lost == 97)
      #expect(queue.next()?.lost == 0)
      // The newest measurement waits although it has no room.
      queue.add(measurement(10, 0), room: 0)
      queue.add(measurement(11, 1), room: 0)
      #expect(queue.next()?.lost == 2)
      #expect(queue.next() == nil)
    }
  }

  @Test func connectionsShareTheRoomOfTheirUser() {
    let permissions = Permissions(mostWaiting: (ofAll: 1_000, ofUser: 400))
    #expect(permissions.room(1, 1) == 400)
    #expect(permissions.room(2, 2) == 200)
    // Other users reduce the room only when there are many of them.
    #expect(permissions.room(5, 2) == 200)
    #expect(permissions.room(10, 2) == 100)
    // The default queue of a program with 25 connections is not reduced.
    #expect(Permissions().room(25, 25) > 1_000 * 1_200)
  }

  @Test func aPeerIsLimitedToItsRate() {
    var rate = PeerRate(.nanoseconds(10))
    let times = [0, 4, 9, 10, 11, 25, 26].filter { rate.passes(measurement($0, 1)) }
    #expect(times == [0, 10, 25])
    // A hostile chip may report ever new addresses. The service forgets silent addresses.
    var passed = 0
    for number in 0..<40_000 where rate.passes(measurement(130 + number, UInt16(number % 20_000))) {
      passed += 1
    }
    #expect(passed == 40_000)
    let isSoon = !rate.passes(measurement(40_130, 19_999))
    #expect(isSoon)
  }

  @Test func manyConnectionsComeAndGo() async throws {
    try await ServiceBench.lendService { bench, service in
      for _ in 0..<2_000 { try bench.client().close() }
      let open = try (0..<100).map { _ in try bench.client() }
      for client in open { #expect(try client.call("List").error == nil) }
      for client in open { client.close() }
      let last = try bench.client()
      while await service.connections > 1 { pauseBriefly() }
      #expect(try last.call("List").error == nil)
    }
  }
}
