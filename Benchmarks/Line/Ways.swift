// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Glibc
import Synchronization
import System
import SystemPackage
import UWBLink

/// A path of a frame from the line to its estimate. Each path has its own pseudo-terminal.
protocol Way: AnyObject {
  /// The chip's end of the line.
  var chip: Int32 { get }
  /// The number of frames that have arrived.
  var count: Int { get }
  /// The arrival times of the frames by sequence number.
  var arrived: Samples { get }
  /// Ends the threads and closes the line.
  func stop()
}

/// The least possible path: a thread in C that waits for a frame and reads its fields, without an
/// estimate.
final class FloorWay: Way {
  let chip: Int32
  let arrived: Samples
  private let reader: OpaquePointer

  init(_ wait: cuwb_reference_wait, capacity: Int) {
    let line = openLine()
    chip = line.chip
    arrived = Samples(capacity)
    reader = cuwb_reference_reader_start(line.host, wait, arrived.values.baseAddress!, capacity)
  }

  var count: Int { cuwb_reference_reader_count(reader) }

  func stop() {
    close(chip)
    cuwb_reference_reader_join(reader)
  }
}

/// A path through `FrameReader` with a handler.
class ReaderWay: Way {
  let chip: Int32
  let destination: Destination
  let reader: FrameReader

  init(
    capacity: Int, destination: Destination? = nil,
    _ makeHandler: (Destination) -> FrameReader.Handler
  ) {
    let line = openLine()
    chip = line.chip
    let destination = destination ?? Destination(capacity: capacity)
    self.destination = destination
    guard let link = try? Link(.descriptor(FileDescriptor(rawValue: line.host))) else {
      fatalError("the link to a pseudo-terminal could not be opened")
    }
    reader = FrameReader(link, handler: makeHandler(destination), ended: { _ in })
    do { try reader.start() } catch { fatalError("\(error)") }
  }

  var count: Int { destination.count.load(ordering: .acquiring) }
  var arrived: Samples { destination.arrived }

  func stop() {
    reader.stop()
    reader.stopped.waitBlocking()
    close(chip)
  }
}

/// A path that does all work in the handler, on the reader's thread.
final class HandlerWay: ReaderWay {
  init(capacity: Int) {
    super.init(capacity: capacity) { destination in
      { bytes, info in
        destination.take(bytes, receivedAt: info.receivedAt, enteredAt: cuwb_test_now())
      }
    }
  }
}

/// A path through a ring to a thread that sleeps until there is a frame.
final class ThreadWay: ReaderWay {
  private let ring: RingWork
  private var consumer: BackgroundThread?

  init(capacity: Int) {
    let ring = RingWork(capacity: 128)
    self.ring = ring
    super.init(capacity: capacity) { _ in ring.offering() }
    let destination = destination
    consumer = BackgroundThread {
      while ring.consumer.pointer.pointee.wait() == .ready {
        while ring.consumer.pointer.pointee.take({ bytes, info in
          destination.take(bytes, receivedAt: info.receivedAt)
        }) != nil {}
      }
    }
  }

  override func stop() {
    super.stop()
    ring.producer.pointer.pointee.finish()
    consumer?.join()
    ring.destroy()
  }
}

/// A path through a ring to a task, on the reader's thread or on the global executor.
///
/// The driver's sequence of measurements could be a third path here: a `ReaderWay` with the
/// driver's handler, and a task that awaits the sequence and calls `destination.take`.
final class TaskWay: ReaderWay {
  private let ring: RingWork
  private var ended: FileDescriptor

  init(capacity: Int, onReader: Bool) {
    let ring = RingWork(capacity: 128)
    self.ring = ring
    guard let pipe = try? FileDescriptor.pipe() else { fatalError("no pipe could be made") }
    ended = pipe.readEnd
    super.init(capacity: capacity) { _ in ring.offering() }
    let destination = destination
    let executor: (any TaskExecutor)? = onReader ? reader : nil
    Task.detached(executorPreference: executor) {
      while await ring.consumer.pointer.pointee.waitAsync() == .ready {
        while ring.consumer.pointer.pointee.take({ bytes, info in
          destination.take(bytes, receivedAt: info.receivedAt)
        }) != nil {}
      }
      try? pipe.writeEnd.close()
    }
  }

  override func stop() {
    super.stop()
    ring.producer.pointer.pointee.finish()
    // The task has ended when the pipe is closed.
    var byte: [UInt8] = [0]
    _ = byte.withUnsafeMutableBytes { try? ended.read(into: $0) }
    try? ended.close()
    ring.destroy()
  }
}

extension RingWork {
  /// Returns a handler that puts each frame into this ring.
  func offering() -> FrameReader.Handler {
    let producer = producer
    return { bytes, info in
      producer.pointer.pointee.offer(bytes, receivedAt: info.receivedAt, mayBeDropped: true)
    }
  }
}

/// Opens a raw pseudo-terminal.
func openLine() -> (chip: Int32, host: Int32) {
  var line: (chip: Int32, host: Int32) = (0, 0)
  guard cuwb_test_open_line(&line.chip, &line.host) else {
    fatalError("no pseudo-terminal could be opened (error \(errno))")
  }
  return line
}
