// SPDX-License-Identifier: Apache-2.0

import Glibc
import Locking
import SystemPackage

/// A service that runs on a thread until it is asked to stop.
protocol Service: AnyObject, Sendable {
  /// Called before `run`.
  func allowRunning()
  /// Makes `run` return soon. Called on any thread.
  func askToStop()
  /// Serves until asked to stop.
  func run()
}

/// A dedicated thread for one service; `stop()` or releasing this ends it.
final class ServiceThread: Sendable {
  private final class Work {
    let service: any Service
    init(service: any Service) { self.service = service }
  }

  private let service: any Service
  private let thread = Locked<pthread_t?>(nil)

  init(_ service: any Service) { self.service = service }

  deinit { stop() }

  /// Does nothing if the thread is running.
  func start() {
    thread.withLock { thread in
      guard thread == nil else { return }
      service.allowRunning()
      var new = pthread_t()
      let code = pthread_create(
        &new, nil,
        { argument in
          guard let argument else { return nil }
          Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().service.run()
          return nil
        }, Unmanaged.passRetained(Work(service: service)).toOpaque())
      precondition(code == 0, "cannot create a thread: \(Errno(rawValue: code))")
      thread = new
    }
  }

  func stop() {
    thread.withLock { thread in
      guard let running = thread else { return }
      service.askToStop()
      pthread_join(running, nil)
      thread = nil
    }
  }
}

/// A pipe that wakes a thread from `poll`.
final class WakePipe: Sendable {
  private let readEnd: FileDescriptor
  private let writeEnd: FileDescriptor

  init() {
    guard let pipe = try? FileDescriptor.pipe() else {
      (readEnd, writeEnd) = (FileDescriptor(rawValue: -1), FileDescriptor(rawValue: -1))
      return
    }
    (readEnd, writeEnd) = pipe
    for end in [readEnd, writeEnd] {
      _ = fcntl(end.rawValue, F_SETFL, O_NONBLOCK)
      _ = fcntl(end.rawValue, F_SETFD, FD_CLOEXEC)
    }
  }

  deinit {
    close(readEnd.rawValue)
    close(writeEnd.rawValue)
  }

  /// False if there were no file descriptors left.
  var isOpen: Bool { readEnd.rawValue >= 0 }

  func nudge() {
    // A full pipe wakes the thread as well.
    _ = withUnsafeBytes(of: UInt8(1)) { write(writeEnd.rawValue, $0.baseAddress, 1) }
  }

  /// Waits for one of the descriptors, a wake-up, or a deadline in nanoseconds.
  func wait(_ descriptors: [pollfd], until deadline: UInt64?, now: UInt64) {
    var polled = [pollfd(fd: readEnd.rawValue, events: Int16(POLLIN), revents: 0)] + descriptors
    // Milliseconds, rounded up: otherwise the loop would spin before the deadline.
    let wait = deadline.map { due in due > now ? (due - now + 999_999) / 1_000_000 : 0 }
    poll(&polled, nfds_t(polled.count), wait.map { Int32(clamping: $0) } ?? -1)
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(readEnd.rawValue, &bytes, bytes.count) > 0 {}
  }
}
