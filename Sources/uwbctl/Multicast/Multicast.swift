// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import UCI

struct Multicast: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Add controlees to a running session, or remove them.",
    discussion: """
      The session belongs to uwbctl range, running as controller with two or more peers, in another \
      terminal of the same user. For example:
        uwbctl range --device /dev/ttyACM0 --responders 2
        uwbctl multicast add 0003 --session 42
      """,
    subcommands: [List.self, Add.self, Remove.self])

  /// Selects a running range.
  struct Target: ParsableArguments {
    @Option(
      name: .shortAndLong, help: "The device of range.",
      completion: DeviceOptions.completion)
    var device: String?
    @Option(help: "The session id of range.") var session: UInt32?
    @Option(help: "The process id of range, where device and session are ambiguous.")
    var pid: Int32?
    @Option(help: "Output format: text or json.") var format = OutputFormat.text

    var found: [RunningRanges.Entry] {
      RunningRanges().matching(device: device, session: session, pid: pid)
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the running sessions and their controlees.")
    @OptionGroup var target: Target

    func run() throws {
      try reporting {
        let found = target.found
        guard !found.isEmpty else { throw noSession }
        for entry in found { print(entry.about, target.format) }
      }
    }
  }

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Add controlees.")
    @Argument(help: "Addresses: 4 hexadecimal digits each.") var addresses: [Address]
    @OptionGroup var target: Target
    func run() throws { try reporting { try change(.add, addresses, target) } }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Remove controlees; a session without controlees stops.")
    @Argument(help: "Addresses: 4 hexadecimal digits each.") var addresses: [Address]
    @OptionGroup var target: Target
    func run() throws { try reporting { try change(.remove, addresses, target) } }
  }

  /// A short address, as `range` takes it.
  struct Address: ExpressibleByArgument {
    var value: UInt16
    init?(argument: String) {
      guard let address = MACAddress(argument), !address.isExtended else { return nil }
      value = UInt16(truncatingIfNeeded: address.value)
    }
  }
}

private let noSession = Failure(
  .unavailable, "No such session is running.",
  try:
    "Start uwbctl range as controller in another terminal, as the same user; uwbctl multicast list "
    + "shows running sessions.")

private func change(
  _ action: ControlRequest.Action, _ addresses: [Multicast.Address], _ target: Multicast.Target
) throws {
  let found = target.found
  guard let entry = found.first else { throw noSession }
  guard found.count == 1 else {
    standardError.write("uwbctl: Several sessions are running.\n")
    for entry in found { standardError.write("  \(summary(entry.about))\n") }
    throw Failure(.usage, try: "Select one with --device, --session or --pid.")
  }
  let request = ControlRequest(action: action, addresses: addresses.map(\.value))
  guard let reply = try? RunningRanges.ask(request, at: entry.path) else { throw noSession }
  if let error = reply.error {
    throw Failure(.configuration, error, try: reply.suggestion)
  }
  print(reply, target.format)
  guard reply.outcomes.allSatisfy({ $0.code == 0 }) else { throw Failure(.configuration) }
}

private func summary(_ reply: ControlReply) -> String {
  "session \(reply.session) on \(reply.device) (process \(reply.pid)) with "
    + reply.controlees.map { MACAddress($0).description }.joined(separator: ", ")
}

private func print(_ reply: ControlReply, _ format: OutputFormat) {
  guard format == .json else {
    let outcomes = reply.outcomes.map {
      "\(MACAddress($0.address))  \($0.status) (\($0.code))\n"
    }
    return standardOutput.write(outcomes.joined() + summary(reply) + "\n")
  }
  var line = JSONLine()
  line.add("pid", reply.pid)
  line.add("device", reply.device)
  line.add("session", reply.session)
  line.add("controlees", reply.controlees.map { MACAddress($0).description })
  line.add(
    "outcomes",
    reply.outcomes.map { outcome in
      var entry = JSONLine()
      entry.add("address", MACAddress(outcome.address).description)
      entry.add("status", outcome.status)
      entry.add("status_code", outcome.code)
      return entry
    })
  standardOutput.write(line.text + "\n")
}
