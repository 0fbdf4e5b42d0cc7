// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import UWBTestSupport

@testable import uwbctl

/// The sources of completions and manual pages.
@Suite(.ownThreads) struct ShellTests {
  /// A command as the argument parser describes it.
  struct Command: Decodable, Sendable {
    struct Argument: Decodable, Sendable {
      var kind: String
      var abstract: String?
      var valueName: String?
      var shouldDisplay: Bool
      var preferredName: Name?
      struct Name: Decodable, Sendable { var name: String }
    }
    var commandName: String
    var abstract: String?
    var arguments: [Argument]?
    var subcommands: [Command]?

    /// This and all below it, with the words that lead there.
    func all(_ path: [String] = []) -> [(path: [String], command: Command)] {
      let here = path + [commandName]
      return [(here, self)] + (subcommands ?? []).flatMap { $0.all(here) }
    }
  }

  private struct Dump: Decodable { var command: Command }

  static let commands: [(path: [String], command: Command)] = {
    let dump = try? JSONDecoder().decode(Dump.self, from: Data(Uwbctl._dumpHelp().utf8))
    return (dump?.command.all() ?? []).filter { $0.command.commandName != "help" }
  }()

  @Test func allCommandsAndOptionsHaveHelp() {
    #expect(Self.commands.count > 20)
    for (path, command) in Self.commands {
      let name = path.joined(separator: " ")
      #expect(command.abstract?.isEmpty == false, "\(name)")
      for argument in command.arguments ?? [] where argument.shouldDisplay {
        let what = argument.preferredName?.name ?? argument.valueName ?? "?"
        #expect(argument.abstract?.isEmpty == false, "\(name): \(what)")
      }
    }
  }

  @Test(arguments: [CompletionShell.bash, .zsh, .fish])
  func completionKnowsEveryCommand(_ shell: CompletionShell) throws {
    let script = Uwbctl.completionScript(for: shell)
    for (path, _) in Self.commands { #expect(script.contains(path.last ?? ""), "\(path)") }
    // Devices are looked up when they are completed.
    #expect(script.contains("---completion"))
  }

  /// The shells of this machine.
  private static let installed = ["bash", "zsh", "fish"].flatMap { name in
    ["/usr/bin/\(name)", "/bin/\(name)"].filter(FileManager.default.isExecutableFile).prefix(1)
  }

  @Test(.enabled(if: !installed.isEmpty), .timeLimit(.minutes(10)), arguments: installed)
  func shellsAcceptTheirCompletionScripts(_ path: String) throws {
    let name = try #require(path.split(separator: "/").last.map(String.init))
    let shell = try #require(CompletionShell(rawValue: name))
    let file = "/tmp/uwbctl-test-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: file) }
    try Uwbctl.completionScript(for: shell).write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try SpawnedProcess(path, ["-n", file]).terminationStatus == 0)
  }
}
