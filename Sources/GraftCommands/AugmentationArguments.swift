import Foundation
import Graft

/// What '--augment' says: a name of common changes, or a list of changes with their numbers.
struct AugmentationArguments {
  let pictures: PictureAugmentation?
  let recordings: AudioAugmentation?
  let variants: ExampleVariants

  var isGiven: Bool { pictures != nil || recordings != nil }

  init(_ arguments: Arguments) throws {
    let seed = UInt64(try arguments.int("--seed", in: 0...Int.max) ?? 0)
    let isUnlimited = arguments.string("--variants") == "unlimited"
    variants = try ExampleVariants(
      count: isUnlimited ? nil : try arguments.int("--variants", in: 1...1_000_000) ?? 8,
      seed: seed)
    guard let text = arguments.string("--augment") else {
      self.pictures = nil
      self.recordings = nil
      return
    }
    var pictures = PictureAugmentation()
    var recordings = AudioAugmentation()
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let change = try Change(part)
      let isForPictures = try change.apply(to: &pictures)
      let isForRecordings = try change.apply(to: &recordings)
      guard isForPictures || isForRecordings else {
        throw UsageError(
          "'--augment' knows no change '\(change.name)'",
          fix: didYouMean(change.name, among: Change.names)
            ?? "Choose among: \(Change.names.joined(separator: ", "))")
      }
    }
    try pictures.check()
    try recordings.check()
    self.pictures = pictures
    self.recordings = recordings
  }

  /// One entry of the list: NAME, NAME=NUMBER or NAME=LOW:HIGH.
  private struct Change {
    static let names = [
      "photographs", "sounds", "flip", "vertical-flip", "crop", "rotation", "zoom", "exposure",
      "saturation", "hue", "blur", "noise", "speed", "shift", "gain", "signal-to-noise",
    ]

    let name: String
    private let numbers: [Double]

    init(_ text: Substring) throws {
      let sides = text.split(separator: "=", maxSplits: 1)
      name = sides.first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
      guard sides.count == 2 else {
        numbers = []
        return
      }
      numbers = try sides[1].split(separator: ":", omittingEmptySubsequences: false).map {
        guard let number = Double($0.trimmingCharacters(in: .whitespaces)), number.isFinite else {
          throw UsageError(
            "'\(text)' is no change for '--augment'",
            fix: "Write NAME, NAME=NUMBER or NAME=LOW:HIGH")
        }
        return number
      }
    }

    private func number() throws -> Double {
      guard numbers.count == 1 else {
        throw UsageError("the change '\(name)' takes one number, as in '\(name)=0.5'")
      }
      return numbers[0]
    }

    private func range() throws -> ClosedRange<Double> {
      guard numbers.count == 2, numbers[0] <= numbers[1] else {
        throw UsageError("the change '\(name)' takes a range, as in '\(name)=0.8:1.2'")
      }
      return numbers[0]...numbers[1]
    }

    private func requireNoNumber() throws {
      guard numbers.isEmpty else { throw UsageError("the change '\(name)' takes no number") }
    }

    /// - Returns: whether pictures have such a change.
    func apply(to pictures: inout PictureAugmentation) throws -> Bool {
      switch name {
      case "photographs":
        try requireNoNumber()
        pictures = .photographs
      case "flip":
        try requireNoNumber()
        pictures.horizontalFlip = true
      case "vertical-flip":
        try requireNoNumber()
        pictures.verticalFlip = true
      case "crop": pictures.crop = try number()
      case "rotation": pictures.rotation = try number()
      case "zoom": pictures.zoom = try range()
      case "exposure": pictures.exposure = try number()
      case "saturation": pictures.saturation = try range()
      case "hue": pictures.hue = try number()
      case "blur": pictures.blur = try number()
      case "noise": pictures.noise = try number()
      default: return false
      }
      return true
    }

    /// - Returns: whether recordings have such a change.
    func apply(to recordings: inout AudioAugmentation) throws -> Bool {
      switch name {
      case "sounds":
        try requireNoNumber()
        recordings = .sounds
      case "speed": recordings.speed = try range()
      case "shift": recordings.shift = try number()
      case "gain": recordings.gain = try range()
      case "signal-to-noise": recordings.signalToNoise = try range()
      default: return false
      }
      return true
    }
  }
}
