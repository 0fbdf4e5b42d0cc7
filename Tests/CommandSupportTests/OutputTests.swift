// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Testing

@Suite struct OutputTests {
  // MARK: lines

  @Test(arguments: [
    ("one two three", 20, "one two three"), ("one two three", 8, "one two\n  three"),
    ("one two three", 5, "one\n  two\n  three"), ("/a/long/path and", 6, "/a/long/path\n  and"),
    ("", 10, ""), ("a  b", 10, "a  b"),
  ])
  func linesAreWrappedAtSpaces(_ line: String, _ width: Int, _ wrapped: String) {
    #expect(line.wrapped(to: width, indent: 2) == wrapped)
  }

  @Test func indentedLinesKeepTheirIndentation() {
    #expect("    one two three".wrapped(to: 11, indent: 4) == "    one two\n    three")
  }

  @Test(arguments: 1...40) func noLineIsWiderUnlessAWordIs(_ width: Int) {
    let text = "The chip at /dev/ttyACM0 does not respond: no answer after its reset."
    let lines = text.wrapped(to: width, indent: 2).split(separator: "\n")
    for line in lines {
      let words = line.split(separator: " ")
      #expect(line.count <= width || words.count == 1, "\(line)")
    }
    #expect(lines.flatMap { $0.split(separator: " ") } == text.split(separator: " "))
  }

  @Test func bytesAreNumbers() {
    #expect(hexNumber(0) == "0x00" && hexNumber(0xAB) == "0xAB")
  }

  @Test func messagesCannotControlATerminal() {
    let text = message("bad \u{1B}[2J", try: "good\u{9B}")
    #expect(text.contains(#"bad \u{1b}[2J"#) && text.contains("\n  try: good"))
    #expect(!text.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x9B })
    #expect(advice("Look.") == "  try: Look.\n")
  }

  @Test func nearNamesAreListed() {
    #expect(nearest(to: "CHANEL", in: ["CHANNEL", "SLOT"]) == " Nearest: CHANNEL.")
    #expect(nearest(to: "xyzzy", in: ["CHANNEL"]) == "")
  }

  // MARK: help

  private struct Root: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "root", abstract: "A program.", subcommands: [Leaf.self])
  }

  private struct Leaf: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "A command with many options.")
    @Option(help: "The first of them.") var first: String?
    @Option(help: "The second of them.") var second: String?
    @Option(help: "The third of them.") var third: String?
    @Argument(help: "A file.") var file: String
  }

  @Test(arguments: [40, 60, 100]) func usageIsWrappedBetweenOptions(_ columns: Int) throws {
    let error = try #require(
      #expect(throws: (any Error).self) {
        var command = try Root.parseAsRoot(["leaf", "--help"])
        try command.run()
      })
    let text = Program.text(for: error, of: Root.self, columns: columns, isHelp: true)
    let usage = text.split(separator: "\n").drop { !$0.hasPrefix("USAGE:") }
      .prefix { $0.hasPrefix("USAGE:") || $0.hasPrefix("         ") }
    #expect(usage.allSatisfy { $0.count <= columns }, "\(text)")
    let words = usage.joined(separator: " ").split(separator: " ").joined(separator: " ")
    #expect(words.contains("[--first <first>] [--second <second>] [--third <third>] <file>"))
  }

  @Test func errorsDoNotControlTheTerminal() {
    let error = ValidationError("There is no '\u{1B}[2J\u{9B}x'.")
    let text = Program.text(for: error, of: Root.self, columns: 80, isHelp: false)
    #expect(text.contains(#"'\u{1b}[2J\u{9b}x'"#) && !text.contains("\u{1B}"))
  }

  @Test func theVersionNamesTheProgram() {
    let text = Program.versionText(of: "uwbctl")
    #expect(text.hasPrefix("uwbctl \(Program.version)") && text.contains("Apache-2.0"))
  }
}
