/// The fields of an operator's options, by their numbers; those that the file leaves out have the
/// default.
extension TFLiteOperator {
  func int(_ field: Int, default standard: Int32 = 0) throws -> Int {
    Int(try options?.integer(field, Int32.self, default: standard) ?? standard)
  }

  /// A number of one byte, such as a kind of padding.
  func byte(_ field: Int, default standard: Int8 = 0) throws -> Int {
    Int(try options?.integer(field, Int8.self, default: standard) ?? standard)
  }

  func flag(_ field: Int, default standard: Bool = false) throws -> Bool {
    try options?.bool(field, default: standard) ?? standard
  }

  func float(_ field: Int, default standard: Float = 0) throws -> Float {
    try options?.float(field, default: standard) ?? standard
  }

  func ints(_ field: Int) throws -> [Int]? {
    try options?.integers(field, Int32.self)?.map(Int.init)
  }
}
