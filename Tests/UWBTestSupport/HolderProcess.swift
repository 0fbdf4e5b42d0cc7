// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Another program that has a path open.
package struct HolderProcess {
  private let process: SpawnedProcess

  /// Its process id.
  package var pid: Int32 { process.processIdentifier }

  /// The name in `/proc`.
  package static let name = "sleep"

  /// Returns nil if there is no such program.
  package init?(holding path: String) {
    let descriptor = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let process = try? SpawnedProcess(Self.name, ["600"], standardInput: descriptor)
    else { return nil }
    self.process = process
  }

  /// Ends the program.
  package func end() {
    process.send(SIGKILL)
    process.waitUntilExit()
  }
}
