// SPDX-License-Identifier: Apache-2.0

extension Engine {
  /// Creates an engine for the tags and the anchors of a site that have a place.
  package init(_ site: Site) {
    let surfaces = site.floors.map(\.height)
    self.init(
      tags: site.tags.map(Tag.init),
      anchors: site.anchors.compactMap { anchor in
        anchor.place.map { place in
          // The engine has one deviation for all directions: the root of the mean variance.
          let deviation = ((place.deviation * place.deviation).sum() / 3).squareRoot()
          return Anchor(
            anchor.id, addresses: anchor.addresses.map(\.description),
            TagTrack.Anchor(
              place.position, deviation: deviation,
              delayDeviation: min(anchor.delayDeviation, 0.5)),
            delay: anchor.delay)
        }
      }, surfaces: (surfaces.min() ?? 0)...(surfaces.max() ?? 0))
  }
}

extension Site {
  /// The anchors that have a place, in the order of the engine.
  package var facings: [Facing] {
    anchors.compactMap { anchor in
      anchor.place.map { place in
        var facing = Facing(
          place.position, facing: anchor.facing.map { $0 * .pi / 180 }, roles: Set(anchor.roles))
        facing.angleDeviation = anchor.angleDeviation
        return facing
      }
    }
  }
}

extension Engine.Tag {
  init(_ tag: Site.Tag) {
    let carrier = TagTrack.Carrier(rawValue: tag.carrier.rawValue) ?? .person
    let height: TagTrack.Height =
      switch tag.height {
      case .known(let height): .fixed(height)
      case .range(let range): .within(range)
      case .free: .free
      }
    self.init(
      tag.id,
      addresses: tag.addresses.map(\.description) + [tag.label].compactMap(\.self) + tag.blinks,
      carrier: carrier, height: height)
  }
}
