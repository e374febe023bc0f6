import Foundation
import GraftCommands

// A reader of the output that goes away must not end the program with a signal.
signal(SIGPIPE, SIG_IGN)

// OpenMP's workers spin while they wait, unless told otherwise before the library is loaded.
if ProcessInfo.processInfo.environment["OMP_WAIT_POLICY"] == nil {
  setenv("OMP_WAIT_POLICY", "passive", 1)
  var arguments = CommandLine.arguments.map { strdup($0) } + [nil]
  execv("/proc/self/exe", &arguments)
  // Where the program cannot start itself again, it goes on as it is.
}

exit(await CommandLineTool.run(Array(CommandLine.arguments.dropFirst())))
