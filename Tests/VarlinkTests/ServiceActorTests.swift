// SPDX-License-Identifier: Apache-2.0
import System
import Testing
import UWBTestSupport
import Varlink

@Suite(.ownThreads, .timeLimit(.minutes(10))) struct ServiceActorTests {
  @Test func aBusyActorDelaysNoThread() async {
    let (entered, released) = (WakeEvent(), WakeEvent())
    let order = Locked<[Int]>([])
    ServiceQueue.shared.later {
      entered.wake()
      released.sleep()
      order.withLock { $0.append(1) }
    }
    entered.sleep()
    // This thread ends the job, so it must not wait for the job.
    ServiceActor.atOnceOrLater { order.withLock { $0.append(2) } }
    #expect(order.withLock { $0 } == [])
    released.wake()
    await ServiceActor.turn()
    #expect(order.withLock { $0 } == [1, 2])
  }
}
