// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Another program that has a path open.
package struct HolderProcess {
  /// Its process id.
  package let pid: Int32

  /// What `/proc` calls it.
  package static let name = "sleep"

  /// nil where there is no such program.
  package init?(holding path: String) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 3, path, O_RDWR | O_NOCTTY, 0)
    let arguments: [UnsafeMutablePointer<CChar>?] = [strdup(Self.name), strdup("600"), nil]
    defer { for argument in arguments { free(argument) } }
    var pid: pid_t = 0
    // Returns once the program runs, and so after the path has been opened.
    guard posix_spawnp(&pid, Self.name, &actions, nil, arguments, nil) == 0 else { return nil }
    self.pid = pid
  }

  /// Ends it.
  package func end() {
    kill(pid, SIGKILL)
    waitpid(pid, nil, 0)
  }
}
