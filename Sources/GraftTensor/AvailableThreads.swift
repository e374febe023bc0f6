#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How many threads can run at the same time on this machine.
public let availableThreads = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
