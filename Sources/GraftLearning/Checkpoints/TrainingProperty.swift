/// A value of the property bag: what an app wants to keep with a checkpoint.
public enum TrainingProperty: Sendable, Codable, Equatable {
  case integer(Int64)
  case number(Float)
  case text(String)
}
