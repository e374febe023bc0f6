import GraftGraph

/// How plans are made.
package struct PlanOptions: Sendable {
  /// Asked in this order for every node; the operator's own kernel comes last.
  package var providers: [any KernelProvider]
  /// Whether a kernel may do the nodes behind its own as well.
  package var fusesKernels = true
  /// Whether a step may write its output over an input that nobody needs any more.
  package var worksInPlace = true
  /// What changes the graph before kernels are chosen, in this order.
  package var passes: [any GraphPass]

  package init(
    providers: [any KernelProvider] = [], passes: [any GraphPass] = standardGraphPasses
  ) {
    self.providers = providers
    self.passes = passes
  }
}
