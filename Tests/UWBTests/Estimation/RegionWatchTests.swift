// SPDX-License-Identifier: Apache-2.0
import Ranging
import System
import Testing
@testable import UWB
import UWBTestSupport

@Suite(.timeLimit(.minutes(10))) struct RegionWatchTests {
  @Test func aSilentPeerLeavesInVirtualTime() async throws {
    let time = VirtualTime()
    let (changes, change) = AsyncStream<RegionChange>.makeStream()
    let rules = try RegionRules([.init("near", radius: 5)], absence: 10)
    let watch = RegionWatch(rules, clock: time.clock) { seen, _ in change.yield(seen) }
    var rounds = Rounds()
    for sequence in 0..<10 as Range<UInt32> { rounds.info(sequence) }
    for estimate in rounds.given {
      watch.update(estimate)
      time.advance(.milliseconds(200))
    }
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next()?.kind == .entered)
    await time.timers(1)
    time.advance(.seconds(11))
    #expect(await iterator.next()?.cause == .silence)
    await watch.end()
  }

  @Test func aCallbackMayUseTheWatch() async throws {
    let seen = Locked<[RegionChange.Kind]>([])
    let watch = Locked<RegionWatch?>(nil)
    let rules = try RegionRules([.init("near", radius: 5)])
    let new = RegionWatch(rules) { change, measurement in
      seen.withLock { $0.append(change.kind) }
      watch.withLock { $0 }?.update(measurement)
    }
    watch.withLock { $0 = new }
    var rounds = Rounds()
    for sequence in 0..<10 as Range<UInt32> { rounds.info(sequence) }
    for estimate in rounds.given { new.update(estimate) }
    await new.end()
    watch.withLock { $0 = nil }
    #expect(seen.withLock { [$0.first, $0.last] } == [.entered, .left])
  }
}
