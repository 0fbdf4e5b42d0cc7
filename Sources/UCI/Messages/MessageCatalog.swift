// SPDX-License-Identifier: Apache-2.0

/// Every message with a known layout: a new message is one row here.
public enum MessageCatalog {
  /// What tells messages apart.
  public struct Key: Hashable, Sendable {
    /// Command, response, notification or data.
    public var type: MessageType
    /// Group and opcode; of data messages the format and 0.
    public var opcode: Opcode

    /// From its parts.
    public init(type: MessageType, opcode: Opcode) {
      self.type = type
      self.opcode = opcode
    }
  }

  enum Layout: Sendable {
    case command(any UCICommand.Type)
    case response(any UCIResponse.Type)
    case notification(any UCINotification.Type)
    case data(any UCIPayload.Type)

    func read(
      _ reader: inout PayloadReader, _ dialect: Dialect
    ) throws(PayloadError) -> Message.Content {
      switch self {
      case .command(let type): .command(try type.init(from: &reader, dialect: dialect))
      case .response(let type): .response(try type.init(from: &reader, dialect: dialect))
      case .notification(let type): .notification(try type.init(from: &reader, dialect: dialect))
      case .data(let type): .data(try type.init(from: &reader, dialect: dialect))
      }
    }
  }

  /// How a message is laid out; nil when that is not known.
  static func layout(of key: Key, dialect: Dialect) -> Layout? {
    // A vendor's own table comes first; Android's group is spoken by chips of many makers.
    vendor[dialect.vendor]?[key] ?? standard[key] ?? android[key]
  }

  /// Every message of which the layout is known in this dialect.
  public static func keys(in dialect: Dialect) -> Set<Key> {
    Set(standard.keys).union(android.keys).union(vendor[dialect.vendor]?.keys.map { $0 } ?? [])
  }

  // MARK: rows

  private static let standard = table(
    commands: [
      DeviceReset.self, GetDeviceInfo.self, GetCapabilities.self, SetConfig.self, GetConfig.self,
      QueryTimestamp.self,
      SessionInit.self, SessionDeinit.self, SetAppConfig.self, GetAppConfig.self,
      GetSessionCount.self, GetSessionState.self,
      UpdateMulticastList.self, UpdateDTAnchorRounds.self, UpdateDTTagRounds.self,
      QueryDataSize.self, SetHUSControllerConfig.self, SetHUSControleeConfig.self,
      ConfigureDataTransferPhase.self,
      SessionStart.self, SessionStop.self, GetRangingCount.self,
      LogicalLinkCreate.self, LogicalLinkClose.self, LogicalLinkGetParam.self,
      TestConfigSet.self, TestConfigGet.self, TestPeriodicTX.self, TestPERRX.self, TestRX.self,
      TestLoopback.self, TestStopSession.self, TestSSTWR.self, TestSRRX.self,
    ],
    notifications: [
      DeviceStatusNotification.self, GenericErrorNotification.self, SessionStatusNotification.self,
      MulticastListNotification.self, SessionInfo.self, DataCreditNotification.self,
      DataTransferStatusNotification.self, RoleChangeNotification.self,
      LogicalLinkCreateNotification.self, LogicalLinkUWBSCloseNotification.self,
      LogicalLinkUWBSCreateNotification.self, DataTransferPhaseNotification.self,
      TestPeriodicTXNotification.self, TestPERRXNotification.self, TestRXNotification.self,
      TestLoopbackNotification.self, TestSSTWRNotification.self, TestSRRXNotification.self,
    ],
    others: [
      Key(type: .data, opcode: DataMessageSend.opcode): .data(DataMessageSend.self),
      Key(type: .data, opcode: DataMessageReceived.opcode): .data(DataMessageReceived.self),
      Key(type: .data, opcode: LogicalLinkDataSend.opcode): .data(LogicalLinkDataSend.self),
      Key(type: .data, opcode: RadarDataMessage.opcode): .data(RadarDataMessage.self),
      Key(type: .data, opcode: LogicalLinkDataReceived.opcode): .data(LogicalLinkDataReceived.self),
    ])

  private static let android = table(
    commands: [
      AndroidGetPowerStats.self, AndroidSetCountryCode.self, AndroidRadarSetAppConfig.self,
      AndroidRadarGetAppConfig.self,
    ],
    notifications: [RangeDiagnosticsNotification.self])

  // The same vendor group means different things on different chips, so each vendor has its own.
  private static let vendor: [Dialect.Vendor: [Key: Layout]] = [
    .nxp: table(
      commands: [
        NXPDeviceInit.self, NXPSetCalibration.self, NXPGetCalibration.self, NXPGetRandom.self,
        NXPReadOTPCalibration.self, NXPReadModuleID.self, NXPSetProfile.self, NXPGetErrorLog.self,
        NXPSetAppConfig.self, NXPGetAppConfig.self, NXPDeleteURSK.self, NXPGetAllSessions.self,
        NXPBind.self, NXPCheckBinding.self, NXPRangeResume.self,
      ],
      notifications: [
        NXPBindingStatusNotification.self, NXPRadarNotification.self,
        NXPReadOTPCalibrationNotification.self, NXPRFrameLogNotification.self,
        NXPSchedulerStatusNotification.self, NXPDeleteURSKNotification.self,
        NXPCIRLogNotification.self,
      ],
      others: [
        // SR04x has other opcodes for these two. Source: nxp-uwb/sr250-uwbiot-zephyr (uci_defs.h).
        Key(type: .notification, opcode: Opcode(.sessionControl, 0x0B)):
          .notification(DataCreditNotification.self),
        Key(type: .notification, opcode: Opcode(.sessionControl, 0x0C)):
          .notification(DataTransferStatusNotification.self),
      ]),
    .qorvo: table(
      commands: [
        QorvoSetCalibration.self, QorvoGetCalibration.self, QorvoResetCalibration.self,
        QorvoBeginTransaction.self, QorvoEndTransaction.self, QorvoTestTXCW.self,
        QorvoTestPLLLock.self, QorvoGetSessions.self, QorvoGetMemoryStats.self,
        QorvoGetPowerStats.self, QorvoResetCPUStats.self, QorvoGetDeviceStats.self,
      ],
      notifications: [
        QorvoBootNotification.self, QorvoTestDebugNotification.self,
        QorvoTestPLLLockNotification.self, QorvoTestRTCNotification.self,
        QorvoPSDUDumpNotification.self,
      ],
      others: [
        Key(type: .notification, opcode: RangeDiagnosticsNotification.qorvoOpcode):
          .notification(RangeDiagnosticsNotification.self),
        // Where older firmware has SESSION_DATA_TRANSFER_STATUS_NTF.
        Key(type: .notification, opcode: Opcode(GroupID(rawValue: 0xB), 0x05)):
          .notification(DataTransferStatusNotification.self),
      ]),
  ]

  private static func table(
    commands: [any UCICommand.Type], notifications: [any UCINotification.Type],
    others: [Key: Layout] = [:]
  ) -> [Key: Layout] {
    var table = others
    for command in commands {
      table[Key(type: .command, opcode: command.opcode)] = .command(command)
      table[Key(type: .response, opcode: command.opcode)] = .response(responseType(of: command))
    }
    for notification in notifications {
      table[Key(type: .notification, opcode: notification.opcode)] = .notification(notification)
    }
    return table
  }

  private static func responseType<C: UCICommand>(of command: C.Type) -> any UCIResponse.Type {
    C.Response.self
  }
}
