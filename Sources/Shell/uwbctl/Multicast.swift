// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import UWBTools

struct Multicast: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Add controlees to a running session, or remove them.",
    discussion: """
      The session belongs to uwbctl range, running as one-to-many controller in another terminal of the \
      same user. For example:
        uwbctl range --device /dev/ttyACM0 --one-to-many
        uwbctl range --device /dev/ttyACM1 --role controlee --one-to-many --address 0002
        uwbctl multicast add 0002 --session 42
      """,
    subcommands: [List.self, Add.self, Remove.self])

  struct Target: ParsableArguments {
    @Option(
      name: .shortAndLong, help: "The device, as given to range.",
      completion: DeviceOptions.completion)
    var device: String?
    @Option(help: "The id of the session.") var session: UInt32?
    @Option(help: "The process id of range, if several have that device and session.")
    var pid: Int32?
    @Option(help: "Output format.") var format = OutputFormat.text

    var found: [RunningRanges.Entry] {
      RunningRanges().matching(device: device, session: session, pid: pid)
    }
  }

  struct List: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the running sessions and their controlees.")
    @OptionGroup var target: Target

    func execute() throws {
      let found = target.found
      print(found.map(\.about), target.format)
      let nothing = RunningRanges.noSession
      if found.isEmpty, let cause = nothing.cause { note(cause, try: nothing.suggestion) }
    }
  }

  struct Add: ReportingCommand {
    static let configuration = CommandConfiguration(abstract: "Add controlees.")
    @Argument(help: "Addresses: 4 hexadecimal digits each.") var addresses: [ShortAddress]
    @OptionGroup var target: Target
    func execute() throws { try change(.add, addresses, target) }
  }

  struct Remove: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Remove controlees; a session without controlees stops.")
    @Argument(help: "Addresses: 4 hexadecimal digits each.") var addresses: [ShortAddress]
    @OptionGroup var target: Target
    func execute() throws { try change(.remove, addresses, target) }
  }
}

private func change(
  _ call: RangeCall, _ addresses: [ShortAddress], _ target: Multicast.Target
) throws {
  let found = target.found
  guard let entry = found.first else { throw RunningRanges.noSession }
  guard found.count == 1 else {
    note("Several sessions are running.")
    for entry in found { standardError.write(lines: "  \(summary(entry.about))\n") }
    throw Failure(.usage, try: "Select one with --device, --session or --pid.")
  }
  let range = try RunningRanges.ask(call, addresses, at: entry.path)
  print([range], target.format)
  let refused = range.outcomes.filter { $0.code != 0 }
  guard let first = refused.first else { return }
  let names = refused.map(\.address).joined(separator: ", ")
  throw Failure(
    .configuration,
    "The chip did not \(call == .add ? "add" : "remove") \(names): \(first.status).",
    try: "uwbctl explain \(first.status)")
}

private func summary(_ range: RunningRange) -> String {
  "session \(range.session) on \(printable(range.device)) (process \(range.pid)) "
    + (range.controlees.isEmpty
      ? "without controlees, so that it stops"
      : "with " + printable(range.controlees.joined(separator: ", ")))
}

private func print(_ ranges: [RunningRange], _ format: OutputFormat) {
  format.print(ranges, RunningRange.json("list")) { range in
    range.outcomes.map { printable("\($0.address)  \($0.status) (\($0.code))") + "\n" }.joined()
      + summary(range) + "\n"
  }
}

extension RunningRange {
  static func json(_ action: String) -> JSONTable<RunningRange> {
    JSONTable("multicast \(action)", each: "running session") {
      $0.key("pid", "process id of range") { $0.pid }
      $0.key("device", "as given to range") { $0.device }
      $0.key("session", "session id") { $0.session }
      $0.key("controlees", "addresses of the controlees") { $0.controlees }
      $0.list("outcomes", "result for each address", of: \.outcomes) {
        $0.key("address?", "address") { $0.address }
        $0.key("status?", "status name") { $0.status }
        $0.key("status_code?", "status number, 0 is OK") { $0.code }
      }
    }
  }
}
