import Foundation
import GraftDiagnostics
import GraftTestSupport
import Testing

@testable import GraftLearning

/// Made with PyTorch by make.py in that folder.
private let manifest: ScheduleGoldens? = {
  let path = SharedData.project.appending(path: "Tests/OptimizerGoldens/schedules.json")
  return try? JSONDecoder().decode(ScheduleGoldens.self, from: Data(contentsOf: path))
}()

private struct ScheduleGoldens: Decodable {
  let rate: Double
  let cases: [ScheduleCase]
  let plateaus: [ScheduleCase]
}

private struct ScheduleCase: Decodable, Sendable, CustomTestStringConvertible {
  let name: String
  let schedule: LearningRateSchedule
  let rates: [Double]
  let losses: [Double]?

  var testDescription: String { name }
}

struct ScheduleTests {
  @Test func `the golden cases are there`() throws {
    #expect(try #require(manifest).cases.count >= 13)
    #expect(try #require(manifest).plateaus.count >= 3)
  }

  @Test(arguments: manifest?.cases ?? [])
  private func `every update has PyTorch's learning rate`(test: ScheduleCase) throws {
    let rate = try #require(manifest).rate
    try test.schedule.check()
    for (index, expected) in test.rates.enumerated() {
      let actual = rate * Double(test.schedule.factor(step: index + 1))
      #expect(
        abs(actual - expected) <= 1e-6 * expected + 1e-9,
        "\(test.name), update \(index + 1): \(actual), not \(expected)")
    }
  }

  @Test(arguments: manifest?.plateaus ?? [])
  private func `every epoch's loss has PyTorch's effect on a plateau`(test: ScheduleCase) throws {
    let rate = try #require(manifest).rate
    let losses = try #require(test.losses)
    #expect(losses.count == test.rates.count)
    var state = try #require(test.schedule.plateau)
    for (index, loss) in losses.enumerated() {
      let actual = rate * Double(state.observe(loss))
      #expect(
        abs(actual - test.rates[index]) <= 1e-6 * test.rates[index],
        "\(test.name), epoch \(index + 1): \(actual), not \(test.rates[index])")
      // What is stored goes on as if it had never been.
      state = try JSONDecoder().decode(PlateauState.self, from: JSONEncoder().encode(state))
    }
    #expect(test.schedule.factor(step: 5) == 1)
  }

  @Test func `losses that are no numbers count as no better`() throws {
    var state = try #require(LearningRateSchedule.reduceOnPlateau(factor: 0.5, patience: 1).plateau)
    let factors = [Double.nan, .nan, 1, .nan, .nan].map { state.observe($0) }
    #expect(factors == [1, 0.5, 0.5, 0.5, 0.25])
  }

  @Test func `a warm-up is followed by the schedule, also one on plateaus`() {
    let schedule = LearningRateSchedule.linearWarmUp(steps: 4, then: .reduceOnPlateau())
    #expect((1...6).map { schedule.factor(step: $0) } == [0.25, 0.5, 0.75, 1, 1, 1])
    #expect(schedule.plateau != nil)
    #expect(LearningRateSchedule.linearWarmUp(steps: 4).plateau == nil)
    let line = LearningRateSchedule.linear(warmUp: 2, total: 6)
    #expect((1...7).map { line.factor(step: $0) } == [0.5, 1, 1, 0.75, 0.5, 0.25, 0])
  }

  @Test(arguments: [
    (LearningRateSchedule.step(every: 0, factor: 0.5), "between two steps"),
    (.step(every: 1, factor: .nan), "the schedule's factor is nan"),
    (.multiStep(after: [3, 0], factor: 0.5), "a milestone of the schedule is 0"),
    (.exponential(factor: -1), "the schedule's factor is -1"),
    (.cosine(steps: -3), "number of updates is -3"),
    (.linear(steps: 1, minimum: 2), "smallest share is 2"),
    (.linearWarmUp(steps: -1), "warm-up is -1"),
    (.linearWarmUp(steps: 1, then: .linear(steps: 0)), "number of updates is 0"),
    (.linear(warmUp: 5, total: 5), "number of updates is 0"),
    (.reduceOnPlateau(factor: 1), "the factor on a plateau is 1"),
    (.reduceOnPlateau(patience: -1), "the patience on a plateau is -1"),
    (.reduceOnPlateau(threshold: 1), "the threshold of a plateau is 1"),
  ])
  func `a number out of its range is refused`(schedule: LearningRateSchedule, text: String) {
    #expect {
      try schedule.check()
    } throws: {
      "\($0)".contains(text)
    }
    // Even then nothing traps.
    for step in [Int.min, -1, 0, 1, 1000, .max] { _ = schedule.factor(step: step) }
  }

  @Test func `a schedule survives being stored`() throws {
    let schedules: [LearningRateSchedule] = [
      .constant, .step(every: 3, factor: 0.1), .multiStep(after: [1, 2], factor: 0.5),
      .exponential(factor: 0.9), .linear(warmUp: 3, total: 9),
      .linearWarmUp(steps: 3, then: .cosine(steps: 5, minimum: 0.1)), .reduceOnPlateau(),
    ]
    let data = try JSONEncoder().encode(schedules)
    #expect(try JSONDecoder().decode([LearningRateSchedule].self, from: data) == schedules)
  }
}
