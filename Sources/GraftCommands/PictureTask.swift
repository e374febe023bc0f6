import Graft

/// One of the tasks on pictures, as the commands drive it.
struct PictureTask {
  /// The columns of a table of results, behind those that say which picture.
  let columns: [String]
  /// How pictures become the model's input.
  let preprocessing: PicturePreprocessing
  /// What the model says of a picture, the next one of a video.
  let answer: (Picture, inout PictureMemory) throws -> TaskAnswer
}

/// What a model says of one picture.
struct TaskAnswer {
  /// In JSON.
  let results: TaskResults
  /// In a table: a line for each result, with the task's columns.
  let rows: [[String]]
  /// In a sentence, without the picture's name.
  let text: String
  /// Into a copy of the picture.
  let draw: (inout PictureCanvas) throws -> Void
}

/// The results of any task; the others' are nil.
struct TaskResults: Encodable {
  struct Class: Encodable {
    let index: Int
    let label: String?
    let score: Double

    init(_ category: Category) {
      (index, label, score) = (category.index, category.label, category.score)
    }
  }

  struct Box: Encodable {
    let index: Int
    let label: String?
    let score: Double
    /// In the picture's pixels.
    let box: PictureRectangle
    /// `#rrggbb`.
    let color: String
  }

  struct Segment: Encodable {
    let index: Int
    let label: String?
    /// Of the picture, 0 to 1.
    let share: Double
    let pixels: Int
    let color: String
  }

  struct Joints: Encodable {
    struct Point: Encodable {
      let joint: String
      let x: Double
      let y: Double
      let score: Double
    }

    let score: Double
    let box: PictureRectangle?
    let joints: [Point]
  }

  var detections: [Box]?
  var classes: [Class]?
  var segments: [Segment]?
  var poses: [Joints]?
}

/// What is known of one picture or one picture of a video.
struct TaskRecord: Encodable {
  let source: String
  /// Of a video or camera.
  var frame: Int?
  /// Of a video or camera, in seconds from its beginning.
  var time: Double?
  var width: Int?
  var height: Int?
  /// Preparing the picture and running the model.
  var inferenceMilliseconds: Double?
  var results: TaskResults?
  var error: String?

  private enum Key: String, CodingKey {
    case source, frame, time, width, height, inferenceMilliseconds, error
  }

  func encode(to encoder: any Encoder) throws {
    try results?.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(source, forKey: .source)
    try container.encodeIfPresent(frame, forKey: .frame)
    try container.encodeIfPresent(time, forKey: .time)
    try container.encodeIfPresent(width, forKey: .width)
    try container.encodeIfPresent(height, forKey: .height)
    try container.encodeIfPresent(inferenceMilliseconds, forKey: .inferenceMilliseconds)
    try container.encodeIfPresent(error, forKey: .error)
  }
}

extension PictureColor {
  /// `#rrggbb`.
  var code: String {
    "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
