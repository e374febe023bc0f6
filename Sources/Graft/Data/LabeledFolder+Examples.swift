import Foundation
import GraftDiagnostics
import GraftLearning
import GraftMedia
import GraftTensor

extension LabeledFolder {
  /// The pictures as examples that are decoded when they are needed; targets are the labels' places,
  /// int64 [examples].
  ///
  /// - Parameters:
  ///   - input: the model's input.
  ///   - preprocessing: how a picture becomes the input.
  ///   - augmentation: changes while training, before the preprocessing; pictures whose shorter side
  ///     is more than twice the input's longer one are made that small first.
  ///   - variants: how many changed versions there are of each; without effect when nothing changes.
  /// - Throws: `invalidArgument` when these are no pictures or a number is out of range; what decoding
  ///   the first file throws.
  public func pictureExamples(
    input: String, preprocessing: PicturePreprocessing, augmentation: PictureAugmentation? = nil,
    variants: ExampleVariants? = nil
  ) throws -> ExampleSet {
    try require(.pictures)
    try preprocessing.check()
    try augmentation?.check()
    let most = 2 * max(preprocessing.width, preprocessing.height)
    return try examples(changing: augmentation != nil, variants) { url, generator in
      var picture = try Picture(contentsOf: url)
      if let augmentation, var random = generator {
        picture = try augmentation.applied(
          to: picture.shrunk(toShorterSide: most), using: &random)
        generator = random
      }
      return [input: try preprocessing.tensor(picture)]
    }
  }

  /// The recordings as examples that are decoded when they are needed; targets are the labels' places,
  /// int64 [examples].
  ///
  /// - Parameters:
  ///   - input: the model's input.
  ///   - preprocessing: how a recording becomes the input.
  ///   - augmentation: changes while training, of the beginning that is used.
  ///   - variants: how many changed versions there are of each; without effect when nothing changes.
  /// - Throws: `invalidArgument` when these are no recordings or a number is out of range; what
  ///   decoding the first file throws.
  public func recordingExamples(
    input: String, preprocessing: RecordingPreprocessing, augmentation: AudioAugmentation? = nil,
    variants: ExampleVariants? = nil
  ) throws -> ExampleSet {
    try require(.recordings)
    try preprocessing.check()
    try augmentation?.check()
    let decoder = preprocessing.decoder(stretch: augmentation?.speed.upperBound ?? 1)
    return try examples(changing: augmentation != nil, variants) { url, generator in
      var recording = try decoder.decode(url)
      if let augmentation, var random = generator {
        recording = try augmentation.applied(to: recording, using: &random)
        generator = random
      }
      return [input: try preprocessing.tensor(recording)]
    }
  }

  /// The same with only those files that can be decoded; the notes name the others.
  ///
  /// - Throws: `badData` when none can be.
  public func skippingUnreadable() throws -> LabeledFolder {
    let urls = files.map(\.url)
    let results: [Result<Void, any Error>] =
      switch media {
      case .pictures: PictureDecoder().decode(urls).map { $0.map { _ in } }
      case .recordings:
        urls.map { url in
          Result { _ = try RecordingPreprocessing(seconds: 3600).decoder().decode(url) }
        }
      }
    var reasons: [Int: any Error] = [:]
    for (place, result) in results.enumerated() {
      if case .failure(let error) = result { reasons[place] = error }
    }
    return try leavingOut(reasons)
  }

  // MARK: Parts

  private func require(_ wanted: Media) throws {
    guard media == wanted else {
      throw GraftError(
        .invalidArgument, "the folder was read for \(media.rawValue), not for \(wanted.rawValue)",
        at: [url.path])
    }
  }

  private func examples(
    changing: Bool, _ variants: ExampleVariants?,
    _ load: @escaping @Sendable (URL, inout SeededGenerator?) throws -> [String: Tensor]
  ) throws -> ExampleSet {
    let files = files
    return try ExampleSet(
      name: url.path, targets: try Tensor(files.map { Int64($0.label) }), labels: labels,
      variants: changing ? try variants ?? ExampleVariants() : nil
    ) { row, generator in
      do {
        return try load(files[row].url, &generator)
      } catch let error as GraftError {
        throw error.suggesting("Replace the file, or leave out all that cannot be decoded")
      }
    }
  }
}

extension Picture {
  /// The picture, smaller when its shorter side is longer than `most`.
  fileprivate func shrunk(toShorterSide most: Int) throws -> Picture {
    let shorter = min(width, height)
    guard shorter > most else { return self }
    let scale = Double(most) / Double(shorter)
    return try resized(
      toWidth: Int((Double(width) * scale).rounded()),
      height: Int((Double(height) * scale).rounded()))
  }
}
