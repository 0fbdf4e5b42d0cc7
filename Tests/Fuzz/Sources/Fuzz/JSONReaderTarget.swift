// SPDX-License-Identifier: Apache-2.0
internal import JSON

/// The reader of JSON in both modes, and its writer.
enum JSONReaderTarget: Target {
  static let name = "reader"

  /// An empty object has two bytes of input, and becomes an entry of an array and of a dictionary.
  static func memoryLimit(for size: Int) -> Int { 262_144 + 2_048 * size }

  static func run(_ input: [UInt8]) {
    let lenient = read(input, .lenient)
    guard let strict = read(input, .strict) else { return }
    if lenient.map({ JSON($0) }) != JSON(strict) { fail("the modes differ") }
    check(JSON(strict))
  }

  private static func read(_ bytes: [UInt8], _ mode: JSONNode.Mode) -> JSONNode? {
    do throws(JSONError) { return try JSONNode(bytes, mode) } catch {
      guard let place = error.place else { fail("\(error) has no place") }
      let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
      if !(1...lines.count ~= place.line) || !(1...lines[place.line - 1].count + 1 ~= place.column)
      {
        fail("\(error) is at no place of the text")
      }
      return nil
    }
  }

  /// The written value is equal, and contains no control characters.
  private static func check(_ value: JSON) {
    for byte in "\(value)".utf8 where byte < 0x20 {
      fail("a control character is written: \(byte)")
    }
    do throws(JSONError) {
      if try JSON(Array("\(value)".utf8)) != value { fail("\(value) is not as it came") }
      _ = try JSON(Array(JSONNode(value).lines.utf8))
      if JSON(JSONNode(value)) != value { fail("\(value) changes as a node") }
    } catch { fail("\(value) cannot be read: \(error)") }
  }

  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    [
      #"[1e5,-0.0,"\ud83d\ude00",{},[[]],null]"#, #"{"a" : [true , {"b":false}]}"#,
      "// a\n{a: 0x2A, 'b': [2ms, /* c */ .5,], \"d\": '\\x41\\\n',}",
    ].map { Array($0.utf8) }
  }
}
