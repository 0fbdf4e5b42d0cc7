// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The figures of the site's estimators, each beside its textbook method.
@main
struct SiteFigures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "SiteFigures",
    subcommands: [
      AirFigures.self, DifferenceFigures.self, EventFigures.self, FlightFigures.self,
      FuzzFigures.self, HistoryFigures.self, LatencyFigures.self,
      SurveyFigures.self, TrackFigures.self, ZoneFigures.self,
    ])
}
