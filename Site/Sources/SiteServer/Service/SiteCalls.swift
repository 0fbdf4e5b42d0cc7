// SPDX-License-Identifier: Apache-2.0

internal import UWBSite
internal import Varlink

/// Answers the calls of `org.swift-uwb.Site`.
struct SiteCalls: Sendable {
  static let interface = "org.swift-uwb.Site"
  /// The description of the interface, in the varlink language.
  static var description: String {
    String(decoding: PackageResources.org_swift_uwb_Site_varlink, as: UTF8.self)
  }

  let hub: SiteHub

  func answer(_ request: VarlinkRequest) async throws(VarlinkError) -> [UInt8] {
    switch request.method {
    case "GetInfo": return Array(hub.read { $0.info }.description.utf8)
    case "List":
      let replies = hub.read { $0.list(more: request.more) }
      for reply in replies.dropLast() { try await request.reply(reply) }
      return replies.last ?? []
    default: return try await watch(request)
    }
  }

  private func watch(_ request: VarlinkRequest) async throws(VarlinkError) -> [UInt8] {
    // The parameters were validated against the interface, so each member has its type.
    let parameters = (try? JSONValue(request.parameters)) ?? .null
    let pause = try Self.pause(parameters)
    let after = try Self.integer(parameters, "after", 0...Int(1) << 53)
    let tags = try selected(parameters["tags"])
    var run: String?
    if case .string(let text)? = parameters["run"] { run = text }
    var reader = hub.read { [run] in $0.reader(after: after, run: run, tags: tags) }
    // A call without `more` waits for a change, because the program already has the places from
    // List.
    if !request.more { reader.place = hub.read { $0.placeSequence } }
    var isFirst = request.more
    while let reply = await hub.next(&reader, isFirst: isFirst) {
      guard request.more else { return reply }
      isFirst = false
      try await request.reply(reply)
      try? await Task.sleep(for: .milliseconds(pause))
    }
    // A cancelled task means that the program has disconnected.
    return Array("{}".utf8)
  }

  /// The least time in milliseconds between two replies to a program.
  ///
  /// 1,000 tags make 10,000 changes a second. A reply to each change would need more processor time
  /// than the computation of all places.
  private static let shortestPause = 5

  /// Returns the milliseconds between two replies.
  static func pause(_ parameters: JSONValue) throws(VarlinkError) -> Int {
    max(shortestPause, try integer(parameters, "every_ms", 0...10_000) ?? 0)
  }

  private func selected(_ value: JSONValue?) throws(VarlinkError) -> [String]? {
    guard case .array(let names)? = value else { return nil }
    var tags: Set<String> = []
    for case .string(let name) in names {
      guard hub.read({ $0.index(of: name) }) != nil else {
        let members = [
          JSONMember("reason", .string("The site file has no tag \(name).")),
          JSONMember("advice", .string("List returns the tags of the site.")),
        ]
        throw VarlinkError(
          "\(Self.interface).NoTag", Array(JSONValue.object(members).description.utf8))
      }
      tags.insert(name)
    }
    return tags.sorted()
  }

  private static func integer(
    _ parameters: JSONValue, _ name: String, _ limits: ClosedRange<Int>
  ) throws(VarlinkError) -> Int? {
    guard case .number(let number)? = parameters[name] else { return nil }
    guard let integer = Int(exactly: number), limits.contains(integer) else {
      throw VarlinkError(
        "org.varlink.service.InvalidParameter", Array(#"{"parameter":"\#(name)"}"#.utf8))
    }
    return integer
  }
}
