// SPDX-License-Identifier: Apache-2.0

import Accessory
import AccessoryProtocol
import Ranging
import Testing
import UWB
import UWBSimulator

/// Regions around an accessory, which it watches by itself.
@Suite(.timeLimit(.minutes(10))) struct RegionTests {
  private static func options(
    _ radius: Double, dwell: Double = 10, absence: Double = 5
  ) throws -> Accessory.Options {
    var options = Accessory.Options()
    options.regions = try RegionRules(
      [.init("near", radius: radius)], dwell: dwell, absence: absence)
    options.tellsApps = true
    return options
  }

  private static func change(in events: AsyncStream<Accessory.Event>) async -> RegionChange? {
    await events.first { event in
      guard case .regionChanged(_, let change, _) = event else { return nil }
      return change
    }
  }

  @Test func aPhoneEntersStaysAndLeaves() async throws {
    var fixture = try await AccessoryFixture(
      phones: [.qm33PDoA], options: try Self.options(2, dwell: 0.2))
    let changes = fixture.accessory.events
    _ = try await fixture.range()
    let phone = fixture.chips.bench.chips[1]
    phone.placement = Placement(at: SIMD3(1, 0, 0), yaw: 180)
    for kind in [RegionChange.Kind.entered, .dwelled] {
      let change = try #require(await Self.change(in: changes))
      #expect(change.kind == kind && abs(change.estimate.distance - 1) < 0.3)
      // The app receives it without other messages in between.
      guard case .regionChanged(let notice) = try await fixture.phone.next() else {
        Issue.record("the app was not told")
        break
      }
      #expect(notice.kind == kind && notice.region == "near")
      #expect(abs(notice.distance - change.estimate.distance) < 1e-3)
    }
    phone.placement = Placement(at: SIMD3(4, 0, 0), yaw: 180)
    let left = try #require(await Self.change(in: changes))
    #expect(left.kind == .left && left.cause == .distance && left.duration > 0.2)
    await fixture.end()
  }

  /// The phone's chip is silent: the accessory's chip still reports rounds, which fail.
  @Test func aSilentPhoneLeaves() async throws {
    var fixture = try await AccessoryFixture(
      phones: [.qm33PDoA], options: try Self.options(9, absence: 0.5))
    let changes = fixture.accessory.events
    let (_, session) = try await fixture.range()
    #expect(await Self.change(in: changes)?.kind == .entered)
    try await session.stop()
    let left = try #require(await Self.change(in: changes))
    #expect(left.kind == .left && left.cause == .silence)
    await fixture.end()
  }

  /// The accessory's own chip sends nothing, and may return.
  @Test func aPhoneLeavesAlsoWhileTheDeviceIsLost() async throws {
    var fixture = try await AccessoryFixture(
      phones: [.qm33PDoA], options: try Self.options(9, absence: 0.5), recovery: .init())
    let changes = fixture.accessory.events
    _ = try await fixture.range()
    #expect(await Self.change(in: changes)?.kind == .entered)
    fixture.chips.bench.chips[0].unplug()
    let left = try #require(await Self.change(in: changes))
    #expect(left.kind == .left && left.cause == .silence)
    await fixture.end()
  }

  @Test func theEndOfRangingIsAnEndInRegions() async throws {
    var options = try Self.options(9)
    options.tellsApps = false
    var fixture = try await AccessoryFixture(phones: [.qm33PDoA], options: options)
    let changes = fixture.accessory.events
    _ = try await fixture.range()
    #expect(await Self.change(in: changes)?.kind == .entered)
    // An app that did not request them receives no messages about regions.
    #expect(try await fixture.phone.stop() == .accessoryUwbDidStop)
    var order: [String] = []
    for await event in changes {
      if case .regionChanged(_, let change, _) = event {
        order.append("\(change.kind) \(change.cause)")
      }
      guard case .stopped = event else { continue }
      order.append("stopped")
      break
    }
    #expect(order == ["left ended", "stopped"])
    await fixture.end()
  }

  @Test func theMessageIsReadAsItWasWritten() throws {
    let bytes: [UInt8] = [0x40, 2, 0xE8, 0x03, 0, 0, 60, 0] + Array("near".utf8)
    guard case .regionChanged(let notice) = try AccessoryMessage(bytes) else {
      Issue.record("another message")
      return
    }
    #expect(notice.kind == .left && notice.region == "near")
    #expect(notice.distance == 1 && notice.standardDeviation == 0.06)
    #expect(AccessoryMessage.regionChanged(notice).bytes == bytes)
    let others: [[UInt8]] = [
      [0x40], Array(bytes.prefix(8)), [0x40, 0] + bytes.dropFirst(2),
      [0x40, 4] + bytes.dropFirst(2),
      bytes + [0x20], bytes + [UInt8](repeating: 0x61, count: 29),
    ]
    for damaged in others {
      #expect(throws: AccessoryError.self) { try AccessoryMessage(damaged) }
    }
  }
}
