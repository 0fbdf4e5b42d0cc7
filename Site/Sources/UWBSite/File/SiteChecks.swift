// SPDX-License-Identifier: Apache-2.0

extension Site {
  /// Notes the problems between the parts of a site.
  func check(_ problems: ProblemList) {
    checkNames(problems)
    checkAddresses(problems)
    checkReferences(problems)
  }

  private func checkNames(_ problems: ProblemList) {
    Self.unique(floors.map(\.id), "floors", "id", problems)
    Self.unique(anchors.map(\.id), "anchors", "id", problems)
    Self.unique(tags.map(\.id), "tags", "id", problems)
    Self.unique(tags.map { $0.label ?? "" }, "tags", "label", problems)
    Self.unique(zones.map(\.id), "zones", "id", problems)
    Self.unique(zones.map { $0.label ?? "" }, "zones", "label", problems)
    Self.unique(doors.map(\.id), "doors", "id", problems)
    // Adding 0 turns -0 into 0, so that the texts of both are the same.
    Self.unique(floors.map { "\($0.height + 0) m" }, "floors", "height_m", problems)
  }

  /// Notes the second of two equal names. Missing names are already noted, or are not errors.
  private static func unique(
    _ names: [String], _ list: String, _ key: String, _ problems: ProblemList
  ) {
    var first: [String: Int] = [:]
    for (index, name) in names.enumerated() where !name.isEmpty {
      if let earlier = first[name] {
        problems.note("\(list)[\(index)].\(key)", "\(list)[\(earlier)] has \(name) already")
      } else {
        first[name] = index
      }
    }
  }

  private func checkAddresses(_ problems: ProblemList) {
    let anchorsOwn = anchors.enumerated().map { ("anchors[\($0)]", $1.addresses) }
    let tagsOwn = tags.enumerated().map { ("tags[\($0)]", $1.addresses) }
    var owner: [Address: String] = [:]
    for (path, addresses) in anchorsOwn + tagsOwn {
      for (index, address) in addresses.enumerated() {
        if let earlier = owner[address] {
          problems.note("\(path).addresses[\(index)]", "\(earlier) has \(address) already")
        } else {
          owner[address] = path
        }
      }
    }
  }

  private func checkReferences(_ problems: ProblemList) {
    let (floorNames, anchorNames) = (Set(floors.map(\.id)), Set(anchors.map(\.id)))
    func floor(_ name: String?, _ field: String) {
      guard let name, !floorNames.contains(name) else { return }
      problems.note(field, "there is no floor \(name)")
    }
    func anchor(_ name: String?, _ field: String) {
      guard let name, !anchorNames.contains(name) else { return }
      problems.note(field, "there is no anchor \(name)")
    }
    for (index, name) in gauge.anchors.enumerated() { anchor(name, "gauge.anchors[\(index)]") }
    for (index, item) in anchors.enumerated() { floor(item.floor, "anchors[\(index)].floor") }
    for (index, zone) in zones.enumerated() {
      floor(zone.floor, "zones[\(index)].floor")
      for (inner, name) in zone.connectedFloors.enumerated() {
        floor(name, "zones[\(index)].connects_floors[\(inner)]")
      }
    }
    for (index, door) in doors.enumerated() {
      floor(door.floor, "doors[\(index)].floor")
      anchor(door.insideAnchor, "doors[\(index)].inside_anchor")
      anchor(door.outsideAnchor, "doors[\(index)].outside_anchor")
    }
    for (index, plan) in plans.enumerated() { floor(plan.floor, "plans[\(index)].floor") }
  }
}
