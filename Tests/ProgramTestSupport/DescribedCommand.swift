// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Foundation

/// The argument parser's description of a command.
package struct DescribedCommand: Decodable, Sendable {
  package struct Argument: Decodable, Sendable {
    var kind: String
    var abstract: String?
    var valueName: String?
    var shouldDisplay: Bool
    package var preferredName: Name?
    package struct Name: Decodable, Sendable { package var name: String }
  }
  package var commandName: String
  var abstract: String?
  package var arguments: [Argument]?
  var subcommands: [DescribedCommand]?

  /// The command and all commands below it, with their paths.
  private func all(_ path: [String] = []) -> [(path: [String], command: DescribedCommand)] {
    let here = path + [commandName]
    return [(here, self)] + (subcommands ?? []).flatMap { $0.all(here) }
  }

  private struct Dump: Decodable { var command: DescribedCommand }

  /// The commands of a program, with their paths.
  package static func all(
    of root: any ParsableCommand.Type
  ) -> [(path: [String], command: DescribedCommand)] {
    let dump = try? JSONDecoder().decode(Dump.self, from: Data(root._dumpHelp().utf8))
    return (dump?.command.all() ?? []).filter { $0.command.commandName != "help" }
  }

  /// The names of arguments without help; the command itself if it has none.
  package var withoutHelp: [String] {
    (abstract?.isEmpty == false ? [] : [commandName])
      + (arguments ?? []).filter { $0.shouldDisplay && $0.abstract?.isEmpty != false }
      .map { $0.preferredName?.name ?? $0.valueName ?? "?" }
  }
}
