// SPDX-License-Identifier: Apache-2.0

package import UCI

extension FieldValue {
  /// Which link layer a logical link has.
  fileprivate static func linkLayer(_ selector: UInt8) -> FieldValue {
    switch selector {
    case 0xB0, 0xB1: .code(selector, name: "PROPRIETARY_\(selector - 0xAF)", explanation: nil)
    default:
      .choice(
        selector,
        ["CL_NON_SECURE", "CL_SECURE", "CO_NON_SECURE", "CO_SECURE", "CL_UWBS", "CO_UWBS"])
    }
  }
}

extension LogicalLinkCreate: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)), Field("link_layer", .linkLayer(selector)),
      Field("destination", .text(dataAddress(destination))),
      Field("parameters", .bytes(parameters)),
    ]
  }
}

extension LogicalLinkCreateResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("connection", .number(connectionID))]
  }
}

extension LogicalLinkClose: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("connection", .number(connectionID))]
  }
}

extension LogicalLinkCreateNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("connection", .number(connectionID)),
      Field("result", .choice(result, ["ACCEPTED", "REJECTED", "CO_CONNECTED", "ERROR"])),
    ]
  }
}

extension LogicalLinkUWBSCloseNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    let reasons = [
      "REMOTE_REQUEST", "TIMEOUT", "TRANSMISSION_ERROR", "SECURE_COMPONENT", "UNKNOWN", "HOST",
    ]
    return [
      Field("connection", .number(connectionID)), Field("reason", .choice(reason, reasons)),
    ]
  }
}

extension LogicalLinkUWBSCreateNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)), Field("connection", .number(connectionID)),
      Field("link_layer", .linkLayer(selector)), Field("source", .text(dataAddress(source))),
    ]
  }
}

extension LogicalLinkGetParam: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("connection", .number(connectionID))]
  }
}

extension LogicalLinkParametersResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    guard let control else { return [] }
    return [
      Field("control", .number(control)), Field("sdu_size", .number(sduSize)),
      Field("pdu_size", .number(pduSize)), Field("tx_window", .number(txWindow)),
      Field("rx_window", .number(rxWindow)), Field("repetition_count", .number(repetitionCount)),
      Field("link_timeout", .number(linkTimeout)), Field("port", .number(port)),
    ]
  }
}

extension LogicalLinkDataSend: Describable {}
extension LogicalLinkDataReceived: Describable {}

extension Describable where Self: LogicalLinkData {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("connection", .number(connectionID)), Field("sequence", .number(sequenceNumber)),
      Field("data", .bytes(data)),
    ]
  }
}
