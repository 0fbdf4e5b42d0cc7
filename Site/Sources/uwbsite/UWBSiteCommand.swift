// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SiteServer

@main
struct UWBSiteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uwbsite",
    abstract: "Places of tags and anchors, and how sure they are.",
    version: "uwbsite \(siteVersion)",
    subcommands: [
      Check.self, Demo.self, HistoryCommand.self, PlanCommand.self, Plot.self, Ranges.self,
      Replay.self, Run.self, SurveyCommand.self,
    ])
}
