// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Glibc
import JSON
import SystemPackage
import Testing
import UWB
import UWBLink
import UWBSimulator
import UWBTestSupport
import Varlink

@testable import UWBService

/// Programs that borrow a chip for exclusive use.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct BorrowTests {
  private static let parameters: [String: JSON] = ["reason": .string("uwbctl config set")]

  @Test func aChipIsLentAndTakenBack() async throws {
    try await ServiceBench.lendService { bench, _ in
      let (borrower, other) = (try bench.client(), try bench.client())
      #expect(try borrower.call("Borrow", Self.parameters).error == nil)
      let device = try await UWBDevice.open(
        .serial(path: FilePath(bench.chip.path)), options: .patient)
      await device.close()
      for (method, parameters) in [
        ("Start", ServiceBench.start()), ("Describe", [:]), ("Borrow", Self.parameters),
      ] {
        let reply = try other.call(method, parameters)
        #expect(reply.errorName == "Busy")
        #expect(reply.parameters["reason"]?.string?.contains("uwbctl config set") == true)
        #expect(reply.parameters["advice"]?.string?.contains("\(getpid())") == true)
        let user = reply.parameters["borrower"]?.object?["user"]?.object
        #expect(user?["pid"] == .integer(Int64(getpid())))
      }
      let listed = try other.call("List").parameters["chips"]?.array?[0].object
      #expect(listed?["borrower"]?.object?["reason"] == .string("uwbctl config set"))
      // The program ends in each possible way.
      borrower.close()
      let reply = try other.call("Start", ServiceBench.start())
      #expect(reply.error == nil, "\(reply.parameters)")
    }
  }

  @Test func sessionsOfOthersKeepAChip() async throws {
    try await ServiceBench.lendService { bench, service in
      let (owner, borrower) = (try bench.client(), try bench.client())
      #expect(try owner.call("Start", ServiceBench.start()).error == nil)
      let reply = try borrower.call("Borrow", Self.parameters)
      #expect(reply.errorName == "Busy")
      #expect(reply.parameters["owners"]?.array?.count == 1)
      // Sessions of the service are started again afterwards.
      try owner.call("Stop", ["session_id": .integer(42)])
      await service.hold([
        HeldProfile(
          chip: bench.chip.path, file: "tags.json", text: Array("\(ServiceBench.profile())".utf8))
      ])
      _ = try bench.client().call("Monitor")
      #expect(try borrower.call("Borrow", Self.parameters).error == nil)
      #expect(bench.chip.sessionCount == 0)
      borrower.close()
      _ = try bench.client().call("Monitor")
    }
  }

  @Test func borrowersThatGoAtOnceLeaveTheChip() async throws {
    try await ServiceBench.lendService { bench, _ in
      for _ in 0..<5 {
        let borrower = try bench.client()
        borrower.send("Borrow", Self.parameters)
        borrower.close()
      }
      let reply = try bench.client().call("Start", ServiceBench.start())
      #expect(reply.error == nil, "\(reply.parameters)")
    }
  }

  @Test func aBorrowerThatCallsAgainAndGoesLeavesTheChip() async throws {
    try await ServiceBench.lendService { bench, _ in
      let borrower = try bench.client()
      #expect(try borrower.call("Borrow", Self.parameters).error == nil)
      borrower.send("Borrow", Self.parameters)
      borrower.close()
      let reply = try bench.client().call("Start", ServiceBench.start())
      #expect(reply.error == nil, "\(reply.parameters)")
    }
  }

  @Test func aReasonIsNeeded() async throws {
    try await ServiceBench.lendService { bench, _ in
      let client = try bench.client()
      for reason in ["", String(repeating: "x", count: 300)] {
        let reply = try client.call("Borrow", ["reason": .string(reason)])
        #expect(reply.errorName == "InvalidParameter")
      }
      #expect(try client.call("Borrow").errorName == "InvalidParameter")
    }
  }
}
