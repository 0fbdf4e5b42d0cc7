// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBSite

@testable import SiteServer

@Suite struct MailboxTests {
  private func items(_ count: Int, from first: Int = 0) -> [SourceItem] {
    (first..<first + count).map { number in
      .measurement(SiteScene.range(at: Double(number), "T", "A0", [1, 0, 0]))
    }
  }

  private func times(_ deliveries: [Mailbox.Delivery], of source: Int) -> [Double] {
    deliveries.compactMap { delivery in
      guard delivery.source == source, case .measurement(let line) = delivery.item else {
        return nil
      }
      return line.time
    }
  }

  @Test("Items keep the order of their source, with their arrival")
  func order() {
    let mailbox = Mailbox(sources: 2)
    mailbox.put(items(3), from: 0, at: 1.5)
    mailbox.put(items(2, from: 10), from: 1, at: 1.6)
    let taken = mailbox.take()
    #expect(times(taken, of: 0) == [0, 1, 2])
    #expect(times(taken, of: 1) == [10, 11])
    #expect(taken.map(\.arrival) == [1.5, 1.5, 1.5, 1.6, 1.6])
    #expect(mailbox.take().isEmpty)
  }

  @Test("A source that floods loses its own oldest items, and their number is reported first")
  func flood() {
    let mailbox = Mailbox(sources: 2, bound: 100)
    mailbox.put(items(1), from: 1, at: 0)
    for burst in 0..<10 { mailbox.put(items(50, from: 50 * burst), from: 0, at: 0) }
    let taken = mailbox.take()
    #expect(times(taken, of: 1) == [0])
    #expect(times(taken, of: 0) == (400..<500).map(Double.init))
    #expect(taken.first { $0.source == 0 }?.item == .lost(400))
  }

  @Test("Changes of the state are not lost in a flood, and lost items count once")
  func states() {
    let mailbox = Mailbox(sources: 1, bound: 10)
    mailbox.put([.state(.connected(identity: nil)), .lost(5)] + items(20), from: 0, at: 0)
    let taken = mailbox.take()
    #expect(taken.map(\.item).prefix(2) == [.lost(15), .state(.connected(identity: nil))])
    #expect(times(taken, of: 0) == (10..<20).map(Double.init))
  }

  @Test("In a long flood of small deliveries, the newest items and each change of the state stay")
  func longFlood() {
    let mailbox = Mailbox(sources: 1, bound: 100)
    for number in 0..<5000 {
      mailbox.put(items(1, from: number), from: 0, at: 0)
      if number % 1000 == 0 { mailbox.put([.state(.connected(identity: nil))], from: 0, at: 0) }
    }
    let taken = mailbox.take()
    #expect(taken.count { $0.item.isState } == 5)
    #expect(taken.first?.item == .lost(4900))
    #expect(times(taken, of: 0) == (4900..<5000).map(Double.init))
    #expect(mailbox.take().isEmpty)
  }

  @Test("A delivery has a share of each source, so that none waits for another")
  func fairness() {
    let mailbox = Mailbox(sources: 2)
    mailbox.put(items(5000), from: 0, at: 0)
    mailbox.put(items(10), from: 1, at: 0)
    let first = mailbox.take()
    #expect(times(first, of: 1).count == 10)
    #expect(times(first, of: 0).count == 256)
    var rest = times(first, of: 0)
    while case let taken = mailbox.take(), !taken.isEmpty { rest += times(taken, of: 0) }
    #expect(rest == (0..<5000).map(Double.init))
  }

  @Test("A port sends with the time of the loop, until the mailbox is closed")
  func port() {
    let mailbox = Mailbox(sources: 1)
    let port = SourcePort(mailbox, 0) { 7.5 }
    port.send(items(1))
    port.send(.ended(reason: nil))
    #expect(mailbox.take().map(\.arrival) == [7.5, 7.5])
    #expect(!port.isClosed)
    mailbox.close()
    #expect(port.isClosed)
  }
}
