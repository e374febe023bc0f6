import GraftDiagnostics
import GraftGraph
import GraftTensor
import Testing

struct OrderedTableTests {
  @Test func `keys keep the order in which they were added`() {
    var table = OrderedTable([("b", 1), ("a", 2), ("c", 3)])
    table["a"] = 5
    #expect(table.keys == ["b", "a", "c"])
    #expect(table["a"] == 5)
    table["b"] = nil
    #expect(table.map(\.value) == [5, 3])
    #expect(table.filter { _, value in value > 3 }.keys == ["a"])
  }
}

struct VerifierTests {
  private func graph(_ nodes: [Node], output: String = "y") -> Graph {
    Graph(
      inputs: [Feature(name: "x", type: .unknown)],
      outputs: [Feature(name: output, type: .unknown)], nodes: nodes)
  }

  @Test func `nodes out of order are sorted`() throws {
    let sorted = try graph([
      Node("Second", inputs: ["h"], outputs: ["y"]), Node("First", inputs: ["x"], outputs: ["h"]),
    ]).verified()
    #expect(sorted.nodes.map(\.op) == ["First", "Second"])
  }

  @Test func `a cycle, a value made twice and one never made are errors`() {
    let broken = [
      graph([
        Node("A", inputs: ["y"], outputs: ["h"]), Node("B", inputs: ["h"], outputs: ["y"]),
      ]),
      graph([
        Node("A", inputs: ["x"], outputs: ["y"]), Node("B", inputs: ["x"], outputs: ["y"]),
      ]),
      graph([Node("A", inputs: ["nowhere"], outputs: ["y"])]),
      graph([Node("A", inputs: ["x"], outputs: ["z"])]),
    ]
    for graph in broken {
      #expect {
        try graph.verified()
      } throws: {
        ($0 as? GraftError)?.code == .damaged
      }
    }
  }
}

struct FeatureTests {
  @Test func `a tensor that does not fit is named with both shapes`() throws {
    let feature = Feature(
      name: "x", type: .tensor(.float32, shape: [.named("N"), .fixed(3)]))
    try feature.check(try Tensor(zeros: [5, 3]))
    #expect {
      try feature.check(try Tensor(zeros: [5, 4]))
    } throws: {
      "\($0)".contains("input 'x': the shape [N, 3] is expected and [5, 4] is given")
    }
  }
}

struct ErrorTests {
  @Test func `an error reads as places, what and fix, each once`() {
    let error = GraftError(.badData, "it is broken", at: ["file"], fix: "Mend it")
    #expect(error.at("file").at("folder").description == "folder: file: it is broken. Mend it.")
    let question = GraftError(.badData, "there is no 'a'", fix: "Did you mean 'b'?")
    #expect(question.description == "there is no 'a'. Did you mean 'b'?")
  }
}

struct NearestNameTests {
  @Test(arguments: [("inspekt", "inspect"), ("TRAIN", "train"), ("benhc", nil), ("zzz", nil)])
  func `only a likely typing error gets advice`(word: String, nearest: String?) {
    #expect(nearestName(to: word, among: ["inspect", "train", "bench"]) == nearest)
  }
}
