// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The functions of the C library that the estimators use, under one name on each system.
enum Math {
  static func log(_ x: Double) -> Double { _log(x) }
  static func exp(_ x: Double) -> Double { _exp(x) }
  static func sin(_ x: Double) -> Double { _sin(x) }
  static func cos(_ x: Double) -> Double { _cos(x) }
  static func atan2(_ y: Double, _ x: Double) -> Double { _atan2(y, x) }
  /// Returns the probability that a standard normal variable is below `x`.
  static func normalBelow(_ x: Double) -> Double { _erfc(-x / 2.0.squareRoot()) / 2 }
}

private func _log(_ x: Double) -> Double { log(x) }
private func _exp(_ x: Double) -> Double { exp(x) }
private func _sin(_ x: Double) -> Double { sin(x) }
private func _cos(_ x: Double) -> Double { cos(x) }
private func _atan2(_ y: Double, _ x: Double) -> Double { atan2(y, x) }
private func _erfc(_ x: Double) -> Double { erfc(x) }
