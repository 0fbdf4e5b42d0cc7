// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
package import SystemPackage

/// Notices when paths are created, or change their permissions, with inotify.
///
/// For a path whose folder does not exist either (`/dev/serial/by-id` exists only while there are
/// devices), the nearest folder above is watched.
package final class PathWatch: @unchecked Sendable {
  // Safe because the descriptors do not change, and the kernel lets any thread use them.

  private let paths: [FilePath]
  private let events: Int32
  private let interruption = WakePipe()

  package convenience init(_ paths: [FilePath]) {
    self.init(paths, inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)))
  }

  /// - Parameter events: -1 where the kernel has none left: then every call below fails, and only time
  ///   passes.
  init(_ paths: [FilePath], _ events: Int32) {
    (self.paths, self.events) = (paths, events)
    look()
  }

  deinit {
    if events >= 0 { close(events) }
  }

  /// How long callers wait at most before they look again where the kernel has no instance (128 for a
  /// user, by default) or no watch left, in milliseconds.
  private static let blindPause: Int32 = 1_000

  /// Waits for a change, which may have happened since the last call; at most `milliseconds` (-1: no
  /// limit), or until the task is cancelled.
  package func wait(milliseconds: Int32) async {
    await withTaskCancellationHandler {
      do {
        try await runBlocking { [self] in poll(milliseconds) }
      } catch {
        // Without a thread only time passes.
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
    // Nothing would tell of a change.
    let isBlind = !look() && !(0...Self.blindPause ~= milliseconds)
    unsafe _ = Glibc.poll(&polled, 2, isBlind ? Self.blindPause : milliseconds)
    var drained = [UInt8](repeating: 0, count: 4_096)
    while unsafe read(events, &drained, drained.count) > 0 {}
    // Before the caller sees what there is now: what is created later is told.
    look()
  }

  /// - Returns: whether all paths are watched.
  @discardableResult
  private func look() -> Bool {
    paths.allSatisfy { path in
      var watched: FilePath?
      // A folder may be created while those above it are tried.
      while let folder = watchNearest(to: path) {
        if folder == watched { return true }
        watched = folder
      }
      return false
    }
  }

  /// Watches the folder of a path, or the nearest one above it that is there.
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
