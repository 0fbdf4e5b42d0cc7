// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Foundation
import Glibc
import SystemPackage
import Testing
import UWB
import UWBLink

@Suite("Files that are stuck", .timeLimit(.minutes(10)))
struct StuckFileTests {
  /// More files than there are processors: none of them may block a thread that runs tasks.
  @Test("Firmware that cannot be read does not keep tasks from running")
  func firmware() async throws {
    let count = ProcessInfo.processInfo.activeProcessorCount + 2
    let files = try (0..<count).map { _ in
      let file = FileManager.default.temporaryDirectory.appending(path: "uwb-\(UUID())").path
      // Opening the pipe waits until another process writes.
      try #require(mkfifo(file, 0o600) == 0)
      return file
    }
    try await withThrowingTaskGroup { group in
      for file in files {
        group.addTask {
          let device = SRxxxEndpoint(path: "/dev/no-such-device", firmware: FilePath(file))
          let error = await #expect(throws: DriverError.self) {
            try await UWBDevice.open(.srxxx(device), options: .patient)
          }
          #expect(error?.code == .firmware)
        }
      }
      await withTaskGroup { others in
        for _ in 0..<(4 * count) {
          others.addTask { for _ in 0..<10 { await Task.yield() } }
        }
      }
      for file in files {
        try await runBlocking {
          _ = close(Glibc.open(file, O_WRONLY))
          unlink(file)
        }
      }
      try await group.waitForAll()
    }
  }
}
