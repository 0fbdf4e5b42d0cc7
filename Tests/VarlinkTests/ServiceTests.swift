// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing
import Varlink

@Suite struct ServiceTests {
  private func service() throws -> VarlinkService {
    try VarlinkService(
      vendor: "v", product: "p", version: "1.2", url: "u", interfaces: [InterfaceTests.text])
  }

  private func answer(
    _ method: String, _ parameters: [String: JSON] = [:], upgrade: Bool = false
  ) throws -> VarlinkService.Answer {
    try service().answer(VarlinkCall(method, parameters, upgrade: upgrade))
  }

  private func error(
    _ name: String, _ parameter: String, _ value: String
  ) -> VarlinkService.Answer {
    .reply(VarlinkReply([parameter: .string(value)], error: "org.varlink.service.\(name)"))
  }

  @Test func everyServiceTellsWhatItIs() throws {
    let interfaces: JSON = .array([
      .string("org.varlink.service"), .string("org.example-1.all.x2"),
    ])
    #expect(
      try answer("org.varlink.service.GetInfo")
        == .reply(
          VarlinkReply([
            "vendor": .string("v"), "product": .string("p"), "version": .string("1.2"),
            "url": .string("u"), "interfaces": interfaces,
          ])))
    #expect(
      try answer(
        "org.varlink.service.GetInterfaceDescription",
        ["interface": .string("org.example-1.all.x2")])
        == .reply(VarlinkReply(["description": .string(InterfaceTests.text)])))
    guard
      case .reply(let reply) = try answer(
        "org.varlink.service.GetInterfaceDescription",
        ["interface": .string("org.varlink.service")]),
      let text = reply.parameters["description"]?.string
    else {
      Issue.record("no description")
      return
    }
    #expect(try VarlinkInterface(text).members.count == 6)
    #expect("\(try VarlinkInterface(text))".contains("method GetInfo() -> ("))
  }

  @Test func callsAreChecked() throws {
    #expect(
      try answer("org.example-1.all.x2.Stop")
        == .accepted(interface: "org.example-1.all.x2", method: "Stop"))
    #expect(
      try answer("org.example-1.all.x2.Stop", ["x": .null])
        == error("InvalidParameter", "parameter", "x"))
    #expect(
      try answer("org.example-1.all.x2.Get", ["name": .string("")])
        == error("InvalidParameter", "parameter", "things"))
    #expect(
      try answer("org.example-1.all.x2.Failed")
        == error("MethodNotFound", "method", "org.example-1.all.x2.Failed"))
    #expect(
      try answer("org.example-1.all.x2.Stop", upgrade: true)
        == error("MethodNotImplemented", "method", "org.example-1.all.x2.Stop"))
    for (method, interface) in [
      ("a.b.C", "a.b"), ("Get", ""), ("", ""), (".", ""), ("org.varlink.service.", nil),
    ] as [(String, String?)] {
      let expected =
        interface.map { error("InterfaceNotFound", "interface", $0) }
        ?? error("MethodNotFound", "method", method)
      #expect(try answer(method) == expected)
    }
  }
}
