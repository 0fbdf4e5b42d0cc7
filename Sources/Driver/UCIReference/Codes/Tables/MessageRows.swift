// SPDX-License-Identifier: Apache-2.0

/// Identifiers of messages between accessories and phones. Android's are the second byte of a
/// message, after the version. Sources: AOSP's packages/modules/Uwb and source.android.com
/// ("Ranging OOB specification"); for iPhones, Apple's sample accessory and firmwares of its kits.
enum PhoneMessages {
  static let android = CodeTable([
    .init(
      0x00, "CAPABILITY_REQUEST", "The phone requests the capabilities for some technologies.",
      try: ["Answer within four seconds, and send nothing before the answer."]),
    .init(
      0x01, "CAPABILITY_RESPONSE",
      "The accessory offers its address, channels, configurations, intervals and roles.",
      causes: ["a phone that ends here has found no common configuration, channel or role"],
      try: ["Compare the offer with the capabilities of the chip: uwbctl caps."]),
    .init(
      0x02, "CONFIGURATION",
      "The phone has chosen a session, with its key, and has started its own chip.",
      causes: ["a second one replaces the session"]),
    .init(
      0x03, "CONFIGURATION_RESPONSE",
      "The accessory lists the technologies that it has started; none: it has refused.",
      causes: ["a value that was not offered", "a chip without a free session"],
      try: ["Read the cause at the accessory: uwbctl accessory."]),
    .init(0x06, "STOP", "The phone ends ranging with some technologies."),
    .init(0x07, "STOP_RESPONSE", "The accessory lists the technologies that have ended."),
    .init(
      0x08, "MOTION_NOTIFICATION",
      "The accessory has moved: only in version 3, and only on request."
    ),
  ])

  static let apple = CodeTable([
    .init(
      0x01, "ACCESSORY_CONFIGURATION_DATA", "The accessory sends the data for NISession.",
      causes: ["the app sent INITIALIZE"]),
    .init(0x02, "ACCESSORY_UWB_DID_START", "The accessory ranges."),
    .init(
      0x03, "ACCESSORY_UWB_DID_STOP", "The accessory does not range, or no longer.",
      causes: ["the app sent STOP", "shareable data that the chip refuses"],
      try: ["Read the cause at the accessory: uwbctl accessory."]),
    .init(0x0A, "INITIALIZE", "The app requests the configuration data."),
    .init(
      0x0B, "CONFIGURE_AND_START", "The app sends the shareable data of a session, with its key."),
    .init(0x0C, "STOP", "The app ends ranging."),
    .init(
      0x40, "REGION_CHANGED",
      "The phone has entered or left a region, or stayed there. Only accessories of this package send it."
    ),
  ])
}
