// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A quantity of a received frame that may indicate a blocked direct path. The raw values are its
/// names in calibration files.
package enum PathDiagnostic: String, CaseIterable, Codable, Sendable {
  /// The total level minus the level of the first path, in dB.
  case powerGap = "power_gap_db"
  /// The received level plus the free-space loss over the measured distance, in dBm.
  case levelAtMetre = "level_at_1m_dbm"
  case receivedPower = "rx_power_dbm"
  case firstPathPower = "fp_power_dbm"
  case peakOverFirstPath = "peak_over_fp_db"
  /// The ratio of the first path to the noise, in dB.
  case firstPathSNR = "fp_snr_db"
  case peakDelay = "peak_delay_ns"
  case segmentDisagreement = "sts_delay_ns"
}

/// A logistic regression of the probability that the direct path is blocked, learned from labelled
/// measurements. Its terms are the standardised diagnostics and, optionally, their products.
package struct PathModel: Codable, Sendable, Hashable {
  /// A diagnostic with its mean and scale.
  package struct Input: Codable, Sendable, Hashable {
    /// The name of a `PathDiagnostic`, or of a column.
    package var name: String
    package var mean: Double
    package var deviation: Double

    package init(name: String, mean: Double, deviation: Double) {
      (self.name, self.mean, self.deviation) = (name, mean, deviation)
    }
  }

  /// The error of distances on blocked paths minus the error on free paths, in metres.
  package struct Excess: Codable, Sendable, Hashable {
    package var mean: Double
    package var deviation: Double

    enum CodingKeys: String, CodingKey {
      case mean = "mean_m"
      case deviation = "sigma_m"
    }

    package init(mean: Double, deviation: Double) {
      (self.mean, self.deviation) = (mean, deviation)
    }
  }

  /// The scores in one room of a model that was learned in the other rooms.
  package struct Room: Codable, Sendable, Hashable {
    package var name: String
    package var rows: Int
    package var blocked: Int
    /// The mean of two shares: correctly classified free rows and blocked rows. Nil with one kind
    /// only.
    package var balancedAccuracy: Double?
    /// The probability that the model gives a blocked row a higher value than a free one (AUC).
    package var area: Double?

    enum CodingKeys: String, CodingKey {
      case name, rows, blocked
      case balancedAccuracy = "balanced_accuracy"
      case area = "auc"
    }

    package init(
      name: String, rows: Int, blocked: Int, balancedAccuracy: Double? = nil, area: Double? = nil
    ) {
      (self.name, self.rows, self.blocked) = (name, rows, blocked)
      (self.balancedAccuracy, self.area) = (balancedAccuracy, area)
    }
  }

  package var inputs: [Input]
  package var intercept: Double
  /// The weight of each input.
  package var weights: [Double]
  /// The weights of the products of inputs (0, 0), (0, 1)… (1, 1)…; nil for none.
  package var products: [Double]?
  package var excess: Excess?
  package var rooms: [Room]?

  enum CodingKeys: String, CodingKey {
    case inputs, intercept, weights, products, rooms
    case excess = "blocked_error"
  }

  package init(
    inputs: [Input], intercept: Double, weights: [Double], products: [Double]? = nil
  ) {
    (self.inputs, self.intercept) = (inputs, intercept)
    (self.weights, self.products) = (weights, products)
  }

  /// The greatest number of inputs; chips report fewer.
  package static let mostInputs = 32

  /// Whether there are enough coefficients for the inputs.
  package var isUsable: Bool {
    let count = inputs.count
    return 1...Self.mostInputs ~= count && weights.count == count
      && inputs.allSatisfy { $0.deviation > 0 }
      && products.map { $0.count == count * (count + 1) / 2 } ?? true
      && excess.map { $0.deviation >= 0 } ?? true
  }

  /// Returns the logarithm of the odds of a blocked path, if free and blocked paths are equally
  /// frequent. Returns nil without any input.
  ///
  /// - Parameter value: the input with this index; nil if it is unknown, so that its mean counts.
  package func evidence(_ value: (Int) -> Double?) -> Double? {
    var standard = InlineArray<32, Double>(repeating: 0)
    var isKnown = false
    for index in inputs.indices {
      guard let known = value(index), known.isFinite else { continue }
      isKnown = true
      standard[index] = Self.standardised(known, inputs[index])
    }
    guard isKnown else { return nil }
    var sum = intercept
    var product = 0
    for index in weights.indices {
      sum += weights[index] * standard[index]
      guard let products else { continue }
      for other in index..<weights.count {
        sum += products[product] * standard[index] * standard[other]
        product += 1
      }
    }
    return sum
  }

  /// Returns the evidence as a probability.
  package func probability(_ value: (Int) -> Double?) -> Double? {
    evidence(value).map { 1 / (1 + exp(-$0)) }
  }

  /// Returns the standardised input, limited to ±3. Squares of values beyond the training data
  /// would decide alone.
  package static func standardised(_ value: Double, _ input: Input) -> Double {
    max(-3, min(3, (value - input.mean) / input.deviation))
  }
}

extension ReceptionDiagnostics {
  /// Returns the value of a diagnostic.
  ///
  /// - Parameter distance: the measured distance in metres.
  package func value(_ diagnostic: PathDiagnostic, distance: Double?) -> Double? {
    switch diagnostic {
    case .powerGap: receivedPower.flatMap { all in firstPathPower.map { all - $0 } }
    case .levelAtMetre:
      receivedPower.flatMap { all in distance.map { all + 20 * log10(max(0.1, $0)) } }
    case .receivedPower: receivedPower
    case .firstPathPower: firstPathPower
    case .peakOverFirstPath: peakOverFirstPath
    case .firstPathSNR: firstPathSNR
    case .peakDelay: peakDelay
    case .segmentDisagreement: segmentDisagreement
    }
  }
}
