import CambiumWeb
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Hands requests to the page, and its answers back.
struct WebResponder: HTTPResponder {
  typealias Context = BasicRequestContext

  let service: WebService

  func respond(to request: Request, context: Context) async throws -> Response {
    var headers: [String: String] = [:]
    headers["host"] = request.head.authority
    for name in ["origin", "authorization", "sec-fetch-site"] {
      headers[name] = HTTPField.Name(name).flatMap { request.headers[$0] }
    }
    let response = await service.respond(
      to: WebRequest(
        method: request.method.rawValue, target: request.head.path ?? "/", headers: headers)
    ) { try await Self.body(of: request) }
    var fields = HTTPFields()
    for (name, value) in response.headers {
      if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
    }
    return Response(
      status: HTTPResponse.Status(code: response.status), headers: fields,
      body: Self.body(of: response))
  }

  /// The whole body of a request, if it is short enough and comes in time.
  private static func body(of request: Request) async throws -> [UInt8] {
    try await withThrowingTaskGroup(of: [UInt8].self) { group in
      group.addTask {
        var bytes: [UInt8] = []
        for try await part in request.body {
          guard bytes.count + part.readableBytes <= WebRequest.bodyLimit else {
            throw WebRequest.BodyTooLarge()
          }
          bytes += part.readableBytesView
        }
        return bytes
      }
      group.addTask {
        try await Task.sleep(for: ServerLimits.bodyTime)
        throw CancellationError()
      }
      defer { group.cancelAll() }
      return try await group.next() ?? []
    }
  }

  private static func body(of response: WebResponse) -> ResponseBody {
    switch response.body {
    case .bytes(let bytes): ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
    case .stream(let pieces):
      ResponseBody { writer in
        // The server waits for its streams when it is told to end.
        for await piece in pieces.cancelOnGracefulShutdown() {
          try await writer.write(ByteBuffer(bytes: piece))
        }
        try await writer.finish(nil)
      }
    }
  }
}
