// SPDX-License-Identifier: Apache-2.0

import CUWB
import Glibc
import LineSimulation
import Testing

private let ready: [UInt8] = [0x60, 0x01, 0x00, 0x01, 0x01]
private let response: [UInt8] = [0x40, 0x00, 0x00, 0x01, 0x00]

@Suite("Link: reading", .timeLimit(.minutes(10)))
struct ReadingTests {
  @Test("Whole frames, in order, each with the time it was read")
  func wholeFrames() throws {
    let (link, peer) = try socketPair()
    var wire = Wire(seed: 1)
    let sent = wire.frames(atLeast: 100)
    let before = cuwb_monotonic_ns()
    peer.send(Array(sent.joined()))
    for frame in sent {
      let read = link.read()
      #expect(read.result == .ok)
      #expect(read.bytes == frame)
      #expect(read.frame.received_ns >= before && read.frame.received_ns <= cuwb_monotonic_ns())
    }
    #expect(link.read(timeout: 0).result == .timeout)
    let stats = link.stats
    #expect(stats.frames_read == UInt64(sent.count))
    #expect(stats.bytes_read == UInt64(sent.joined().count))
    #expect(stats.reads > 0 && stats.reads < stats.frames_read)
    #expect(stats.bytes_skipped == 0)
    #expect(stats.resynchronisations == 0)
  }

  @Test("Frames that arrive while the reader waits are read")
  func waitingReader() throws {
    let (link, peer) = try socketPair()
    var wire = Wire(seed: 2)
    let sent = wire.frames(atLeast: 200)
    let worker = Worker { for frame in sent { peer.send(frame) } }
    for frame in sent { #expect(link.read().bytes == frame) }
    worker.wait()
  }

  @Test("Without a whole frame a read ends with a timeout")
  func timeout() throws {
    let (link, peer) = try socketPair()
    #expect(link.read(timeout: 0).result == .timeout)
    peer.send([0x60, 0x01])
    #expect(link.read(timeout: 0).result == .timeout)
    #expect(link.read(timeout: 5).result == .timeout)
  }

  @Test("A frame that is too long for the memory is kept, and its length reported")
  func tooLong() throws {
    let (link, peer) = try socketPair()
    peer.send(ready + response)
    for _ in 0..<2 {
      let read = link.read(capacity: 4)
      #expect(read.result == .tooLong)
      #expect(read.frame.length == 5)
    }
    #expect(link.read(capacity: 5).bytes == ready)
    #expect(link.read(capacity: 5).bytes == response)
    #expect(link.stats.frames_read == 2)
  }

  @Test("Framing can be replaced between two reads")
  func framing() throws {
    let (link, peer) = try socketPair()
    var framing = cuwb_link_get_framing(link.link)
    #expect(framing.message_types == 0b1101)
    framing.extended_length = true
    framing.longest_frame = 4_000
    cuwb_link_set_framing(link.link, framing)
    #expect(cuwb_link_get_framing(link.link).longest_frame == 4_000)
    let frame: [UInt8] = [0x79, 0x8A, 0x00, 0x08] + Array(repeating: 0xFF, count: 2_048)
    peer.send(frame)
    #expect(link.read().bytes == frame)
  }

  @Test("Bytes that belong to no frame are counted")
  func skipped() throws {
    let (link, peer) = try socketPair()
    peer.send([0xFF, 0xFE, 0xFF] + ready + response)
    let read = link.read()
    #expect(read.bytes == ready)
    #expect(read.frame.skipped == 3)
    #expect(link.stats.bytes_skipped == 3)
  }
}

@Suite("Link: waking", .timeLimit(.minutes(10)))
struct WakingTests {
  @Test("A wake ends a read that waits")
  func wakesWaitingRead() throws {
    let (link, peer) = try socketPair()
    for _ in 0..<200 {
      let worker = Worker { link.wake() }
      #expect(link.read(timeout: -1).result == .woken)
      worker.wait()
    }
    #expect(link.read(timeout: 0).result == .timeout)
    peer.send(ready + response)
    #expect(link.read().bytes == ready)
  }

  @Test("A wake before a read ends the next one, once, before any frame")
  func wakesNextRead() throws {
    let (link, peer) = try socketPair()
    peer.send(ready + response)
    #expect(link.read().bytes == ready)
    link.wake()
    link.wake()
    #expect(link.read().result == .woken)
    #expect(link.read().bytes == response)
    #expect(link.read(timeout: 0).result == .timeout)
  }

  @Test("A line that is never silent does not keep a wake from being seen")
  func busyLine() throws {
    let (link, peer) = try socketPair()
    let worker = Worker {
      let noise = [UInt8](repeating: 0xFF, count: 4_096)
      while send(peer.descriptor, noise, noise.count, Int32(MSG_NOSIGNAL)) > 0 {}
    }
    let waker = Worker { link.wake() }
    #expect(link.read(timeout: -1).result == .woken)
    waker.wait()
    // A read with a time limit of 0 ends as well.
    #expect(link.read(timeout: 0).result == .timeout)
    shutdown(peer.descriptor, Int32(SHUT_RDWR))
    worker.wait()
  }
}

@Suite("Link: ending", .timeLimit(.minutes(10)))
struct EndTests {
  @Test("Frames that were sent before the end are delivered first", arguments: [true, false])
  func socketEnd(whole: Bool) throws {
    let (link, peer) = try socketPair()
    peer.send(ready + response + (whole ? ready : Array(ready.dropLast())))
    peer.close()
    #expect(link.read().bytes == ready)
    #expect(link.read().bytes == response)
    if whole { #expect(link.read().bytes == ready) }
    #expect(link.read().result == .closed)
    #expect(link.read(timeout: 0).result == .closed)
    #expect(link.stats.bytes_skipped == (whole ? 0 : 4))
  }

  @Test("A single frame is delivered at the end, without a silence to confirm it")
  func lastFrame() throws {
    let (link, peer) = try socketPair()
    peer.send(ready)
    peer.close()
    #expect(link.read(timeout: 0).bytes == ready)
    #expect(link.read().result == .closed)
  }

  @Test("Writing to a closed socket fails without a signal")
  func socketWrite() throws {
    let (link, peer) = try socketPair()
    peer.close()
    #expect(link.write(ready) == .closed)
  }

  // The test runs in a process of its own, because the action of a signal belongs to the whole
  // process.
  @Test("Writing to a closed pipe fails without a signal")
  func pipeWrite() async {
    await #expect(processExitsWith: .success) {
      // The process that started the tests may ignore the signal.
      signal(SIGPIPE, SIG_DFL)
      let (reading, writing) = pipeEnds()
      let link = try Link(descriptor: writing)
      close(reading)
      #expect(link.write(ready) == .closed)
      #expect(link.write(ready) == .closed)
      #expect(link.stats.frames_written == 0)
    }
  }

  @Test("Reading from a closed pipe ends after its last frame")
  func pipeRead() throws {
    let (reading, writing) = pipeEnds()
    let link = try Link(descriptor: reading)
    let peer = Peer(writing)
    peer.send(ready + response)
    peer.close()
    #expect(link.read().bytes == ready)
    #expect(link.read().bytes == response)
    #expect(link.read().result == .closed)
  }

  @Test("A terminal whose other side was closed is lost")
  func terminal() throws {
    let (master, slave, path) = pseudoTerminal()
    let link = try Link(serial: path)
    slave.close()
    #expect(link.read(timeout: 0).result == .timeout)
    master.close()
    #expect(link.read().result == .gone)
    #expect(link.write(ready) == .gone)
  }

  @Test("A waiting reader notices that the terminal is lost")
  func terminalWhileWaiting() throws {
    let (master, slave, path) = pseudoTerminal()
    let link = try Link(serial: path)
    slave.close()
    let worker = Worker { master.close() }
    #expect(link.read(timeout: -1).result == .gone)
    worker.wait()
  }

  @Test("The controlling side of a terminal delivers what is left before it is lost")
  func controllingSide() throws {
    let (master, slave, path) = pseudoTerminal()
    let link = try Link(descriptor: dup(master.descriptor))
    slave.send(ready + response)
    slave.close()
    _ = path
    #expect(link.read().bytes == ready)
    #expect(link.read().bytes == response)
    #expect(link.read().result == .gone)
  }
}

@Suite("Link: writing", .timeLimit(.minutes(10)))
struct WritingTests {
  @Test("Frames arrive as they were written and are counted")
  func frames() throws {
    let (link, peer) = try socketPair()
    var wire = Wire(seed: 3)
    let sent = wire.frames(atLeast: 50)
    for frame in sent {
      #expect(link.write(frame) == .ok)
      #expect(peer.receive(frame.count) == frame)
    }
    #expect(link.stats.frames_written == UInt64(sent.count))
    #expect(link.stats.bytes_written == UInt64(sent.joined().count))
  }

  @Test("An empty frame is invalid")
  func empty() throws {
    let (link, _) = try socketPair()
    #expect(link.write([]) == .invalid)
  }

  @Test("A write that does not fit continues when there is room")
  func throughFullPipe() throws {
    let (reading, writing) = pipeEnds()
    let link = try Link(descriptor: writing)
    let peer = Peer(reading)
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let worker = Worker { #expect(peer.receive(bytes.count) == bytes) }
    #expect(link.write(bytes) == .ok)
    worker.wait()
    #expect(link.stats.bytes_written == 1_000_000)
  }

  @Test("A write that never finds room ends with a timeout")
  func timeout() throws {
    let (reading, writing) = pipeEnds()
    let link = try Link(descriptor: writing)
    let peer = Peer(reading)
    #expect(link.write([UInt8](repeating: 0, count: 1_000_000), timeout: 0) == .timeout)
    #expect(link.write(ready, timeout: 5) == .timeout)
    #expect(link.stats.frames_written == 0)
    _ = peer
  }

  @Test("One thread reads while another one writes and a third one reads the counters")
  func bothDirections() throws {
    let (link, peer) = try socketPair()
    var wire = Wire(seed: 4)
    let sent = wire.frames(atLeast: 500)
    let echo = Worker { for frame in sent { peer.send(peer.receive(frame.count)) } }
    let writer = Worker { for frame in sent { #expect(link.write(frame) == .ok) } }
    let counter = Worker { while link.stats.frames_read < 100 {} }
    for frame in sent { #expect(link.read().bytes == frame) }
    for worker in [echo, writer, counter] { worker.wait() }
  }
}
