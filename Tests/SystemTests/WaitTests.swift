// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import Testing

@Suite(.timeLimit(.minutes(10))) struct WaitTests {
  @Test(
    arguments: [
      (Duration.zero, 0), (.seconds(-1), 0), (.nanoseconds(1), 1), (.milliseconds(1), 1),
      (.microseconds(1_001), 2), (.seconds(2), 2_000), (.seconds(1_000_000_000_000), Int32.max),
      (.seconds(Int64.max), Int32.max),
    ] as [(Duration, Int32)])
  func millisecondsAreRoundedUp(_ time: Duration, _ milliseconds: Int32) {
    #expect(time.milliseconds == milliseconds)
  }

  @Test func aDeadlineNeverOverflows() {
    #expect(Deadline(after: .seconds(-5)).milliseconds == 0)
    #expect(Deadline(after: .zero).milliseconds == 0)
    #expect(Deadline(after: .seconds(Int64.max)).milliseconds == .max)
    #expect(1...60_000 ~= Deadline(after: .seconds(60)).milliseconds)
  }

  @Test func theClockOfAProcessIsMonotonic() {
    var before = nanoseconds(of: CLOCK_MONOTONIC)
    for _ in 0..<1_000 {
      let now = nanoseconds(of: CLOCK_MONOTONIC)
      #expect(now >= before)
      before = now
    }
  }

  @Test func aPipeKeepsWakesInTheirOrder() {
    let pipe = WakePipe()
    #expect(pipe.readEnd >= 0)
    #expect(pipe.next() == nil)
    for byte in [3, 1, 2] as [UInt8] { pipe.wake(byte) }
    #expect([pipe.next(), pipe.next(), pipe.next(), pipe.next()] == [3, 1, 2, nil])
    // The bytes are more than a pipe holds. Writes to a full pipe fail without an effect.
    for _ in 0..<100_000 { pipe.wake() }
    pipe.drain()
    #expect(pipe.next() == nil)
    #expect(fcntl(pipe.readEnd, F_GETFD) & FD_CLOEXEC != 0)
  }

  /// Without a descriptor, the pipe wakes nothing, and nothing traps.
  @Test func aPipeWithoutDescriptors() async {
    await #expect(processExitsWith: .success) {
      var limit = rlimit(rlim_cur: 0, rlim_max: 0)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let pipe = WakePipe()
      pipe.wake()
      pipe.drain()
      let receiver = Signals.receive([SIGUSR1]) { _ in }
      receiver.cancel()
      exit(pipe.readEnd == -1 && pipe.next() == nil ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test func aSignalIsReceivedOnce() async {
    await #expect(processExitsWith: .success) {
      let (stream, signals) = AsyncStream<Int32>.makeStream()
      let receiver = Signals.receive([SIGUSR1, SIGUSR2]) { signals.yield($0) }
      kill(getpid(), SIGUSR1)
      kill(getpid(), SIGUSR2)
      var found: Set<Int32> = []
      for await number in stream where found.insert(number).inserted && found.count == 2 { break }
      receiver.cancel()
      exit(found == [SIGUSR1, SIGUSR2] ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test func aSecondSignalAtOnceBelongsToTheFirst() {
    var signal = FirstSignal()
    #expect(signal.hasCome == false)
    #expect(signal.isSecond() == false)
    #expect(signal.hasCome)
    #expect(signal.isSecond() == false)
  }

  @Test(arguments: [(107, true), (108, false), (0, true)]) func pathsOfSockets(
    _ length: Int, _ fits: Bool
  ) {
    let path = String(repeating: "x", count: length)
    let found = withUnixAddress(path) { address, size in
      (Int32(address.pointee.sa_family), Int(size))
    }
    #expect((found != nil) == fits)
    #expect(found.map { $0.0 } == (fits ? AF_UNIX : nil))
    #expect(found.map { $0.1 } == (fits ? length + 3 : nil))
  }

  @Test func aWatchCallsBackWhileADescriptorIsReadable() async {
    let pipe = WakePipe()
    let (stream, events) = AsyncStream<UInt8?>.makeStream()
    let watch = DescriptorWatch(dup(pipe.readEnd), label: "a test") {
      events.yield(pipe.next())
      return true
    } ended: {
      events.finish()
    }
    pipe.wake(9)
    var found: [UInt8] = []
    for await byte in stream {
      if let byte { found.append(byte) }
      if found.count == 1 { watch.cancel() }
    }
    #expect(found == [9])
  }
}
