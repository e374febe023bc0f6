import Foundation
import GraftDiagnostics
import GraftTestSupport
import Testing

@testable import GraftFormats

struct CSVTableTests {
  private func fields(_ table: CSVTable) -> [[String]] {
    (0..<table.rowCount).map { row in
      table.columns.indices.map { table.text(row: row, column: $0) }
    }
  }

  @Test(arguments: [
    "a,b\n1,2\n3,4\n", "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4\r\n", "a,b\r1,2\r3,4\r",
    "\u{FEFF}a,b\n1,2\n3,4\n", "a;b\n1;2\n3;4\n", "a\tb\n1\t2\n3\t4\n",
    "\n a , b\n\n1,2\n\n3,4\n\n",
    "\"a\",\"b\"\n\"1\",2\n3,\"4\"",
  ])
  func `the same table in many ways`(text: String) throws {
    let table = try CSVTable(text: text)
    #expect(table.columns == ["a", "b"])
    #expect(fields(table) == [["1", "2"], ["3", "4"]])
  }

  @Test func `quoted fields hold separators, quotes and line ends`() throws {
    let table = try CSVTable(
      text: "name,value\r\n\"one, two\",1\r\n\"a \"\"b\"\"\",2\r\n\"two\nlines\",3\r\n\"\",4\r\nx,5"
    )
    #expect(
      fields(table) == [
        ["one, two", "1"], ["a \"b\"", "2"], ["two\nlines", "3"], ["", "4"], ["x", "5"],
      ])
    #expect(table.place(row: 4, column: 1) == ["line 7", "column 'value'"])
  }

  @Test func `a separator can be given, and fields may be empty`() throws {
    let table = try CSVTable(text: "a;b|c\n;|\n", separator: "|")
    #expect(table.columns == ["a;b", "c"])
    #expect(fields(table) == [[";", ""]])
    #expect(try CSVTable(text: "a\n\"\"\n").rowCount == 1)
    #expect(try CSVTable(text: "a,b\n").rowCount == 0)
  }

  @Test(arguments: [
    ("", "the table is empty"), ("\n\n", "the table is empty"),
    ("a,b\n1,2\n1,2,3\n", "line 3: there are 3 fields, and 2 columns are named"),
    ("a,b\n1\n", "line 2: there are 1 fields"), ("a,,c\n", "column 2 has no name"),
    ("a,b,a\n", "two columns are called 'a'"),
    ("a\n\"x\ny\n", "line 2: a quoted field has no end"),
    ("a,b\n\"x\"y,2\n", "line 2: text follows the end of a quoted field"),
  ])
  func `broken tables name the line`(text: String, message: String) {
    expectError(.badData, message) { _ = try CSVTable(text: text) }
  }

  @Test func `bytes that are no text name the line`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "latin.csv")
    try Data([0x61, 0x0A, 0x31, 0x0A, 0xE9, 0x0A]).write(to: url)
    expectError(.badData, "line 3: the text is no UTF-8") { _ = try CSVTable(path: url.path) }
    expectError(.notFound, "none.csv") {
      _ = try CSVTable(path: folder.url.appending(path: "none.csv").path)
    }
  }

  @Test func `numbers and missing values name line and column`() throws {
    let table = try CSVTable(text: "x,y\n 1.5 ,-2e3\n,NA\nabc,inf\n")
    #expect(try table.number(row: 0, column: 0) == 1.5)
    #expect(try table.number(row: 0, column: 1) == -2000)
    expectError(.badData, "line 3: column 'x': the value is missing. ") {
      _ = try table.number(row: 1, column: 0)
    }
    expectError(.badData, "line 3: column 'y': the value is missing ('NA')") {
      _ = try table.number(row: 1, column: 1)
    }
    expectError(.badData, "line 4: column 'x': 'abc' is no number") {
      _ = try table.number(row: 2, column: 0)
    }
    expectError(.badData, "line 4: column 'y': 'inf' is no number") {
      _ = try table.number(row: 2, column: 1)
    }
    expectError(.badData, "there is no column 'z'") { _ = try table.column("z") }
  }

  @Test func `damaged tables never trap`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "a.csv")
    try Data("a,b,\"c\"\r\n1,\"x \"\"y\"\"\",3\r\n4,é,6\r\n".utf8).write(to: url)
    let damaged = try DamagedFile(url.path, copy: folder.url.appending(path: "b.csv"))
    try damaged.expectErrorsOnly(count: 400, seed: 2) { path in
      let table = try CSVTable(path: path)
      for row in 0..<table.rowCount {
        for column in table.columns.indices { _ = try table.number(row: row, column: column) }
      }
    }
  }

  @Test(
    .enabled(if: SharedData.isPresent, SharedData.reason),
    arguments: [
      ("iris_train", 5), ("wine_test", 14), ("diabetes_train", 11), ("dishes", 3),
      ("meal_orders_train", 5),
    ])
  func `real tables are read`(name: String, columnCount: Int) throws {
    let table = try CSVTable(path: SharedData.path("data/tabular/\(name).csv"))
    #expect(table.columns.count == columnCount)
    #expect(table.rowCount > 20)
  }
}
