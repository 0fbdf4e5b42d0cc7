// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing

@testable import uwbctl

/// What shells and manual pages are made from.
@Suite struct ShellTests {
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

  @Test func everythingHasASentenceForTheManual() {
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

  @Test(arguments: [("bash", CompletionShell.bash), ("zsh", .zsh), ("fish", .fish)])
  func completionKnowsEveryCommand(_ name: String, _ shell: CompletionShell) throws {
    let script = Uwbctl.completionScript(for: shell)
    for (path, _) in Self.commands { #expect(script.contains(path.last ?? ""), "\(path)") }
    // Devices are asked for when they are needed.
    #expect(script.contains("---completion"))
    guard
      let shell = ["/usr/bin/", "/bin/"].map({ $0 + name }).first(where: {
        FileManager.default.isExecutableFile(atPath: $0)
      })
    else { return }
    // The shell itself reads it without a complaint.
    let file = "/tmp/uwbctl-test-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: file) }
    try script.write(toFile: file, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(filePath: shell)
    process.arguments = ["-n", file]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }
}
