// Reads a recorded capture and prints the estimates that its measurements give.

import UWB

let file = CommandLine.arguments.dropFirst().first ?? "capture.pcapng"
let capture = try CaptureReader.read(file: file)
for problem in capture.problems { print("\(file): \(problem)") }
for estimate in capture.estimates() { print(estimate) }
