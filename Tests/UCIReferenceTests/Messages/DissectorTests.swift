// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference

@Suite("Tables for Wireshark")
struct DissectorTests {
  /// The tables, which take a second to find.
  static let lua = Result { try DissectorTables().lua }

  @Test("Each message of each vendor has a layout")
  func everyMessage() throws {
    let lua = try Self.lua.get()
    let start = try #require(lua.firstRange(of: "T.messages = {"))
    let end = try #require(lua.firstRange(of: "T.titles = {"))
    let vendors = lua[start.upperBound..<end.lowerBound].split(separator: "\n")
    #expect(vendors.count == Dialect.Vendor.allCases.count)
    for (vendor, line) in zip(Dialect.Vendor.allCases, vendors) {
      let keys = MessageCatalog.keys(in: Dialect(vendor: vendor))
      #expect(line.split(separator: "]=").count - 1 == keys.count)
      for key in keys { #expect(line.contains("[\(DissectorTables.number(key))]=")) }
    }
  }

  @Test(
    "A layout has branches, counts and lengths where the message has them",
    arguments: [
      // A message has a state and a reason.
      #"{{"u","session",false,4,0},{"c","state","SessionState",1,1},{"c","reason","StateChangeReason",1,2}}"#,
      // The length of a key depends on the action, which the table looks up.
      #"{"b","key","secret",{sel=1,shift=0,size=2,usual=16,[1]=32}}"#,
      // The presence of a field depends on a bit.
      #"{"o","port",true,"ge",{sel=2,shift=6,size=2,usual="#,
      // A response has as many counters as there is room for.
      #"{"h","ge",4,{{"u","idle_ms",false,4,"#,
      // The field has the bytes that a length announces, without the bytes that have been read.
      #"{"b","unknown",false,{line="#,
    ])
  func layouts(text: String) throws {
    #expect(try Self.lua.get().contains(text))
  }

  @Test("Keys are marked in the tables")
  func secrets() throws {
    let lua = try Self.lua.get()
    #expect(lua.contains(#"{name="SESSION_KEY",format="bytes""#))
    let set = MessageCatalog.Key(type: .command, opcode: .sessionSetAppConfig)
    let start = try #require(lua.firstRange(of: "T.keys = {"))
    #expect(lua[start.upperBound...].contains("[\(DissectorTables.number(set))]=1"))
  }
}
