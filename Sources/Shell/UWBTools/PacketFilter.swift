// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import CommandSupport
import Formats
package import UCI
import UCIReference
import UWB

package struct PacketFilter: ParsableArguments {
  package static let words =
    "core, session, ranging, data, test, vendor, command, response, notification, or a message's "
    + "name (SESSION_INFO, CORE_*_NTF)"

  @Option(help: "Show only these packets, separated by commas: \(words).") var only: String?
  @Option(help: "Hide these packets.") package var not: String?

  package init() {}

  package func validate() throws {
    for token in Self.tokens(only) + Self.tokens(not) where !token.isKnown {
      throw ValidationError(
        "'\(printable(token.text))' is neither a group nor a message name."
          + nearest(to: token.text, in: Token.groups.map(\.name) + Token.allNames))
    }
  }

  /// Reports whether the filter shows a packet with this name.
  package func shows(_ header: PacketHeader, name: String) -> Bool {
    let only = Self.tokens(only)
    guard only.isEmpty || only.contains(where: { $0.fits(header, name) }) else { return false }
    return !Self.tokens(not).contains { $0.fits(header, name) }
  }

  private static func tokens(_ list: String?) -> [Token] {
    (list ?? "").split(separator: ",").map { Token(text: String($0)) }
  }

  /// A group, or a name with `*` as a wildcard.
  struct Token {
    let text: String
    let name: String

    init(text: String) {
      self.text = text
      name = text.uppercased().split { $0 == " " || $0 == "-" }.joined(separator: "_")
    }

    typealias Group = (name: String, contains: @Sendable (PacketHeader) -> Bool)

    static let groups: [Group] = [
      ("core", { $0.type.isControl && $0.group == .core }),
      ("session", { $0.type.isControl && $0.group == .sessionConfig }),
      ("ranging", { $0.type.isControl && $0.group == .sessionControl }),
      ("data", { $0.type == .data }),
      ("test", { $0.type.isControl && $0.group == .test }),
      ("vendor", { $0.type.isControl && $0.group.isVendor }),
      ("command", { $0.type == .command }),
      ("response", { $0.type == .response }),
      ("notification", { $0.type == .notification }),
    ]

    private var group: Group? { Self.groups.first { $0.name == name.lowercased() } }

    var isKnown: Bool { group != nil || Self.allNames.contains { Self.fits(name, $0) } }

    func fits(_ header: PacketHeader, _ message: String) -> Bool {
      group?.contains(header) ?? Self.fits(name, message)
    }

    /// Reports whether a pattern matches the whole name, or the name without its suffix.
    private static func fits(_ pattern: String, _ name: String) -> Bool {
      guard pattern.contains("*") else { return name == pattern || name.hasPrefix(pattern + "_") }
      let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
      guard let first = parts.first, let last = parts.last, name.hasPrefix(first),
        name.hasSuffix(last), first.count + last.count <= name.count
      else { return false }
      var rest = name.dropFirst(first.count).dropLast(last.count)
      for part in parts.dropFirst().dropLast() where !part.isEmpty {
        guard let range = rest.firstRange(of: part) else { return false }
        rest = rest[range.upperBound...]
      }
      return true
    }

    static let allNames: [String] = {
      let dialects = [Dialect.Vendor.unknown, .qorvo, .nxp].map { Dialect(vendor: $0) }
      let names = [MessageType.data, .command, .response, .notification].flatMap { type in
        (0..<1024).flatMap { number in
          let opcode = Opcode(GroupID(rawValue: UInt8(number / 64)), UInt8(number % 64))
          return dialects.map { MessageCatalog.name(type: type, opcode: opcode, dialect: $0) }
        }
      }
      return Set(names).sorted()
    }()
  }
}
