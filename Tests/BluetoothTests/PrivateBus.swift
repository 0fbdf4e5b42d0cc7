// SPDX-License-Identifier: Apache-2.0
import Bluetooth
import Foundation
import System
import Testing
import UWBTestSupport

/// A message bus of the test's own: the real dbus-daemon at a socket in a temporary folder.
final class PrivateBus: Sendable {
  static let program = ["/usr/bin/dbus-daemon", "/bin/dbus-daemon", "/usr/local/bin/dbus-daemon"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  let address: String
  private let folder: URL
  private let process = Locked<SpawnedProcess?>(nil)

  /// - Parameter policy: rules in addition to the default, which permits everything to all users.
  init(policy: String = "") async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "bus-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let configuration = folder.appending(path: "bus.conf")
    try """
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
      "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig>
      <listen>unix:path=\(folder.path)/socket</listen>
      <policy context="default">
        <allow send_destination="*" eavesdrop="true"/>
        <allow receive_sender="*"/>
        <allow own="*"/>
        <allow user="*"/>
        \(policy)
      </policy>
    </busconfig>
    """.write(to: configuration, atomically: true, encoding: .utf8)
    address = "unix:path=\(folder.path)/socket"
    try await start()
  }

  /// Starts the daemon, also after `kill()`, and waits until it listens.
  func start() async throws {
    let output = Pipe()
    // The daemon warns that the limit of descriptors is lower than requested.
    let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(nowhere) }
    let process = try SpawnedProcess(
      try #require(Self.program),
      ["--nofork", "--nopidfile", "--config-file=\(folder.path)/bus.conf", "--print-address=1"],
      standardOutput: output.fileHandleForWriting.fileDescriptor, standardError: nowhere)
    try output.fileHandleForWriting.close()
    self.process.withLock { $0 = process }
    // The daemon listens when it has printed its address.
    let line = await withCheckedContinuation { continuation in
      Thread.detachNewThread { [output = output.fileHandleForReading] in
        var line = ""
        while !line.hasSuffix("\n"), case let data = output.availableData, !data.isEmpty {
          line += String(decoding: data, as: UTF8.self)
        }
        continuation.resume(returning: line)
      }
    }
    try #require(line.hasPrefix(address), "dbus-daemon does not run")
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Ends the bus; all its connections are lost.
  func kill() {
    guard let process = process.withLock({ $0.take() }) else { return }
    process.send(SIGKILL)
  }
}

extension Trait where Self == ConditionTrait {
  /// A trait of tests that need the message bus's daemon.
  static var bus: Self {
    .enabled(if: PrivateBus.program != nil, "dbus-daemon is not installed")
  }
}
