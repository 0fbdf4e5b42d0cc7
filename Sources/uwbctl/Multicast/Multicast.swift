// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import UCI

/// `uwbctl multicast`: controlees of a session that is ranging.
struct Multicast: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Add controlees to a session that is ranging, or remove them.",
    discussion: """
      The session is one that uwbctl range holds as controller, in another terminal of the same \
      user, with two peers or more. For example:
        uwbctl range --device /dev/ttyACM0 --responders 2
        uwbctl multicast add 0003 --session 42
      """,
    subcommands: [List.self, Add.self, Remove.self])

  /// Which range is meant.
  struct Target: ParsableArguments {
    @Option(
      name: .shortAndLong, help: "The device that range was given.",
      completion: DeviceOptions.completion)
    var device: String?
    @Option(help: "The session id that range was given.") var session: UInt32?
    @Option(help: "The process id of range, where device and session are not enough.")
    var pid: Int32?
    @Option(help: "How to print it: text or json.") var format = Format.text

    var found: [RunningRanges.Entry] {
      RunningRanges().matching(device: device, session: session, pid: pid)
    }
  }

  enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Say which sessions are ranging, and with whom.")
    @OptionGroup var target: Target

    func run() throws {
      let found = target.found
      guard !found.isEmpty else { throw nothing() }
      for entry in found { print(entry.about, target.format) }
    }
  }

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Add controlees.")
    @Argument(help: "Addresses: 4 hexadecimal digits each.") var addresses: [Address]
    @OptionGroup var target: Target
    func run() throws { try change(.add, addresses, target) }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Remove controlees. A session without any stops.")
    @Argument(help: "Addresses: 4 hexadecimal digits each.") var addresses: [Address]
    @OptionGroup var target: Target
    func run() throws { try change(.remove, addresses, target) }
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

private func nothing() -> ExitCode {
  standardError.write(
    "uwbctl: No such session is ranging.\n  try: Start uwbctl range as controller in another "
      + "terminal, as the same user; uwbctl multicast list shows what runs.\n")
  return ExitCode(ExitStatus.unavailable.rawValue)
}

private func change(
  _ action: ControlRequest.Action, _ addresses: [Multicast.Address], _ target: Multicast.Target
) throws {
  let found = target.found
  guard let entry = found.first else { throw nothing() }
  guard found.count == 1 else {
    standardError.write("uwbctl: Several sessions are ranging.\n")
    for entry in found { standardError.write("  \(summary(entry.about))\n") }
    standardError.write("  try: Say which one with --device, --session or --pid.\n")
    throw ExitCode(ExitStatus.usage.rawValue)
  }
  let request = ControlRequest(action: action, addresses: addresses.map(\.value))
  guard let reply = try? RunningRanges.ask(request, at: entry.path) else { throw nothing() }
  if let error = reply.error {
    standardError.write("uwbctl: \(error)\n")
    if let suggestion = reply.suggestion { standardError.write("  try: \(suggestion)\n") }
    throw ExitCode(ExitStatus.configuration.rawValue)
  }
  print(reply, target.format)
  guard reply.outcomes.allSatisfy({ $0.code == 0 }) else {
    throw ExitCode(ExitStatus.configuration.rawValue)
  }
}

private func summary(_ reply: ControlReply) -> String {
  "session \(reply.session) on \(reply.device) (process \(reply.pid)) with "
    + reply.controlees.map { MACAddress($0).description }.joined(separator: ", ")
}

private func print(_ reply: ControlReply, _ format: Multicast.Format) {
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
  let list = reply.controlees.map { "\"\(MACAddress($0))\"" }
  line.addRaw("controlees", "[\(list.joined(separator: ","))]")
  let outcomes = reply.outcomes.map { outcome in
    var entry = JSONLine()
    entry.add("address", MACAddress(outcome.address).description)
    entry.add("status", outcome.status)
    entry.add("status_code", outcome.code)
    return entry.text
  }
  line.addRaw("outcomes", "[\(outcomes.joined(separator: ","))]")
  standardOutput.write(line.text + "\n")
}
