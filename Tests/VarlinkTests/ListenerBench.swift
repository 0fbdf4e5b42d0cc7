// SPDX-License-Identifier: Apache-2.0
import JSON
import System
import UWBTestSupport
import Varlink

/// A service with a method for each kind of answer, as a program outside of the package writes it.
struct ListenerBench {
  let path: String
  /// The number of replies of `Count` that the service was able to send.
  let sent = Locked(0)
  /// Opens when a call of `Wait` has arrived.
  let began = Latch()
  /// Opens when a task of `Count` or `Wait` has ended without its last reply.
  let ended = Latch()

  private static let interface = """
    interface org.example.test
    method Echo(text: string) -> (text: string)
    method Count(to: int) -> (number: int)
    method Wait() -> ()
    method Fail() -> ()
    error Failed (reason: string, advice: string)
    error InvalidMessage (reason: string)
    error LimitReached (reason: string, advice: string)

    """

  private init(_ folder: TemporaryFolder) { path = folder.path("socket") }

  static func lend(_ body: (ListenerBench) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let bench = ListenerBench(folder)
    let listener = try VarlinkListener(
      product: "bench", version: "1", interface: interface, at: bench.path
    ) { request throws(VarlinkError) in try await bench.answer(request) }
    defer { listener.stop() }
    try await body(bench)
  }

  private func answer(_ request: VarlinkRequest) async throws(VarlinkError) -> [UInt8] {
    switch request.method {
    case "Echo": return request.parameters
    case "Count":
      let last = (try? JSON(request.parameters).object)?["to"]?.integer ?? 0
      for number in 1..<max(1, last) {
        do throws(VarlinkError) { try await request.reply(Self.number(number)) } catch {
          ended.open()
          throw error
        }
        sent.withLock { $0 += 1 }
      }
      return Self.number(last)
    case "Wait":
      began.open()
      try? await Task.sleep(for: .seconds(3_600))
      ended.open()
      return Array("{}".utf8)
    default:
      let text = #"{"reason":"It fails.","advice":"Call another method."}"#
      throw VarlinkError("org.example.test.Failed", Array(text.utf8))
    }
  }

  /// About 1,000 bytes.
  private static func number(_ number: Int64) -> [UInt8] {
    let padding = String(repeating: "x", count: 1_000)
    return Array(#"{"number":\#(number),"padding":"\#(padding)"}"#.utf8)
  }
}
