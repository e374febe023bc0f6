import GraftMedia

/// The joints of one person in a picture.
public struct Pose: Sendable, Hashable {
  /// In the order of MoveNet's output; left and right are the person's own.
  public enum Joint: String, Sendable, CaseIterable, Codable {
    case nose
    case leftEye = "left eye"
    case rightEye = "right eye"
    case leftEar = "left ear"
    case rightEar = "right ear"
    case leftShoulder = "left shoulder"
    case rightShoulder = "right shoulder"
    case leftElbow = "left elbow"
    case rightElbow = "right elbow"
    case leftWrist = "left wrist"
    case rightWrist = "right wrist"
    case leftHip = "left hip"
    case rightHip = "right hip"
    case leftKnee = "left knee"
    case rightKnee = "right knee"
    case leftAnkle = "left ankle"
    case rightAnkle = "right ankle"
  }

  public struct Keypoint: Sendable, Hashable {
    public let joint: Joint
    /// In the picture's pixels.
    public let location: PicturePoint
    /// How sure the model is, 0 to 1.
    public let score: Double

    public init(joint: Joint, location: PicturePoint, score: Double) {
      self.joint = joint
      self.location = location
      self.score = score
    }
  }

  /// All 17, in the order of `Joint`.
  public let keypoints: [Keypoint]
  /// The model's for the person, or where it has none the mean over the joints.
  public let score: Double
  /// Around the person, where the model gives it.
  public let box: PictureRectangle?

  public init(keypoints: [Keypoint], score: Double, box: PictureRectangle?) {
    self.keypoints = keypoints
    self.score = score
    self.box = box
  }

  /// The pairs of joints that limbs connect.
  public static let limbs: [(Joint, Joint)] = [
    (.nose, .leftEye), (.nose, .rightEye), (.leftEye, .leftEar), (.rightEye, .rightEar),
    (.leftShoulder, .rightShoulder), (.leftShoulder, .leftElbow), (.leftElbow, .leftWrist),
    (.rightShoulder, .rightElbow), (.rightElbow, .rightWrist), (.leftShoulder, .leftHip),
    (.rightShoulder, .rightHip), (.leftHip, .rightHip), (.leftHip, .leftKnee),
    (.leftKnee, .leftAnkle), (.rightHip, .rightKnee), (.rightKnee, .rightAnkle),
  ]
}
