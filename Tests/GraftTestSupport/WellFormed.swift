import Testing

/// Expects every element of an XML document to be closed, in the right order.
package func expectWellFormed(
  _ xml: String, sourceLocation: SourceLocation = #_sourceLocation
) {
  var open: [Substring] = []
  for piece in xml.split(separator: "<").dropFirst(xml.hasPrefix("<") ? 0 : 1) {
    guard let end = piece.firstIndex(of: ">") else {
      Issue.record("'<\(piece)' does not end", sourceLocation: sourceLocation)
      return
    }
    let tag = piece[..<end]
    let name = tag.drop { $0 == "/" }.prefix { !$0.isWhitespace && $0 != "/" }
    if tag.hasPrefix("/") {
      #expect(open.popLast() == name, sourceLocation: sourceLocation)
    } else if !tag.hasSuffix("/") {
      open.append(name)
    }
  }
  #expect(open.isEmpty, "not closed: \(open)", sourceLocation: sourceLocation)
}
