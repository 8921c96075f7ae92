import Cambium

/// Classes that nobody fills: with them a schema has as many classes as programs have.
enum Extra {
  class Base: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var next: City?
  }

  final class A: Base {}
  final class B: Base {}
  final class C: Base {}
  final class D: Base {}
  final class E: Base {}
  final class F: Base {}
  final class G: Base {}
  final class H: Base {}
  final class I: Base {}
  final class J: Base {}
  final class K: Base {}
  final class L: Base {}
  final class M: Base {}
  final class N: Base {}
  final class O: Base {}
  final class P: Base {}
  final class Q: Base {}

  /// Seventeen, with which there are twenty.
  static let all: [Object.Type] = [
    A.self, B.self, C.self, D.self, E.self, F.self, G.self, H.self, I.self, J.self, K.self,
    L.self, M.self, N.self, O.self, P.self, Q.self,
  ]
}
