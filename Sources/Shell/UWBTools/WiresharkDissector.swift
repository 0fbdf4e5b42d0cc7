// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import System
import UCIReference

/// The dissector of UCI for Wireshark: the tables of this package, and the script that reads them.
package enum WiresharkDissector {
  private static let script = String(decoding: PackageResources.uwbuci_lua, as: UTF8.self)

  /// Returns the dissector in Lua.
  package static func text() throws -> String {
    script.replacing("-- TABLES\n", with: try DissectorTables().lua, maxReplacements: 1)
  }
}
