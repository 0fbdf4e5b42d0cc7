// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
package import SystemPackage

/// Detects with inotify when paths are created, or change their permissions.
///
/// If the folder of a path does not exist, the nearest existing folder above it is watched. For
/// example, `/dev/serial/by-id` exists only while there are devices.
package final class PathWatch: @unchecked Sendable {
  // Safe because the descriptors do not change, and the kernel allows any thread to use them.

  private let paths: [FilePath]
  private let events: Int32
  private let interruption = WakePipe()

  package convenience init(_ paths: [FilePath]) {
    self.init(paths, inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)))
  }

  /// Creates a watch.
  ///
  /// - Parameter events: The inotify descriptor; -1 if the kernel has none left. Each later call
  ///   then fails, and `wait` only sleeps.
  init(_ paths: [FilePath], _ events: Int32) {
    (self.paths, self.events) = (paths, events)
    look()
  }

  deinit {
    if events >= 0 { close(events) }
  }

  /// The longest wait in milliseconds when the kernel has no inotify instance or watch left. By
  /// default, a user has 128 instances.
  private static let blindPause: Int32 = 1_000

  /// Waits for a change since the last call, the end of `milliseconds` (-1: no limit), or the
  /// task's cancellation.
  package func wait(milliseconds: Int32) async {
    await withTaskCancellationHandler {
      do {
        try await runBlocking { [self] in poll(milliseconds) }
      } catch {
        // If the system has no thread for the wait, only time passes.
        try? await Task.sleep(
          for: .milliseconds(milliseconds < 0 ? Self.blindPause : milliseconds))
      }
    } onCancel: {
      interruption.wake()
    }
  }

  private func poll(_ milliseconds: Int32) {
    var polled = [
      pollfd(fd: events, events: Int16(POLLIN), revents: 0),
      pollfd(fd: interruption.readEnd, events: Int16(POLLIN), revents: 0),
    ]
    // If a path is not watched, no event would report its change.
    let isBlind = !look() && !(0...Self.blindPause ~= milliseconds)
    unsafe _ = Glibc.poll(&polled, 2, isBlind ? Self.blindPause : milliseconds)
    var drained = [UInt8](repeating: 0, count: 4_096)
    while unsafe read(events, &drained, drained.count) > 0 {}
    // The paths are watched before the caller checks them, so that later changes are reported.
    look()
  }

  /// Watches the paths.
  ///
  /// - Returns: Whether all paths are watched.
  @discardableResult
  private func look() -> Bool {
    paths.allSatisfy { path in
      var watched: FilePath?
      // A folder may be created while its parents are tried.
      while let folder = watchNearest(to: path) {
        if folder == watched { return true }
        watched = folder
      }
      return false
    }
  }

  /// Watches the folder of a path, or the nearest existing folder above it.
  private func watchNearest(to path: FilePath) -> FilePath? {
    var folder = path.removingLastComponent()
    while true {
      if unsafe inotify_add_watch(
        events, folder.isEmpty ? "." : folder.string,
        UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB)) >= 0
      {
        return folder
      }
      guard [ENOENT, ENOTDIR].contains(errno), !folder.components.isEmpty else { return nil }
      folder.removeLastComponent()
    }
  }
}
