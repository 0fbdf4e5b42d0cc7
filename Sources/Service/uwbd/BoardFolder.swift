// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import SystemPackage
import UWBLink

/// The boards that udev names in /dev/uwb (60-uwb.rules).
struct BoardFolder: Sendable {
  let path: String

  init(_ path: String = "/dev/uwb") { self.path = path }

  /// The paths of the serial ports of boards. Debug probes are left out, because they may serve
  /// other hardware. Blocks.
  var boards: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.sorted().map { "\(path)/\($0)" }.filter { board in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: board)
      return ["qorvo-", "nxp-"].contains { board.hasPrefix("\(path)/\($0)") }
        && target?.split(separator: "/").last?.hasPrefix("tty") == true
    }
  }

  /// Calls `body` with the boards now and after each change, until the task is cancelled.
  func watch(_ body: @Sendable ([String]) async -> Void) async {
    guard let watch = try? await runBlocking({ PathWatch([FilePath("\(path)/qorvo")]) }) else {
      return
    }
    var before: [String]?
    while !Task.isCancelled {
      let boards = try? await runBlocking { self.boards }
      if let boards, boards != before {
        before = boards
        await body(boards)
      }
      await watch.wait(milliseconds: -1)
    }
  }
}
