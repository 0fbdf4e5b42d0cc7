// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import System
import Synchronization
import SystemPackage
import Testing
import UWBLink

@Suite("Writing to a link", .timeLimit(.minutes(10)))
struct LinkWriterTests {
  /// Reads until `count` bytes have come, or the other end has closed.
  static func read(_ descriptor: FileDescriptor, _ count: Int) async throws -> [UInt8] {
    try await runBlocking {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while bytes.count < count {
        let got = Glibc.read(descriptor.rawValue, &buffer, min(buffer.count, count - bytes.count))
        guard got > 0 else { break }
        bytes += buffer[..<got]
      }
      return bytes
    }
  }

  /// The first byte of each of the first 200 frames of four bytes.
  private static func bytes(_ offset: Int, of frames: [UInt8]) -> [UInt8] {
    (0..<200).map { frames[4 * $0 + offset] }
  }

  @Test("Frames are written in the order of asking, each seen just before")
  func order() async throws {
    let (ours, theirs) = try FrameReaderTests.pair()
    let link = try Link(.descriptor(ours))
    let seen = Mutex<[UInt8]>([])
    let completed = Mutex<[UInt8]>([])
    for number in 0..<100 as Range<UInt8> {
      link.write(
        [[0x20, 0x02, number, 0], [0x20, 0x03, number, 0]],
        willWrite: { bytes in
          let byte = bytes.unsafeLoad(fromByteOffset: 2, as: UInt8.self)
          seen.withLock { $0.append(byte) }
        },
        completion: { error in
          #expect(error == nil)
          completed.withLock { $0.append(number) }
        })
    }
    try await link.write([0x20, 0x00, 100, 0])
    let bytes = try await Self.read(theirs, 804)
    let numbers: [UInt8] = Array(0..<100)
    let twice: [UInt8] = numbers.flatMap { [$0, $0] }
    let opcodes: [UInt8] = numbers.flatMap { _ -> [UInt8] in [2, 3] }
    #expect(Self.bytes(2, of: bytes) == twice)
    #expect(Self.bytes(1, of: bytes) == opcodes)
    #expect(seen.withLock { $0 } == twice)
    #expect(completed.withLock { $0 } == numbers)
    #expect(link.statistics.framesWritten == 201)
    try theirs.close()
  }

  @Test("A link that is let go of writes what was asked for, and closes then")
  func closing() async throws {
    let (ours, theirs) = try FrameReaderTests.pair()
    var link: Link? = try Link(.descriptor(ours))
    let closed = try #require(link?.closed)
    let frame = [0x20, 0x02, 0x00, 0xFC] + [UInt8](repeating: 1, count: 252)
    link?.write(Array(repeating: frame, count: 20)) { #expect($0 == nil) }
    link = nil
    #expect(try await Self.read(theirs, 1 << 20).count == 20 * 256, "and then the end")
    await closed.wait()
    try theirs.close()
  }

  @Test("The first frame that fails ends a write, and the next write begins anew")
  func failure() async throws {
    let (ours, theirs) = try FrameReaderTests.pair()
    let link = try Link(.descriptor(ours))
    try theirs.close()
    let seen = Mutex(0)
    let error = await #expect(throws: LinkError.self) {
      try await link.write([0x20, 0x02, 0, 0], willWrite: { _ in seen.withLock { $0 += 1 } })
    }
    #expect(error?.code == .closedByPeer)
    await #expect(throws: LinkError.self) { try await link.write([]) }
    link.write(
      [[1, 2, 3, 4], [1, 2, 3, 4]], willWrite: { _ in seen.withLock { $0 += 1 } },
      completion: { #expect($0?.code == .closedByPeer) })
    try? await link.write([1, 2, 3, 4])
    #expect(seen.withLock { $0 } == 2)
  }

  /// More devices that accept nothing than there are processors: none of them may block a thread
  /// that runs tasks.
  @Test("Devices that accept nothing do not keep tasks from running")
  func stuckDevices() async throws {
    let (count, frame) = (StuckDeviceTests.count, StuckDeviceTests.frame)
    var terminals: [FileDescriptor] = []
    var links: [Link] = []
    for _ in 0..<count {
      let (master, name) = try ReconnectTests.terminal()
      let link = try Link(.serial(path: FilePath(name)))
      // Nothing is read at the other end: its buffer fills. The kernel still moves bytes from one
      // of its buffers to the next for a while.
      let full = await #expect(throws: LinkError.self) {
        while true { try await link.write(frame, timeout: .milliseconds(100)) }
      }
      #expect(full?.code == .timeout)
      terminals.append(master)
      links.append(link)
    }
    let (starts, started) = AsyncStream<Int>.makeStream()
    let ended = Locked(0)
    await withTaskGroup { group in
      for (number, link) in links.enumerated() {
        group.addTask {
          // Much longer than the test: only the hang-up below ends the write. On a busy machine the
          // kernel may make room even now, and the rest is written again.
          while (try? await link.write(
            frame, timeout: .seconds(3_600), willWrite: { _ in started.yield(number) })) != nil
          {}
          ended.withLock { $0 += 1 }
        }
      }
      var stuck: Set<Int> = []
      for await number in starts {
        stuck.insert(number)
        if stuck.count == count { break }
      }
      await StuckDeviceTests.work()
      #expect(ended.withLock { $0 } == 0, "the devices are still stuck")
      // The hang-up ends the writes.
      for terminal in terminals { try? terminal.close() }
    }
    #expect(ended.withLock { $0 } == count)
  }
}

@Suite("Blocking threads", .timeLimit(.minutes(10)))
struct BlockingThreadsTests {
  @Test("No more calls run at once than the pool may have threads, and all of them end")
  func bound() async throws {
    // A pool of its own: other tests open their devices with the shared one.
    let threads = BlockingThreads(limit: 8)
    let running = Locked(0)
    let most = Locked(0)
    let gate = DispatchSemaphore(value: 0)
    let (starts, started) = AsyncStream<Void>.makeStream()
    let results = try await withThrowingTaskGroup { group in
      for number in 0..<150 {
        group.addTask {
          try await runBlocking(on: threads) {
            let now = running.withLock {
              $0 += 1
              return $0
            }
            most.withLock { $0 = max($0, now) }
            started.yield()
            gate.wait()
            running.withLock { $0 -= 1 }
            return number
          }
        }
      }
      var next = starts.makeAsyncIterator()
      for _ in 0..<8 { await next.next() }
      for _ in 0..<150 { gate.signal() }
      return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
    }
    #expect(results == Set(0..<150))
    #expect(most.withLock { $0 } == 8)
  }

  @Test("Tasks that prefer these threads may block, however many they are")
  func executor() async {
    let gate = DispatchSemaphore(value: 0)
    let threads = BlockingThreads(limit: 64)
    await withTaskExecutorPreference(threads) {
      await withTaskGroup { group in
        // There are more calls than threads for tasks, and all of them wait for the last call.
        for _ in 0..<32 {
          group.addTask { #expect(Self.wait(for: gate)) }
        }
        group.addTask { for _ in 0..<32 { gate.signal() } }
      }
    }
  }

  private static func wait(for gate: DispatchSemaphore) -> Bool {
    gate.wait(timeout: .now() + 600) == .success
  }

  @Test("A cancelled task leaves a blocking call alone, where the caller says so")
  func cancellation() async throws {
    let threads = BlockingThreads(limit: 1)
    let gate = DispatchSemaphore(value: 0)
    let (running, begin) = AsyncStream<Void>.makeStream()
    let error = LinkError(.cancelled, endpoint: "a device")
    let call = Task {
      try await runBlocking(on: threads, cancellation: error) {
        begin.yield()
        gate.wait()
      }
    }
    for await _ in running { break }
    call.cancel()
    let outcome = await call.result
    #expect(throws: error) { try outcome.get() }
    // A call in a task that is already cancelled does not begin either.
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await runBlocking(on: threads, cancellation: error) { () -> Void in
        Issue.record("it began")
      }
    }
    let nothing = await late.result
    #expect(throws: error) { try nothing.get() }
    gate.signal()
    // The thread is free again, and a call without the parameter is not affected.
    let other = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await runBlocking(on: threads) { 42 }
    }
    #expect(try await other.value == 42)
  }

  @Test("A latch opens for those that wait and for those that come later")
  func latch() async throws {
    let link = try Link(.descriptor(FrameReaderTests.pair().0))
    let reader = FrameReader(link, handler: { _, _ in }, ended: { _ in })
    let stopped = reader.stopped
    let task = Task { await stopped.wait() }
    let blocked = Task { try await runBlocking { stopped.waitBlocking() } }
    try reader.start()
    reader.stop()
    await task.value
    await #expect(throws: Never.self) { try await blocked.value }
    await stopped.wait()
  }
}
