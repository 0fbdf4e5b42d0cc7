// SPDX-License-Identifier: Apache-2.0

package import UCI

extension SetHUSControllerConfig: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field(
        "phases",
        .list(
          phases.map { phase in
            .object([
              Field("session", .number(phase.sessionToken)),
              Field("start_slot", .number(phase.startSlot)),
              Field("end_slot", .number(phase.endSlot)),
              Field(
                "access",
                .code(
                  phase.control, name: phase.isContentionAccess ? "CAP" : "CFP", explanation: nil)
              ),
              Field("mac", .text(phase.address.description)),
            ])
          })),
    ]
  }
}

extension SetHUSControleeConfig: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field("phases", .list(phases.map { .number($0) })),
    ]
  }
}

extension ConfigureDataTransferPhase: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)), Field("repetition", .number(repetition)),
      Field("control", .number(control)),
      Field(
        "entries",
        .list(
          entries.map { entry in
            .object([
              Field("mac", .text(entry.address.description)), Field("slots", .bytes(entry.slots)),
              Field("stop", .number(entry.stop)),
            ])
          })),
    ]
  }
}

extension DataTransferPhaseNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field("result", .choice(result, ["OK", "DUPLICATE_SLOT_ASSIGNMENT", "OVERSIZE"])),
    ]
  }
}
