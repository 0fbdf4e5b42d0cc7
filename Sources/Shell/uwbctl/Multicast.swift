// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Dispatch
import Formats
import FoundationEssentials
import Glibc
import SystemPackage
import UCI
import UWB
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
      guard !found.isEmpty else { throw noSession }
      print(found.map(\.about), target.format)
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

private let noSession = Failure(
  .unavailable, "No such session is running.",
  try:
    "Start uwbctl range as controller in another terminal, as the same user; uwbctl multicast list "
    + "shows running sessions.")

private func change(
  _ action: ControlRequest.Action, _ addresses: [ShortAddress], _ target: Multicast.Target
) throws {
  let found = target.found
  guard let entry = found.first else { throw noSession }
  guard found.count == 1 else {
    note("Several sessions are running.")
    for entry in found { standardError.write("  \(summary(entry.about))\n") }
    throw Failure(.usage, try: "Select one with --device, --session or --pid.")
  }
  let request = ControlRequest(action: action, addresses: addresses.map(\.value))
  guard let reply = try? RunningRanges.ask(request, at: entry.path) else { throw noSession }
  if let error = reply.error {
    throw Failure(.configuration, error, try: reply.suggestion)
  }
  print([reply], target.format)
  guard reply.outcomes.allSatisfy({ $0.code == 0 }) else { throw Failure(.configuration) }
}

private func summary(_ reply: ControlReply) -> String {
  "session \(reply.session) on \(reply.device) (process \(reply.pid)) with "
    + reply.controlees.map { MACAddress($0).description }.joined(separator: ", ")
}

private func print(_ replies: [ControlReply], _ format: OutputFormat) {
  format.print(replies, ControlReply.json("list")) { reply in
    reply.outcomes.map { "\(MACAddress($0.address))  \($0.status) (\($0.code))\n" }.joined()
      + summary(reply) + "\n"
  }
}

extension ControlReply {
  static func json(_ action: String) -> JSONTable<ControlReply> {
    JSONTable("multicast \(action)", each: "running session") {
      $0.key("pid", "process id of range") { $0.pid }
      $0.key("device", "as given to range") { $0.device }
      $0.key("session", "session id") { $0.session }
      $0.key("controlees", "addresses of the controlees") {
        $0.controlees.map { MACAddress($0).description }
      }
      $0.list("outcomes", "result for each address", of: \.outcomes) {
        $0.key("address?", "address") { MACAddress($0.address).description }
        $0.key("status?", "status name") { $0.status }
        $0.key("status_code?", "status number, 0 is OK") { $0.code }
      }
    }
  }
}
