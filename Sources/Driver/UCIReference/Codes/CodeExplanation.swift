// SPDX-License-Identifier: Apache-2.0

package import UCI

/// The meaning of a byte from a chip or in a message, its usual causes, and the steps to try.
public struct CodeExplanation: Hashable, Sendable {
  /// The byte on the wire.
  public let code: UInt8
  /// The name in the specification, or the vendor's name.
  public let name: String
  /// The meaning in one sentence.
  public let meaning: String
  /// The usual causes, the likeliest first; noun phrases.
  public let causes: [String]
  /// The steps to try, in this order; sentences.
  public let recoverySuggestions: [String]
  /// The vendors that use the code this way; empty for all.
  package let vendors: [Dialect.Vendor]
  /// The specifications in which the code has this meaning.
  package let generations: ClosedRange<Dialect.Generation>

  init(
    _ code: UInt8, _ name: String, _ meaning: String, causes: [String] = [],
    try recoverySuggestions: [String] = [],
    vendors: [Dialect.Vendor] = [],
    since first: Dialect.Generation = .fira1, until last: Dialect.Generation = .fira3
  ) {
    self.code = code
    self.name = name
    self.meaning = meaning
    self.causes = causes
    self.recoverySuggestions = recoverySuggestions
    self.vendors = vendors
    generations = first...last
  }

  /// Returns whether the explanation applies to chips with this dialect.
  package func applies(to dialect: Dialect) -> Bool {
    (vendors.isEmpty || vendors.contains(dialect.vendor))
      && generations.contains(dialect.generation)
  }
}

/// The explanations of one kind of code.
struct CodeTable: Sendable {
  private let rows: [UInt8: [CodeExplanation]]
  private let shared: [UInt8: CodeExplanation]
  let all: [CodeExplanation]

  init(_ parts: [CodeExplanation]...) {
    all = parts.flatMap(\.self)
    rows = Dictionary(grouping: all, by: \.code)
    shared = rows.compactMapValues { rows in
      let shared = rows.filter(\.vendors.isEmpty)
      return shared.first { $0.generations.contains(Dialect.assumed.generation) } ?? shared.first
    }
  }

  /// Returns every meaning of a code.
  func meanings(of code: UInt8) -> [CodeExplanation] { rows[code] ?? [] }

  /// Returns the meaning of a code for a dialect: the vendor's own meaning before the general one;
  /// nil where none is known.
  func meaning(of code: UInt8, in dialect: Dialect) -> CodeExplanation? {
    let fitting = meanings(of: code).filter { $0.applies(to: dialect) }
    return fitting.first { !$0.vendors.isEmpty } ?? fitting.first
  }

  /// Returns the meaning that all vendors share; for vendors' codes the meaning of each vendor; nil
  /// where none is known.
  func words(for code: UInt8) -> String? {
    if let shared = shared(code) { return shared.meaning }
    let each = meanings(of: code).map { row in
      row.vendors.map(\.title).joined(separator: ", ") + ": " + row.meaning
    }
    return each.isEmpty ? nil : each.joined(separator: " ")
  }

  /// Returns the meaning that all vendors share, in the specification that is assumed of an
  /// unidentified chip; nil where there is none.
  func shared(_ code: UInt8) -> CodeExplanation? { shared[code] }
}

extension Dialect.Vendor {
  /// The name of the company; empty for `unknown`.
  package var title: String {
    switch self {
    case .unknown: ""
    case .qorvo: "Qorvo"
    case .nxp: "NXP"
    case .android: "Android"
    }
  }
}

/// The kinds of codes that chips, accessories and phones send.
package enum CodeFamily: String, Sendable, CaseIterable {
  /// Responses, CORE_GENERIC_ERROR_NTF and measurements.
  case status = "status"
  /// SESSION_STATUS_NTF.
  case stateChangeReason = "reason"
  /// CORE_DEVICE_STATUS_NTF.
  case deviceState = "device state"
  /// SESSION_DATA_TRANSFER_STATUS_NTF.
  case dataTransferStatus = "data status"
  /// SESSION_UPDATE_CONTROLLER_MULTICAST_LIST.
  case multicastStatus = "multicast status"
  /// The out-of-band protocol of Android's ranging.
  case androidMessage = "Android message"
  /// Nearby Interaction with accessories.
  case appleMessage = "iPhone message"

  var table: CodeTable {
    switch self {
    case .status: Status.table
    case .stateChangeReason: StateChangeReason.table
    case .deviceState: DeviceState.table
    case .dataTransferStatus: DataTransferStatus.table
    case .multicastStatus: MulticastStatus.table
    case .androidMessage: PhoneMessages.android
    case .appleMessage: PhoneMessages.apple
    }
  }

  /// All explanations of this kind, in the order of the codes.
  package var explanations: [CodeExplanation] { table.all }
}

/// Returns the explanations of a number or a name, in all kinds of codes.
///
/// - Parameter text: `0x21`, `33`, `RANGING_RX_TIMEOUT` or a part of a name.
package func explanations(
  of text: String
) -> [(family: CodeFamily, explanation: CodeExplanation)] {
  let all = CodeFamily.allCases.flatMap { family in
    family.explanations.map { (family: family, explanation: $0) }
  }
  if let number = Quantity.number(text) {
    return all.filter { UInt64($0.explanation.code) == number }
  }
  let wanted = plain(text)
  let exact = all.filter { plain($0.explanation.name) == wanted }
  if !exact.isEmpty || wanted.count < 3 { return exact }
  let similar = all.filter { containsPlain($0.explanation.name, wanted) }
  // Vendors put words such as STATUS and RANGING before some names.
  let rest = text.drop { $0 != "_" }.dropFirst()
  return similar.isEmpty && rest.count > 8 && rest.contains("_")
    ? explanations(of: String(rest)) : similar
}
