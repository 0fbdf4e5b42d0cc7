// SPDX-License-Identifier: Apache-2.0

package import UWBSite

/// The names and addresses of the boards of a site.
package struct SiteNames: Sendable {
  /// The name for the engine by each name in the site file.
  private var names: [String: String] = [:]

  package init(_ site: Site) {
    for anchor in site.anchors {
      for name in [anchor.id] + anchor.addresses.map(\.description) { names[name] = name }
      // An anchor with the only chip of a service needs no other name.
      if let chip = anchor.chip, names[chip] == nil { names[chip] = anchor.id }
    }
    for tag in site.tags {
      let addresses = tag.addresses.map(\.description)
      for name in [tag.id] + [tag.label].compactMap(\.self) + addresses { names[name] = name }
    }
  }

  /// Returns the name for the engine of the first candidate that the site has.
  package func first(of candidates: [String]) -> String? {
    for candidate in candidates {
      if let name = names[candidate] ?? names[Address(candidate)?.description ?? ""] { return name }
    }
    return nil
  }
}
