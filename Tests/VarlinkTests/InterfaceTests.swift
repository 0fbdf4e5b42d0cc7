// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing
import Varlink

@Suite struct InterfaceTests {
  /// All elements of the language.
  static let text = """
    # Line one
    #
    # and more
    interface org.example-1.all.x2

    type Kind (one, two, three)

    # Nested
    type Thing (
      # with a comment
      object: object,
      kind: ?Kind,
      set: [string](),
      any: ?[][string]?(first: int, second: (a, b)),
      flag: bool,
      number: float
    )

    # [Supports 'more' flag]
    method Get(name: string, things: []Thing) -> (things: []Thing)

    method Stop() -> ()

    error Failed (reason: string, a_b_c: ?int)

    """

  @Test func aDescriptionIsReadAndWritten() throws {
    let interface = try VarlinkInterface(Self.text)
    #expect(interface.name == "org.example-1.all.x2")
    #expect(interface.comment == ["Line one", "", "and more"])
    #expect(interface.members.map(\.name) == ["Kind", "Thing", "Get", "Stop", "Failed"])
    #expect(interface.members[2].comment == ["[Supports 'more' flag]"])
    #expect(interface.members[0].kind == .type(.enumeration(["one", "two", "three"])))
    let get = try #require(interface.method("Get"))
    #expect(get.input.map(\.type) == [.string, .array(.named("Thing"))])
    #expect(interface.method("Failed") == nil)
    #expect(interface.error("Failed")?.last?.type == .optional(.int))
    #expect("\(interface)" == Self.text)
  }

  @Test func blanksAndCommentsMayBeAnywhere() throws {
    let text =
      "#a\n\n#b\r\ninterface\torg.x#c\r\n method\n#d\nM(#e\na:#f\nint\r,b:[]string)->(#g\n)"
    let interface = try VarlinkInterface(text)
    #expect(interface.comment == ["b"])
    #expect(interface.method("M")?.input.map(\.name) == ["a", "b"])
    #expect(interface.method("M")?.input[0].comment == ["e"])
  }

  @Test(arguments: [
    ("", 1), ("interface", 1), ("interface org", 1), ("interface org.swift_uwb.X", 1),
    ("interface 1.x", 1), ("interface org.-x", 1), ("interface org..x", 1),
    ("interface org.x\nmethod m() -> ()", 2), ("interface org.x\nmethod M()", 2),
    ("interface org.x\ntype T (a, b: int)", 2), ("interface org.x\ntype T (a: int, b)", 2),
    ("interface org.x\ntype T int", 2), ("interface org.x\ntype T (a: ??int)", 2),
    ("interface org.x\ntype T (a: U)", 2), ("interface org.x\nerror E (a__b: int)", 2),
    ("interface org.x\nerror E (a_: int)", 2), ("interface org.x\nerror E (a: int, a: int)", 2),
    ("interface org.x\nerror E (a: int,)", 2), ("interface org.x\nerror E (a, b)", 2),
    ("interface org.x\n\nerror E ()\nerror E ()", 4), ("interface org.x\nfoo F ()", 2),
  ])
  func whatIsNoDescription(_ text: String, _ line: Int) {
    let error = #expect(throws: VarlinkInterfaceError.self) { try VarlinkInterface(text) }
    #expect(error?.line == line, "\(error.map(String.init) ?? "")")
  }

  @Test func nestingIsBounded() {
    #expect(throws: VarlinkInterfaceError.self) {
      try VarlinkInterface(
        "interface org.x\ntype T (a: \(String(repeating: "[]", count: 100_000))int)")
    }
    #expect(throws: VarlinkInterfaceError.self) {
      try VarlinkInterface("interface org.x\ntype T \(String(repeating: "(a:", count: 100_000))")
    }
  }

  @Test(
    arguments: [
      (#"{"name":"x","things":[]}"#, nil), (#"{"name":"x"}"#, "things"),
      (#"{"things":[]}"#, "name"),
      (#"{"name":"x","things":[],"other":1}"#, "other"), (#"{"name":1,"things":[]}"#, "name"),
      (#"{"name":"x","things":{}}"#, "things"), (#"{"name":null,"things":[]}"#, "name"),
      (
        #"""
        {"name":"x","things":[{"object":{"x":[1]},"set":{"a":{}},"flag":true,"number":1,
         "kind":"two","any":[{"y":null,"x":{"first":1,"second":"b"}}]}]}
        """#, nil
      ),
      (
        #"{"name":"x","things":[{"object":{},"set":{},"flag":true,"number":"1"}]}"#,
        "things[0].number"
      ),
      (
        #"{"name":"x","things":[{"object":{},"set":{"a":{"b":1}},"flag":true,"number":1}]}"#,
        "things[0].set[a].b"
      ),
      (
        #"{"name":"x","things":[{"object":1,"set":{},"flag":true,"number":1}]}"#,
        "things[0].object"
      ),
      (
        #"{"name":"x","things":[{"object":{},"set":{},"flag":true,"number":1,"kind":"four"}]}"#,
        "things[0].kind"
      ),
      (#"{"name":"x","things":[{"object":{},"set":{},"flag":0,"number":1}]}"#, "things[0].flag"),
    ] as [(String, String?)])
  func valuesOfTypes(_ text: String, _ problem: String?) throws {
    let interface = try VarlinkInterface(Self.text)
    let fields = try #require(interface.method("Get")).input
    let values = try #require(try JSON(Array(text.utf8)).object)
    #expect(interface.problem(with: values, fields) == problem)
  }

  @Test func clientsIgnoreWhatTheyDoNotKnow() throws {
    let interface = try VarlinkInterface(Self.text)
    let fields = try #require(interface.error("Failed"))
    let values: [String: JSON] = ["reason": .string(""), "newer": .null]
    #expect(interface.problem(with: values, fields) == "newer")
    #expect(interface.problem(with: values, fields, ignoresUnknown: true) == nil)
  }
}
