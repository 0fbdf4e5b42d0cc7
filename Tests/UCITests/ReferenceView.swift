// SPDX-License-Identifier: Apache-2.0

import UCITestSupport

@testable import UCI

/// A message with the names and forms of the corpus, so that both can be compared key by key.
enum ReferenceView {
  static func fields(of message: Message) -> [String: JSON] {
    switch message.content {
    case .payload(let payload): fields(of: payload, message)
    case .opaque: [:]
    }
  }

  private static func fields(of payload: any UCIPayload, _ message: Message) -> [String: JSON] {
    var view: [String: JSON] = [:]
    if let status = message.status { view["status"] = JSON(status.rawValue) }
    switch payload {
    case let value as DeviceReset: view["reset_config"] = JSON(value.configuration)
    case let value as DeviceStatusNotification: view["device_state"] = JSON(value.state.rawValue)
    case let value as GenericErrorNotification: view["status"] = JSON(value.status.rawValue)
    case let value as BodyResponse<DeviceInfo>:
      guard let info = value.body else { break }
      view["uci_version"] = version(info.uciVersion)
      view["mac_version"] = version(info.macVersion)
      view["phy_version"] = version(info.phyVersion)
      view["uci_test_version"] = version(info.testVersion)
      view["vendor_spec_info"] = JSON(info.vendorInfo)
    case let value as TimestampResponse:
      view["timeStamp"] = value.microseconds.map { JSON($0) }
    case let value as TLVListResponse: view["tlvs"] = value.parameters.map(parameters)
    case let value as DeviceConfigResponse: view["parameters"] = value.parameters.map(parameters)
    case let value as SetConfig: view["parameters"] = parameters(value.parameters)
    case let value as GetConfig:
      view["parameter_ids"] = .list(value.parameters.map(\.number).map { JSON($0) })
    case let value as ConfigurationResponse:
      let list = value.refused.map { refused in
        JSON.list(
          refused.map { .object(["id": JSON($0.id), "status": JSON($0.status.rawValue)]) })
      }
      view["cfg_status"] = list
      view["parameters"] = list
    case let value as SessionInit:
      view["session_id"] = JSON(value.sessionID)
      view["session_type"] = JSON(value.type.rawValue)
    case let value as SessionInitResponse:
      view["session_handle"] = value.handle.map { JSON($0) }
    case let value as SessionStatusNotification:
      view["session_token"] = JSON(value.sessionToken)
      view["session_state"] = JSON(value.state.rawValue)
      view["reason_code"] = JSON(value.reason.rawValue)
    case let value as SetAppConfig:
      view["session_token"] = JSON(value.sessionToken)
      view["tlvs"] = parameters(value.parameters)
    case let value as GetAppConfig:
      view["session_token"] = JSON(value.sessionToken)
      view["app_cfg"] = .list(value.ids.map { JSON($0) })
    case let value as SessionCountResponse: view["session_count"] = value.count.map { JSON($0) }
    case let value as SessionStateResponse:
      view["session_state"] = value.state.map { JSON($0.rawValue) }
    case let value as RangingCountResponse: view["count"] = value.count.map { JSON($0) }
    case let value as any SessionTokenCommand:
      view["session_token"] = JSON(value.sessionToken)
      view["session_id"] = JSON(value.sessionToken)
    case let value as UpdateMulticastList:
      view["session_token"] = JSON(value.sessionToken)
      view["action"] = JSON(value.action.rawValue)
    case let value as MulticastListResponse:
      view["controlee_status"] = value.controlees.map(controlees)
    case let value as MulticastListNotification:
      view["session_token"] = JSON(value.sessionToken)
      view["controlee_status"] = controlees(value.controlees)
    case let value as RangingRoundsResponse:
      view["ranging_round_indexes"] = value.failedRounds.map { JSON($0) }
    case let value as DataCreditNotification:
      view["session_token"] = JSON(value.sessionToken)
      view["credit_availability"] = JSON(value.credit)
    case let value as DataTransferStatusNotification:
      view["session_token"] = JSON(value.sessionToken)
      view["uci_sequence_number"] = JSON(value.sequenceNumber)
      view["status"] = JSON(value.status.rawValue)
      view["tx_count"] = value.transmissions.map { JSON($0) }
    case let value as DataMessageSend:
      view["session_handle"] = JSON(value.sessionToken)
      view["destination_address"] = JSON(value.destination)
      view["data_sequence_number"] = JSON(value.sequenceNumber)
      view["application_data"] = JSON(value.data)
    case let value as DataMessageReceived:
      view["session_handle"] = JSON(value.sessionToken)
      view["status"] = JSON(value.status.rawValue)
      view["source_address"] = JSON(value.source)
      view["data_sequence_number"] = JSON(value.sequenceNumber)
      view["application_data"] = JSON(value.data)
    case let value as BodyResponse<AndroidPowerStats>:
      view["stats"] = value.body.map {
        .object([
          "status": JSON(value.status.rawValue), "idle_time_ms": JSON($0.idleMilliseconds),
          "tx_time_ms": JSON($0.txMilliseconds), "rx_time_ms": JSON($0.rxMilliseconds),
          "total_wake_count": JSON($0.wakeCount),
        ])
      }
    case let value as AndroidSetCountryCode:
      view["country_code"] = JSON(value.country)
    case let value as RangeDiagnosticsNotification:
      view["session_token"] = JSON(value.sessionToken)
      view["sequence_number"] = JSON(value.sequenceNumber)
      view["frame_reports"] = .list(value.reports.map(report))
    case let value as SessionInfo: view.merge(ranging(value, message)) { _, new in new }
    default: break
    }
    return view
  }

  private static func version(_ version: UCIVersion) -> JSON {
    JSON(Int(version.major) | Int(version.minor << 4 | version.maintenance) << 8)
  }

  private static func parameters(_ list: [TLV]) -> JSON {
    .list(list.map { .object(["id": JSON($0.id), "v": JSON($0.value)]) })
  }

  private static func controlees(_ list: [ControleeStatus]) -> JSON {
    .list(
      list.map {
        .object([
          "mac_address": JSON(MACAddress($0.address).bytes), "status": JSON($0.status.rawValue),
        ])
      })
  }

  private static func report(_ report: RangeDiagnosticsNotification.Report) -> JSON {
    .object([
      "uwb_msg_id": JSON(report.message), "action": JSON(report.action),
      "antenna_set": JSON(report.antennaSet),
      "frame_report_tlvs": .list(
        report.items.map { .object(["id": JSON($0.type), "v": JSON($0.value)]) }),
    ])
  }

  private static func ranging(_ info: SessionInfo, _ message: Message) -> [String: JSON] {
    var view: [String: JSON] = [
      "sequence_number": JSON(info.sequenceNumber), "session_token": JSON(info.sessionToken),
      "rcr_indicator": JSON(info.rcrIndication),
      "current_ranging_interval": JSON(info.intervalMilliseconds),
      "ranging_measurement_type": JSON(info.type.rawValue),
      "mac_address_indicator": JSON(info.addressIndicator),
      "vendor_data": JSON(message.trailing),
    ]
    switch info.measurements {
    case .twoWay(let list):
      view["two_way_ranging_measurements"] = .list(list.map(twoWay))
    case .oneWayAoA(let list):
      view["owr_aoa_ranging_measurements"] = .list(
        list.map {
          .object(
            [
              "mac_address": JSON($0.peer.value), "status": JSON($0.status.rawValue),
              "nlos": JSON($0.lineOfSight.rawValue),
              "frame_sequence_number": JSON($0.frameSequenceNumber),
              "block_index": JSON($0.blockIndex),
            ].merging(angles($0.azimuth, $0.elevation)) { a, _ in a })
        })
    case .downlinkTDoA(let list):
      view["dl_tdoa_measurements"] = .list(
        list.map {
          .object(["mac_address": JSON($0.peer.value), "measurement": .object(downlink($0))])
        })
    case .uplinkTDoA, .downlinkTDoAV2, .other: break
    }
    return view
  }

  // The corpus has angles without sign.
  private static func angles(
    _ azimuth: Angle, _ elevation: Angle, prefix: String = "aoa"
  ) -> [String: JSON] {
    [
      "\(prefix)_azimuth": JSON(UInt16(bitPattern: azimuth.raw)),
      "\(prefix)_azimuth_fom": JSON(azimuth.figureOfMerit),
      "\(prefix)_elevation": JSON(UInt16(bitPattern: elevation.raw)),
      "\(prefix)_elevation_fom": JSON(elevation.figureOfMerit),
    ]
  }

  private static func twoWay(_ measurement: TwoWayMeasurement) -> JSON {
    var view: [String: JSON] = [
      "mac_address": JSON(measurement.peer.value), "status": JSON(measurement.status.rawValue),
      "nlos": JSON(measurement.lineOfSight.rawValue), "distance": JSON(measurement.rawDistance),
      "slot_index": JSON(measurement.slotIndex), "rssi": JSON(measurement.rawRSSI),
    ]
    view.merge(angles(measurement.azimuth, measurement.elevation)) { a, _ in a }
    view.merge(
      angles(
        measurement.destinationAzimuth, measurement.destinationElevation, prefix: "aoa_destination")
    ) { a, _ in a }
    return .object(view)
  }

  static func downlink(_ measurement: DownlinkTDoAMeasurement) -> [String: JSON] {
    let control = measurement.control
    var view: [String: JSON] = [
      "status": JSON(measurement.status.rawValue), "message_type": JSON(measurement.messageType),
      "tx_timestamp_type": JSON(measurement.isCommonTimeBase ? 1 : 0),
      "block_index": JSON(measurement.blockIndex), "round_index": JSON(measurement.roundIndex),
      "nlos": JSON(measurement.lineOfSight.rawValue), "rssi": JSON(measurement.rawRSSI),
      "anchor_cfo": JSON(UInt16(bitPattern: measurement.rawAnchorClockOffset)),
      "cfo": JSON(UInt16(bitPattern: measurement.rawClockOffset)),
      "initiator_reply_time": JSON(measurement.initiatorReplyTime),
      "responder_reply_time": JSON(measurement.responderReplyTime),
      "initiator_responder_tof": JSON(measurement.timeOfFlight),
      "active_ranging_rounds": JSON(measurement.activeRounds),
      "wgs84_location": control.locationType == 1
        ? .list([.object(["data": JSON(measurement.location)])]) : .list([]),
    ]
    let tx = JSON(measurement.txTimestamp)
    let rx = JSON(measurement.rxTimestamp)
    view["tx_timestamp_40"] = control.txTimestampLength == 5 ? tx : .null
    view["tx_timestamp_64"] = control.txTimestampLength == 8 ? tx : .null
    view["rx_timestamp_40"] = control.rxTimestampLength == 5 ? rx : .null
    view["rx_timestamp_64"] = control.rxTimestampLength == 8 ? rx : .null
    view.merge(angles(measurement.azimuth, measurement.elevation)) { a, _ in a }
    return view
  }
}
