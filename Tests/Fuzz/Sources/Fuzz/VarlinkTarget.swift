// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import Varlink

/// Messages of other users' programs to the service: byte 0 selects the kind.
enum VarlinkTarget: Target {
  static let name = "varlink"

  /// An empty object has two bytes of input, and becomes an entry of a dictionary.
  static func memoryLimit(for size: Int) -> Int { 262_144 + 1_024 * size }

  static func run(_ input: [UInt8]) {
    guard let choice = input.first else { return }
    let bytes = Array(input.dropFirst())
    if choice % 2 == 0 { stream(bytes, cutAt: Int(choice)) } else { description(bytes) }
  }

  /// The messages are equal, whatever the segmentation.
  private static func stream(_ bytes: [UInt8], cutAt cut: Int) {
    var whole = VarlinkFraming(limit: 1_024)
    whole.append(bytes)
    var pieces = VarlinkFraming(limit: 1_024)
    var found: [[UInt8]] = []
    var failure: VarlinkMessageError?
    do throws(VarlinkMessageError) {
      for start in stride(from: 0, to: bytes.count, by: cut + 1) {
        pieces.append(bytes[start..<min(start + cut + 1, bytes.count)])
        while let message = try pieces.next() { found.append(message) }
      }
    } catch { failure = error }
    do throws(VarlinkMessageError) {
      var number = 0
      while let message = try whole.next() {
        if number >= found.count || found[number] != message { fail("a message differs") }
        answer(message)
        number += 1
      }
      if number != found.count || failure != nil { fail("messages are lost") }
    } catch {
      if failure != error { fail("\(error) depends on how the stream is cut") }
    }
  }

  private static let service: VarlinkService = {
    do throws(VarlinkInterfaceError) {
      return try VarlinkService(
        vendor: "v", product: "p", version: "1", url: "", interfaces: [example])
    } catch { fail("\(error)") }
  }()

  private static func answer(_ message: [UInt8]) {
    do throws(VarlinkMessageError) {
      let call = try VarlinkCall(message)
      let again = try VarlinkCall(Array(call.bytes.dropLast()))
      if again != call { fail("\(call) is not as it came") }
      if case .reply(let reply) = service.answer(call) {
        if reply.bytes.dropLast().contains(0) { fail("a reply has an end within") }
        let read = try VarlinkReply(Array(reply.bytes.dropLast()))
        if read != reply { fail("\(reply) is not as it was sent") }
      }
    } catch { Properties.printable(error.description) }
  }

  private static func description(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    do throws(VarlinkInterfaceError) {
      let interface = try VarlinkInterface(text)
      if try VarlinkInterface("\(interface)") != interface {
        fail("\(interface) is not as it came")
      }
    } catch { Properties.printable(error.description) }
  }

  private static let example = """
    # An example
    interface org.example.more

    type State (start: ?bool, progress: ?int, kind: (a, b), list: []?[string]float)

    # Says it again
    method Ping(ping: string, state: ?State) -> (pong: string)

    error Failed (reason: string, more: object)
    """

  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    let calls = [
      VarlinkCall("org.varlink.service.GetInfo"),
      VarlinkCall(
        "org.varlink.service.GetInterfaceDescription",
        ["interface": .string("org.example.more")]),
      VarlinkCall(
        "org.example.more.Ping",
        [
          "ping": .string("é\u{1}\"\\😀"),
          "state": .object([
            "start": .bool(true), "progress": .null, "kind": .string("a"),
            "list": .array([.object(["x": .number(1.5e300)]), .null]),
          ]),
        ], more: true),
    ]
    let replies = [
      VarlinkReply(["a": .integer(-1)], continues: true), VarlinkReply(error: "a.b.C"),
    ]
    var seeds: [[UInt8]] = [[1] + Array(example.utf8)]
    for message in calls.map(\.bytes) + replies.map(\.bytes) {
      seeds.append([0] + message)
      seeds.append([6] + message + message)
    }
    return seeds
  }
}
