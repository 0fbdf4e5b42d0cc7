// SPDX-License-Identifier: Apache-2.0
import Testing

/// The steps by which a consumer of a ring goes to sleep and a producer wakes it, on processors
/// that delay stores.
///
/// A store goes into a buffer of its thread, and the thread reads its own stores from there. Each
/// buffered store reaches memory at any later time, and stores to different variables arrive in any
/// order. A release store waits for all stores before it.
///
/// Loads are in program order. An early load by a processor is equivalent to late stores before it.
/// This model allows more than x86-64 does, which keeps stores in order. For these programs, it
/// allows as much as arm64 does.
///
/// `explored` follows every interleaving of two threads from the first state on.
private struct SleepModel: Hashable {
  /// The operations between the publication of a frame and the load of `sleeping`, and between the
  /// announcement of sleep and the last check of the ring.
  struct Barriers: Hashable {
    var producerFences = false
    var consumer = Consumer.process

    enum Consumer { case none, fence, process }
  }

  enum Variable: Int, CaseIterable { case head, finished, sleeping }

  struct Store: Hashable {
    var variable: Variable
    var value: Int
    var isRelease: Bool
  }

  struct Thread: Hashable {
    var step = 0
    var count = 0
    var seen = 0
    var buffer: [Store] = []
  }

  let barriers: Barriers
  let frames: Int
  /// The number of times that the consumer's sleep may still end by itself, as a sleep with a time
  /// limit does.
  var timeLimits: Int
  var memory = [0, 0, 0]
  var producer = Thread()
  var consumer = Thread()
  var isAsleep = false

  init(_ barriers: Barriers, frames: Int, timeLimits: Int) {
    self.barriers = barriers
    self.frames = frames
    self.timeLimits = timeLimits
  }

  // MARK: the machine

  private func load(_ variable: Variable, by thread: Thread) -> Int {
    thread.buffer.last { $0.variable == variable }?.value ?? memory[variable.rawValue]
  }

  private mutating func flush(_ thread: WritableKeyPath<Self, Thread>) {
    for store in self[keyPath: thread].buffer { memory[store.variable.rawValue] = store.value }
    self[keyPath: thread].buffer = []
  }

  /// Every state in which one more store of a thread has reached memory.
  private func drained(_ thread: WritableKeyPath<Self, Thread>) -> [Self] {
    let buffer = self[keyPath: thread].buffer
    return buffer.indices.filter { index in
      let store = buffer[index]
      let before = buffer[..<index]
      return store.isRelease
        ? before.isEmpty : before.allSatisfy { $0.variable != store.variable }
    }.map { index in
      var next = self
      next[keyPath: thread].buffer.remove(at: index)
      next.memory[buffer[index].variable.rawValue] = buffer[index].value
      return next
    }
  }

  // MARK: the programs, as in FrameProducer, FrameConsumer.wait and FrameRingStorage

  private var produced: Self? {
    var next = self
    switch producer.step {
    case 0:  // publishHead, or finished.store after the last frame
      let isEnd = producer.count == frames
      next.producer.buffer.append(
        Store(
          variable: isEnd ? .finished : .head, value: isEnd ? 1 : producer.count + 1,
          isRelease: true))
      next.producer.count += 1
    case 1:  // wakeIfSleeping: the fence
      if barriers.producerFences { next.flush(\.producer) }
    case 2:  // wakeIfSleeping: the load
      next.producer.seen = load(.sleeping, by: producer)
      if next.producer.seen == 0 { next.producer.step = 3 }
    case 3:  // wake: the exchange, which also releases
      next.flush(\.producer)
      next.producer.seen = next.memory[Variable.sleeping.rawValue]
      next.memory[Variable.sleeping.rawValue] = 0
    case 4:  // wake: the futex
      if producer.seen == 1 { next.isAsleep = false }
      next.producer.step = producer.count > frames ? 5 : -1
    default: return nil
    }
    next.producer.step += 1
    if producer.step == 2, next.producer.step == 4 {
      next.producer.step = producer.count > frames ? 6 : 0
    }
    return next
  }

  private var consumed: Self? {
    guard !isAsleep else {
      guard timeLimits > 0 else { return nil }
      var next = self
      next.timeLimits -= 1
      next.isAsleep = false
      return next
    }
    var next = self
    let head = load(.head, by: consumer)
    switch consumer.step {
    case 0:  // isReady
      if head > consumer.count {
        next.consumer.count += 1
        return next
      }
    case 1:  // isFinished: the end first, then the ring
      next.consumer.seen = load(.finished, by: consumer)
    case 2:
      if head > consumer.count {
        next.consumer.step = 0
        return next
      }
      if consumer.seen == 1 {
        next.consumer.step = 9
        return next
      }
    case 3:  // announceSleep
      next.consumer.buffer.append(Store(variable: .sleeping, value: 1, isRelease: false))
    case 4:
      if barriers.consumer != .none { next.flush(\.consumer) }
      // The barrier acts on every processor that runs a thread of the process.
      if barriers.consumer == .process { next.flush(\.producer) }
    case 5:
      if head > consumer.count {
        next.consumer.step = 8
        return next
      }
    case 6:
      if load(.finished, by: consumer) == 1 { next.consumer.step = 7 }
    case 7:  // The kernel compares the word in order with the value that it was called with.
      next.flush(\.consumer)
      next.isAsleep = next.memory[Variable.sleeping.rawValue] == 1
    case 8:
      next.consumer.buffer.append(Store(variable: .sleeping, value: 0, isRelease: false))
      next.consumer.step = -1
    default: return nil
    }
    next.consumer.step += 1
    return next
  }

  var successors: [Self] {
    [produced, consumed].compactMap { $0 } + drained(\.producer) + drained(\.consumer)
  }

  var hasEnded: Bool { consumer.step == 9 && consumer.count == frames }

  /// The number of reachable states, and the first state from which nothing more happens although
  /// the consumer has not consumed everything.
  func explored() -> (states: Int, stuck: Self?) {
    var seen: Set<Self> = [self]
    var open = [self]
    while let state = open.popLast() {
      let successors = state.successors
      if successors.isEmpty, !state.hasEnded { return (seen.count, state) }
      for next in successors where seen.insert(next).inserted { open.append(next) }
    }
    return (seen.count, nil)
  }
}

@Suite("How a consumer goes to sleep, in every interleaving", .timeLimit(.minutes(10)))
struct SleepProtocolTests {
  @Test("No wake is lost", arguments: [1, 2, 3], [0, 1, 2])
  func holds(_ frames: Int, _ timeLimits: Int) {
    for barriers in [
      SleepModel.Barriers(producerFences: true, consumer: .fence),
      SleepModel.Barriers(producerFences: false, consumer: .process),
    ] {
      let (states, stuck) = SleepModel(barriers, frames: frames, timeLimits: timeLimits).explored()
      #expect(stuck == nil, "\(barriers)")
      #expect(states > 100 * frames)
    }
  }

  @Test(
    "Each barrier is necessary",
    arguments: [(false, .none), (true, .none), (false, .fence)]
      as [(Bool, SleepModel.Barriers.Consumer)])
  fileprivate func areNecessary(
    _ producerFences: Bool, _ consumer: SleepModel.Barriers.Consumer
  ) throws {
    let barriers = SleepModel.Barriers(producerFences: producerFences, consumer: consumer)
    let stuck = try #require(SleepModel(barriers, frames: 2, timeLimits: 0).explored().stuck)
    #expect(stuck.isAsleep && stuck.consumer.count < stuck.producer.count)
  }
}
