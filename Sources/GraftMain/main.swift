import Foundation
import GraftCommands

// A reader of the output that goes away and a file that grows beyond a limit must not end the program
// with a signal: writing fails then, and that is told.
for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }

// OpenMP's workers spin for long while they wait, unless told otherwise before the library is loaded.
// About 0.1 ms bridges the time from one node to the next: to wake them costs more than that.
let environment = ProcessInfo.processInfo.environment
if environment["OMP_WAIT_POLICY"] == nil, environment["GOMP_SPINCOUNT"] == nil {
  setenv("GOMP_SPINCOUNT", "10000", 1)
  var arguments = CommandLine.arguments.map { strdup($0) } + [nil]
  execv("/proc/self/exe", &arguments)
  // Where the program cannot start itself again, it goes on as it is.
}

exit(await CommandLineTool.run(Array(CommandLine.arguments.dropFirst())))
