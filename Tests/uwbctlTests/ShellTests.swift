// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import ProgramTestSupport
import Testing
import UWBTestSupport
import UWBTools
import uwbctl

/// The sources of completions and manual pages.
@Suite(.ownThreads) struct ShellTests {
  static let commands = DescribedCommand.all(of: Uwbctl.self)

  @Test func allCommandsAndOptionsHaveHelp() {
    #expect(Self.commands.count > 20)
    for (path, command) in Self.commands {
      #expect(command.withoutHelp.isEmpty, "\(path.joined(separator: " "))")
    }
  }

  /// The script of each shell, made once.
  private static let scripts: [String: String] = [CompletionShell.bash, .zsh, .fish]
    .reduce(into: [:]) { $0[$1.rawValue] = Uwbctl.completionScript(for: $1) }

  @Test(arguments: ["bash", "zsh", "fish"])
  func completionKnowsEveryCommand(_ shell: String) throws {
    let script = try #require(Self.scripts[shell])
    for (path, _) in Self.commands { #expect(script.contains(path.last ?? ""), "\(path)") }
    // Devices are looked up at the time of completion.
    #expect(script.contains("---completion"))
  }

  /// The shells that are installed on this machine.
  private static let installed = ["bash", "zsh", "fish"].flatMap { name in
    ["/usr/bin/\(name)", "/bin/\(name)"].filter(FileManager.default.isExecutableFile).prefix(1)
  }

  @Test(.enabled(if: !installed.isEmpty), .timeLimit(.minutes(10)), arguments: installed)
  func shellsAcceptTheirCompletionScripts(_ path: String) throws {
    let name = try #require(path.split(separator: "/").last.map(String.init))
    let file = "/tmp/uwbctl-test-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: file) }
    try #require(Self.scripts[name]).write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try SpawnedProcess(path, ["-n", file]).terminationStatus == 0)
  }
}
