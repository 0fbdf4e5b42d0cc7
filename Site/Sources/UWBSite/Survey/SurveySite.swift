// SPDX-License-Identifier: Apache-2.0

/// Anchors of a site file before and after a survey.
extension SurveyAnchor {
  /// The greatest deviation of the delay of a calibrated anchor, in metres.
  static let calibrated = 0.1

  /// - Parameter height: The height of an anchor without a height in the file.
  package init(_ anchor: Site.Anchor, height: (value: Double, deviation: Double)) {
    if let place = anchor.place {
      self.init(anchor.id, height: place.position.z, heightDeviation: place.deviation.z)
      let variance = (place.covariance.xx + place.covariance.yy) / 2
      rough = Rough(
        SIMD2(place.position.x, place.position.y), deviation: max(variance.squareRoot(), 0.01))
    } else if let known = anchor.height {
      self.init(anchor.id, height: known, heightDeviation: anchor.heightDeviation)
    } else {
      self.init(anchor.id, height: height.value, heightDeviation: height.deviation)
    }
    if anchor.delayDeviation < Self.calibrated {
      (delay, delayDeviation) = (anchor.delay, max(anchor.delayDeviation, 0.001))
    }
  }
}

extension Site {
  /// A site without floors, anchors, tags and zones.
  package static var empty: Site { Site() }

  /// Returns whether each of the named anchors has a calibrated delay.
  package func hasCalibratedDelays(_ names: [String]) -> Bool {
    names.allSatisfy { name in
      anchors.contains { $0.id == name && $0.delayDeviation < SurveyAnchor.calibrated }
    }
  }

  /// Gives the anchors the places and delays of a survey, and states the frame.
  package mutating func update(with survey: Survey) {
    for place in survey.places {
      var anchor = anchors.first { $0.id == place.id } ?? Anchor(id: place.id)
      if anchor.addresses.isEmpty, let address = Address(place.id) { anchor.addresses = [address] }
      anchor.update(place.position, place.ellipse, place.height)
      (anchor.delay, anchor.delayDeviation) = (place.delay, place.delayDeviation)
      replace(anchor)
    }
    gauge = Gauge(survey.gauge, names: survey.places.map(\.id))
    if survey.hasOpenMirror { gauge.note = "the mirror image fits as well" }
  }

  /// Gives the anchors the places that a walk has determined.
  package mutating func update(with walk: WalkSurvey, gauge frame: SurveyGauge) {
    for place in walk.places {
      var anchor = anchors.first { $0.id == place.id } ?? Anchor(id: place.id)
      if anchor.addresses.isEmpty, let address = Address(place.id) { anchor.addresses = [address] }
      anchor.update(place.position, place.ellipse, place.height)
      replace(anchor)
    }
    gauge = Gauge(frame, names: walk.places.map(\.id))
  }

  private mutating func replace(_ anchor: Anchor) {
    if let index = anchors.firstIndex(where: { $0.id == anchor.id }) {
      anchors[index] = anchor
    } else {
      anchors.append(anchor)
    }
  }
}

extension Site.Anchor {
  fileprivate mutating func update(
    _ position: SIMD2<Double>, _ ellipse: PlaceEllipse, _ height: Double
  ) {
    let deviation = SIMD2(max(ellipse.xx, 0).squareRoot(), max(ellipse.yy, 0).squareRoot())
    let product = deviation.x * deviation.y
    let known = place?.deviation.z ?? heightDeviation
    // A deviation of more than a kilometre carries no information.
    place = Site.Place(
      position: SIMD3(position.x, position.y, height),
      deviation: SIMD3(min(deviation.x, 1000), min(deviation.y, 1000), known),
      correlationXY: product > 0 ? max(-1, min(1, ellipse.xy / product)) : 0)
  }
}

extension Site.Gauge {
  fileprivate init(_ gauge: SurveyGauge, names: [String]) {
    self.init()
    switch gauge {
    case .shape: kind = .shape
    case .places: kind = .plan
    case .line(let line):
      kind = line.towardIsKnown ? .anchors : .direction
      anchors = [names[line.anchor], names[line.toward]]
    }
  }
}

extension Site.Anchor {
  /// Creates an anchor without a place.
  package init(named id: String) { self.init(id: id) }
}
