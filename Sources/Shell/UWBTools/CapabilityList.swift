// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
package import Formats
package import UCI
import UCIReference
import UWB
import UWBLink

package struct CapabilityList {
  package struct Row {
    package var number: UInt8
    package var subID: UInt8?
    package var name: String
    package var words: String
    package var bytes: [UInt8]
    package var summary: String
  }

  package let rows: [Row]

  package init(_ parameters: [TLV], dialect: Dialect) {
    let capabilities = Capabilities(parameters)
    rows = parameters.map { tlv in
      Row(
        number: tlv.id, subID: tlv.subID,
        name: CapabilityID.name(of: tlv.id, subID: tlv.subID, in: capabilities.numbering),
        words: capabilities.words(for: tlv, dialect: dialect), bytes: tlv.value,
        summary: capabilities.id(of: tlv)?.parameter(in: dialect, length: tlv.value.count)?.summary
          ?? "")
    }
  }

  package var text: String {
    var table = TextTable()
    for row in rows { table.add(row.name, printable(row.words)) }
    return table.text
  }

  package static let json = JSONTable<Row>("caps", each: "capability") {
    $0.key("id", "number") { $0.number }
    $0.key("sub_id?", "second byte of the number") { $0.subID }
    $0.key("name", "name") { $0.name }
    $0.key("meaning", "value in words") { $0.words }
    $0.key("octets", "bytes in wire order, hexadecimal") { hexDigits($0.bytes) }
    $0.key("summary", "description") { $0.summary }
  }
}
