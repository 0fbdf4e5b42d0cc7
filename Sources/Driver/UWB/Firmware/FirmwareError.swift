// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
public import UWBLink

/// The reason why a firmware was not loaded. Switch over it with a `default`: cases may be added.
public enum FirmwareError: Error, Sendable, Hashable {
  /// The file cannot be read.
  case unreadable(path: String, why: String)
  /// The file is not a firmware for this family of chips. Nothing was sent.
  case notAnImage(path: String, why: String)
  /// Firmware cannot be loaded into this chip over this link. Nothing was sent.
  case notNeeded(chip: String)
  /// The link failed.
  case link(LinkError)
  /// The loader of the chip did not answer.
  case noAnswer(step: FirmwareStep)
  /// The loader sent an unexpected answer.
  case wrongAnswer(step: FirmwareStep, [UInt8])
  /// The loader refused a step; `code` is its answer.
  case refused(step: FirmwareStep, code: UInt8, meaning: String?)
  /// Loading was cancelled.
  case cancelled(step: FirmwareStep)
  /// Every attempt has failed, the last one with this error.
  indirect case givenUp(attempts: Int, FirmwareError)
  /// Writing the flash failed after `written` of `total` bytes. The firmware does not run until all
  /// bytes are written.
  indirect case halfWritten(written: Int, total: Int, FirmwareError)

  /// Whether another attempt could succeed.
  var isWorthAnotherAttempt: Bool {
    switch self {
    case .noAnswer, .wrongAnswer: true
    // A transmission error may not happen again; an error in the image does.
    case .refused(let step, let code, _): step != .accepting && HBCI.isTransmissionError(code)
    case .link(let error): error.code == .timeout || error.code == .chipSilent
    default: false
    }
  }
}

/// A step of loading.
public enum FirmwareStep: String, Sendable, Hashable {
  /// The chip is switched on, or reset.
  case starting = "starting the loader"
  /// The loader is asked which chip it is.
  case identifying = "asking which chip it is"
  /// The loader is notified of the image.
  case entering = "announcing the image"
  /// The image is sent.
  case sending = "sending the image"
  /// The loader checks the image.
  case accepting = "having the image accepted"
  /// The firmware starts.
  case leaving = "starting the firmware"
}

/// The progress of loading firmware.
package struct FirmwareProgress: Sendable, Hashable {
  /// The current step.
  package var step: FirmwareStep
  /// Bytes of the image that the chip has acknowledged.
  package var sent: Int
  /// Bytes of the image.
  package var total: Int
  /// The number of this attempt, from 1.
  package var attempt: Int
}

extension FirmwareError: DescribedError {
  /// The cause and the state of the chip.
  public var description: String {
    switch self {
    case .unreadable(let path, let why): "The firmware file \(path) cannot be read: \(why)."
    case .notAnImage(let path, let why):
      "\(path) is no firmware for this chip: \(why). Nothing was sent."
    case .notNeeded(let chip): "A \(chip) does not take its firmware over this link."
    case .link(let error): error.description
    case .noAnswer(let step): "The chip's loader did not answer while \(step.rawValue)."
    case .wrongAnswer(let step, let bytes):
      "The chip's loader answered \(Self.hexadecimal(bytes)) while \(step.rawValue)."
    case .refused(let step, let code, let meaning):
      "The chip's loader refused with \(Self.hexadecimal([code])) while \(step.rawValue)"
        + (meaning.map { ": \($0)." } ?? ".")
    case .cancelled(.starting): "Loading was called off before anything was sent."
    case .cancelled(let step):
      "Loading was called off while \(step.rawValue); the chip has no firmware now."
    case .givenUp(let attempts, let last):
      "\(last.description) After \(attempts) attempts the chip has no firmware."
    case .halfWritten(let written, let total, let cause):
      "\(cause.description) The flash is half written (\(written) of \(total) bytes): the chip stays "
        + "in its loader until all of it is."
    }
  }

  /// The next step to try; nil where there is none beyond the cause itself.
  public var recoverySuggestion: String? {
    switch self {
    case .unreadable: "Check the path and its permissions."
    case .notAnImage: "Give the file that came with the chip's software package."
    case .notNeeded: nil
    case .link(let error): error.recoverySuggestion
    case .noAnswer, .wrongAnswer:
      "Check the wiring of irq, ce and rst and the kind of chip. Without a line that switches the chip "
        + "off, switch it off and on by hand."
    case .refused(.accepting, _, _):
      "The image has to fit the chip: production or development, and its revision."
    case .refused: "Try again; if it stays, lower the clock with speed=8000000."
    case .cancelled: "Load it again."
    case .givenUp(_, let last): last.recoverySuggestion
    case .halfWritten: "Load the same file again: writing starts from the beginning."
    }
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.prefix(16).map { byte in
      let digits = String(byte, radix: 16, uppercase: true)
      return digits.count == 1 ? "0" + digits : digits
    }.joined(separator: " ")
  }
}
