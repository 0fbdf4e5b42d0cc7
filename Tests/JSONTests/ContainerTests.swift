// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

/// Types that describe their own containers.
@Suite struct ContainerTests {
  /// A route as `{"head": {"id": 1}, "stops": [[1, 2], {"id": 3}, null], "super": …, "base": …}`.
  struct Route: Codable, Hashable {
    enum Keys: String, CodingKey { case head, stops, base }
    enum Inner: String, CodingKey { case id, note }

    var id = 1
    var pair = [2, 3]
    var last = 4
    var base = "b"

    init() {}

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      let head = try container.nestedContainer(keyedBy: Inner.self, forKey: .head)
      id = try head.decode(Int.self, forKey: .id)
      guard try head.decodeNil(forKey: .note), head.allKeys == [.id, .note] else {
        throw JSONError(nil, "note is not null")
      }
      var stops = try container.nestedUnkeyedContainer(forKey: .stops)
      var first = try stops.nestedUnkeyedContainer()
      pair = []
      while !first.isAtEnd { pair.append(try first.decode(Int.self)) }
      last = try stops.nestedContainer(keyedBy: Inner.self).decode(Int.self, forKey: .id)
      guard try stops.decodeNil(), stops.isAtEnd, stops.count == 3, stops.currentIndex == 3 else {
        throw JSONError(nil, "the stops have another end")
      }
      base = try String(from: try container.superDecoder(forKey: .base))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      var head = container.nestedContainer(keyedBy: Inner.self, forKey: .head)
      try head.encode(id, forKey: .id)
      try head.encodeNil(forKey: .note)
      var stops = container.nestedUnkeyedContainer(forKey: .stops)
      var first = stops.nestedUnkeyedContainer()
      for number in pair { try first.encode(number) }
      var second = stops.nestedContainer(keyedBy: Inner.self)
      try second.encode(last, forKey: .id)
      try stops.encodeNil()
      #expect(stops.count == 3)
      try base.encode(to: container.superEncoder(forKey: .base))
    }
  }

  private let text =
    #"{"base":"b","head":{"id":1,"note":null},"stops":[[2,3],{"id":4},null]}"#

  private func read(_ text: String) throws -> Route {
    try JSONNode(Array(text.utf8), .strict).decode()
  }

  @Test func nestedContainersComeBack() throws {
    #expect("\(try JSON(encoding: Route()))" == text)
    #expect(try read(text) == Route())
  }

  @Test(arguments: [
    (#""base":"b""#, #""base":1"#, "line 1, column 2: a string belongs in base"),
    (#"{"id":1,"note":null}"#, "[]", "line 1, column 13: an object belongs in head"),
    (#","note":null"#, "", "line 1, column 13: note is missing in head"),
    (#""note":null"#, #""note":0"#, "note is not null"),
    ("[2,3]", "2", "line 1, column 50: a list belongs in stops.0"),
    ("[2,3]", "[2.5]", "line 1, column 51: a whole number belongs in stops.0.0"),
    (#",{"id":4},null"#, "", "line 1, column 41: an element is missing in stops"),
    (#"{"id":4}"#, #"{"it":4}"#, "line 1, column 57: the key it is unknown in stops.1"),
    (",null]", ",1]", "the stops have another end"),
  ])
  func errorsInNestedContainers(_ part: String, _ other: String, _ description: String) {
    let error = #expect(throws: JSONError.self) { try read(text.replacing(part, with: other)) }
    #expect(error?.description == description)
  }

  /// A class hierarchy, in which each class encodes itself.
  class Base: Codable { var name = "n" }

  final class Derived: Base {
    private enum Keys: String, CodingKey { case name, size }
    var size = 1

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keys.self)
      size = try container.decode(Int.self, forKey: .size)
      try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(size, forKey: .size)
      try super.encode(to: container.superEncoder())
    }
  }

  @Test func superclassesShareTheObject() throws {
    let json = try JSON(encoding: Derived())
    #expect("\(json)" == #"{"name":"n","size":1}"#)
    let again: Derived = try JSONNode(json).decode(ignoresUnknown: true)
    #expect(again.size == 1 && again.name == "n")
  }
}
