// SPDX-License-Identifier: Apache-2.0

package import UWBSite

/// The names and addresses of the boards of a site.
package struct SiteNames: Sendable {
  private var names: Set<String> = []

  package init(_ site: Site) {
    for anchor in site.anchors {
      names.insert(anchor.id)
      names.formUnion(anchor.addresses.map(\.description))
    }
    for tag in site.tags {
      names.formUnion([tag.id] + [tag.label].compactMap(\.self))
      names.formUnion(tag.addresses.map(\.description))
    }
  }

  /// Returns the first name that the site has.
  package func first(of candidates: [String]) -> String? {
    candidates.first { names.contains($0) || names.contains(Address($0)?.description ?? $0) }
  }
}
