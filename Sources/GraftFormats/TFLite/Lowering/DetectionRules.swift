import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  private static let largestRowCount = 1_000_000

  static let detectionRules: [String: Rule] = [
    "TFLite_Detection_PostProcess": { context, operation in
      guard let bytes = operation.customOptions else {
        throw GraftError(.damaged, "its options are missing")
      }
      let options = try FlexBufferMap(bytes)
      var attributes: [String: Attribute] = [:]
      for name in ["max_detections", "num_classes"] {
        attributes[name] = .int(try options.integer(name))
      }
      for (name, standard) in [("max_classes_per_detection", 1), ("detections_per_class", 100)] {
        attributes[name] = .int(try options.integer(name, default: standard))
      }
      guard
        try options.integer("max_detections").multipliedReportingOverflow(
          by: options.integer("max_classes_per_detection", default: 1)
        ).partialValue <= largestRowCount
      else { throw GraftError(.unsupported, "more than \(largestRowCount) rows of detections") }
      attributes["use_regular_nms"] = .int(try options.integer("use_regular_nms", default: 0))
      for name in [
        "y_scale", "x_scale", "h_scale", "w_scale", "nms_score_threshold", "nms_iou_threshold",
      ] { attributes[name] = .float(try options.float(name)) }
      let inputs = try (0..<3).map { try context.float(try context.input($0, of: operation)) }
      let outputs = context.add(
        "DetectionPostProcess", inputs, attributes, domain: graftDomain, outputCount: 4)
      for (index, value) in outputs.enumerated() {
        context.bind(value, to: try context.output(index, of: operation))
      }
    }
  ]
}
