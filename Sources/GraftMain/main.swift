import Foundation
import GraftCommands

// A reader of the output that goes away must not end the program with a signal.
signal(SIGPIPE, SIG_IGN)
exit(await CommandLineTool.run(Array(CommandLine.arguments.dropFirst())))
