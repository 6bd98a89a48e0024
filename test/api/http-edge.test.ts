import { randomBytes } from "node:crypto";
import { type AddressInfo, connect } from "node:net";
import { Type } from "typebox";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addHealthRoutes, shareChecks } from "../../src/app/health-routes.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { createHttpServer, type HttpServer } from "../../src/platform/http/create-http-server.ts";
import { createConnectionDrain } from "../../src/platform/http/drain-connections.ts";
import { createHeartbeats } from "../../src/platform/http/event-stream.ts";
import { sendEvents } from "../../src/platform/http/hijack-reply.ts";
import { optionalBody } from "../../src/platform/http/optional-body.ts";
import { pathParams } from "../../src/platform/http/path-params.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { sendRaw } from "../harness/raw-connection.ts";
import { waitUntil } from "../harness/wait-until.ts";
import { openWire, writeRequest } from "../harness/wire-connection.ts";

const bodyBytesMax = 2000;
const headerBytesMax = 8192;

let http: HttpServer;
let port: number;
const logs: Record<string, unknown>[] = [];
let healthMs = 0;
let databaseChecks = 0;

/** The real edge, with routes that do what a test needs: accept a body, or fail. */
beforeAll(async () => {
  http = await createHttpServer({
    clock: systemClock,
    ids: createIdSource({ clock: systemClock, randomBytes }),
    logger: createLogger({ level: "info", format: "json", write: (line) => logs.push(JSON.parse(line)) }),
    limits: {
      bodyBytesMax,
      json: { structureMax: 1000, escapesMax: 1000 },
      headerBytesMax,
      headerTimeoutMs: 300,
      requestTimeoutMs: 300,
    },
    trustedProxies: [],
    async addRoutes(server) {
      const body = Type.Object({ name: Type.String({ minLength: 1 }) }, { additionalProperties: false });
      server.post("/echo", { schema: { body } }, async (request) => ({ got: request.body.name }));
      const params = pathParams({ id: "page" });
      server.get("/things/:id", { schema: { params } }, async (request) => request.params);
      server.delete("/gone/:id", { schema: { params } }, async (request) => request.params);
      server.get("/tasks/:id", { schema: { params: pathParams({ id: "task" }) } }, async (request) => request.params);
      const rest = optionalBody(Type.Object({ hours: Type.Optional(Type.Integer()) }, { additionalProperties: false }));
      server.post("/things/:id/rest", { schema: { params, body: rest } }, async (request) => ({
        got: request.body ?? null,
      }));
      const texts = Type.Object({ text: Type.Unknown() });
      server.post("/stored", { schema: { body: texts } }, async () => ({ got: "it" }));
      server.post("/handed-on", { schema: { body: texts }, config: { storesTexts: false } }, async (request) => ({
        got: request.body.text,
      }));
      server.post("/looked-for", { schema: { body: texts }, config: { storesTexts: false } }, async () => {
        throw Object.assign(new Error("invalid byte sequence"), { code: "22021" });
      });
      const checkDatabase = shareChecks({ ...systemClock, monotonicMs: () => healthMs }, async () => {
        databaseChecks += 1;
      });
      addHealthRoutes(server, { checkDatabase, isStopping: () => false, isLive: () => true });
      server.get("/begun", (_request, reply) => {
        reply.hijack();
        reply.raw.writeHead(200).write("begun");
      });
      server.decorateRequest("watchAccess", { getter: () => () => () => {} });
      server.decorateRequest("enterStream", async () => () => {});
      const heartbeats = createHeartbeats(1000);
      server.get("/torn", async (_request, reply) =>
        sendEvents(reply, { clock: systemClock, heartbeats }, async (stream) => {
          stream.write("data: 1\n\n");
          throw new Error("no more events");
        }),
      );
      server.get("/broken", async () => {
        throw new Error("the secret of the house");
      });
      server.get("/database-gone", async () => {
        throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", syscall: "connect" });
      });
    },
  });
  await http.listen({ port: 0, host: "127.0.0.1" });
  port = (http.server.address() as AddressInfo).port;
});
afterAll(() => http.close());

const json = { "content-type": "application/json" };

async function call(path: string, init: RequestInit = {}) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  return { status: response.status, headers: response.headers, body: await response.text() };
}

/** Every error has the contract's form, and its request id is in the header, the body and the log. */
async function expectError(
  answer: { status: number; headers: Headers | Record<string, string>; body: string },
  status: number,
  error: { code: string; param?: string | null; message?: RegExp },
): Promise<void> {
  const headers = new Headers(answer.headers);
  const requestId = headers.get("x-request-id");
  expect(answer.status).toBe(status);
  expect(requestId).toMatch(/^req_[0-9a-z]{26}$/);
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(JSON.parse(answer.body)).toEqual({
    error: {
      message: expect.stringMatching(error.message ?? /./),
      type: expect.stringMatching(/_error$/),
      param: error.param ?? null,
      code: error.code,
    },
    request_id: requestId,
  });
  const line = await waitUntil("the request's log line", () => logs.find((entry) => entry.request_id === requestId));
  expect(line).toMatchObject({ msg: "request", status, error_code: error.code });
}

test("an unknown path is a 404", async () => {
  await expectError(await call("/v1/nothing"), 404, { code: "not_found" });
});

test("a path that is not a valid URL is a 404, not a crash", async () => {
  await expectError(await call("/%zz"), 404, { code: "not_found" });
});

test.each(["POST", "DELETE", "PUT", "PATCH", "OPTIONS", "PROPFIND"])(
  "%s on a read-only path is a 405 that lists the allowed methods",
  async (method) => {
    const answer = await call("/things/7", { method });
    await expectError(answer, 405, { code: "method_not_allowed" });
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
  },
);

test.each([
  "/tasks/x",
  "/tasks/task_",
  "/tasks/task_A",
  `/tasks/task_${"x".repeat(65)}`,
  "/tasks/task_1%0A",
  "/tasks/task_1%00",
])("%s, which cannot be an id, is answered as not found without a database query", async (path) => {
  await expectError(await call(path), 404, { code: "task_not_found" });
});

test("HEAD answers like GET without a body", async () => {
  const answer = await call("/things/7", { method: "HEAD" });
  expect([answer.status, answer.body]).toEqual([200, ""]);
  expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
});

test.each([
  ["cut off", '{"name": "x'],
  ["not JSON", "name=x"],
  ["empty", ""],
  ["two values", "{}{}"],
])("a JSON body that is %s is a 400 invalid_json", async (_name, body) => {
  await expectError(await call("/echo", { method: "POST", headers: json, body }), 400, { code: "invalid_json" });
});

test("a body that is not UTF-8 is rejected instead of being misread", async () => {
  const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
  const answer = await call("/echo", { method: "POST", headers: json, body });
  await expectError(answer, 400, { code: "invalid_json", message: /UTF-8/ });
});

test("UTF-8 beyond ASCII arrives unchanged", async () => {
  const answer = await call("/echo", { method: "POST", headers: json, body: '{"name":"漢字 🌊"}' });
  expect(JSON.parse(answer.body)).toEqual({ got: "漢字 🌊" });
});

test.each([
  ["a form", { "content-type": "application/x-www-form-urlencoded" }],
  ["plain text", { "content-type": "text/plain" }],
  ["another character set", { "content-type": "application/json; charset=latin1" }],
  ["a compressed body", { ...json, "content-encoding": "gzip" }],
  ["nonsense", { "content-type": "json" }],
])("%s is a 415", async (_name, headers) => {
  const answer = await call("/echo", { method: "POST", headers, body: '{"name":"x"}' });
  const { error } = JSON.parse(answer.body);
  await expectError(answer, 415, { code: "unsupported_media_type", param: error.param });
});

test("a JSON content type with a UTF-8 character set is accepted", async () => {
  const headers = { "content-type": 'application/json; charset="UTF-8"' };
  expect((await call("/echo", { method: "POST", headers, body: '{"name":"x"}' })).status).toBe(200);
});

test.each([
  ["{}", "missing_parameter", "name"],
  ['{"name":"x","nmae":"y"}', "unknown_parameter", "nmae"],
  ['{"name":5}', "invalid_parameter", "name"],
  ['{"name":""}', "invalid_parameter", "name"],
  ['{"name":"x","__proto__":{"a":1}}', "unknown_parameter", "__proto__"],
])("the body %s is a 400 %s for %s", async (body, code, param) => {
  await expectError(await call("/echo", { method: "POST", headers: json, body }), 400, { code, param });
});

test.each(["application/json", "application/json; charset=utf-8", "text/plain", "application/x-www-form-urlencoded"])(
  "a content type (%s) without a body is accepted where no body is needed",
  async (type) => {
    const headers = { "content-type": type };
    expect(await call("/gone/7", { method: "DELETE", headers })).toMatchObject({ status: 200, body: '{"id":"7"}' });
    const empty = await call("/things/7/rest", { method: "POST", headers, body: "" });
    expect(empty).toMatchObject({ status: 200, body: '{"got":null}' });
  },
);

test("a body where none is needed is still validated", async () => {
  const send = (body: string) => call("/things/7/rest", { method: "POST", headers: json, body });
  expect(await send('{"hours":2}')).toMatchObject({ status: 200, body: '{"got":{"hours":2}}' });
  await expectError(await send('{"minutes":2}'), 400, { code: "unknown_parameter", param: "minutes" });
});

test.each([
  ["U+0000", '{"text":"a\\u0000b"}', "text"],
  ["U+0000 in a list", '{"text":["a",{"b":"\\u0000"}]}', "text[1].b"],
  ["U+0000 in a name", '{"text":{"a\\u0000b":1}}', "text"],
  ["a lone high surrogate", '{"text":"\\ud83c"}', "text"],
  ["a lone low surrogate", '{"text":"\\uDF0A x"}', "text"],
])("a text with %s, which cannot be stored, is a 400 that names the field", async (_name, body, param) => {
  const answer = await call("/stored", { method: "POST", headers: json, body });
  await expectError(answer, 400, { code: "invalid_parameter", param, message: /U\+0000/ });
});

test("such a text is found at any depth", async () => {
  const body = `{"text":${"[".repeat(900)}"\\u0000"${"]".repeat(900)}}`;
  const answer = await call("/stored", { method: "POST", headers: json, body });
  await expectError(answer, 400, { code: "invalid_parameter", param: `text${"[0]".repeat(900)}` });
});

test("text that only looks like it is accepted, and text that is passed on may contain it", async () => {
  for (const body of ['{"text":"\\\\u0000"}', '{"text":"\\ud83c\\udf0a"}']) {
    expect((await call("/stored", { method: "POST", headers: json, body })).status).toBe(200);
  }
  const answer = await call("/handed-on", { method: "POST", headers: json, body: '{"text":"a\\u0000\\ud83cb"}' });
  expect(answer).toMatchObject({ status: 200, body: '{"got":"a\\u0000\\ud83cb"}' });
});

test("a text that a route accepted and the database rejected is a 400 too; our own faults stay a 500", async () => {
  const send = (body: string) => call("/looked-for", { method: "POST", headers: json, body });
  await expectError(await send('{"text":["a\\u0000b"]}'), 400, { code: "invalid_parameter", param: "text[0]" });
  await expectError(await send('{"text":["ab"]}'), 500, { code: "internal_error" });
});

test.each([
  ["/things/7?after=a%00b", "after"],
  ["/nothing?a=1&b%00=2", "query"],
])("U+0000 in the query of %s is a 400", async (path, param) => {
  await expectError(await call(path), 400, { code: "invalid_parameter", param, message: /U\+0000/ });
});

test("a body over the limit is a 413 that names the limit, with or without a declared length", async () => {
  const large = JSON.stringify({ name: "x".repeat(bodyBytesMax) });
  const announced = await call("/echo", { method: "POST", headers: json, body: large });
  await expectError(announced, 413, { code: "payload_too_large", message: /2000 bytes/ });
  const head = "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
  const chunk = `400\r\n${"x".repeat(1024)}\r\n`;
  const found = await sendRaw(port, head, chunk, chunk, chunk);
  await expectError(found, 413, { code: "payload_too_large" });
});

test("a body exactly at the limit is accepted", async () => {
  const body = JSON.stringify({ name: "x".repeat(bodyBytesMax - '{"name":""}'.length) });
  expect(Buffer.byteLength(body)).toBe(bodyBytesMax);
  expect((await call("/echo", { method: "POST", headers: json, body })).status).toBe(200);
});

test("headers over the limit are a 431", async () => {
  const answer = await sendRaw(
    port,
    `GET /things/1 HTTP/1.1\r\nhost: x\r\nx-long: ${"y".repeat(headerBytesMax)}\r\n\r\n`,
  );
  await expectError(answer, 431, { code: "headers_too_large" });
});

test.each([
  ["not HTTP", "\x16\x03\x01 hello\r\n\r\n"],
  ["a method that does not exist", "BREW /things/1 HTTP/1.1\r\nhost: x\r\n\r\n"],
  ["two lengths", "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello"],
  [
    "length and chunks",
    "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
])("%s is a 400 with a request id, and the connection is closed", async (_name, bytes) => {
  await expectError(await sendRaw(port, bytes), 400, { code: "malformed_request" });
});

test("a client that does not finish its headers gets a 408", async () => {
  await expectError(await sendRaw(port, "GET /things/1 HTTP/1.1\r\nx-slow: "), 408, { code: "request_timeout" });
});

test("a client that does not finish its body gets a 408", async () => {
  const head = "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n";
  const linesBefore = logs.length;
  await expectError(await sendRaw(port, head, '{"name":'), 408, { code: "request_timeout" });
  expect(logs.slice(linesBefore).map((entry) => entry.route)).toEqual(["/echo"]);
});

test("garbage after two pipelined requests adds nothing to the response in progress", async () => {
  const socket = connect(port, "127.0.0.1").setEncoding("utf8");
  const closed = new Promise((settle) => socket.once("close", settle));
  let received = "";
  socket.on("data", (text: string) => {
    received += text;
  });
  socket.write("GET /things/1 HTTP/1.1\r\nhost: x\r\n\r\nGET /begun HTTP/1.1\r\nhost: x\r\n\r\n");
  await waitUntil("the second answer to begin", () => received.includes("begun"));
  socket.write("no request\r\n\r\n");
  await closed;
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200"]);
});

test("a request without a Host header is served", async () => {
  const answer = await sendRaw(port, "GET /things/1 HTTP/1.1\r\nconnection: close\r\n\r\n");
  expect(answer).toMatchObject({ status: 200, body: '{"id":"1"}', headers: { "x-request-id": expect.any(String) } });
});

test("an unknown Expect header is ignored", async () => {
  const answer = await sendRaw(
    port,
    "GET /things/1 HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\nconnection: close\r\n\r\n",
  );
  expect(answer).toMatchObject({ status: 200, headers: { "x-request-id": expect.any(String) } });
});

test("the gateway assigns the request id and ignores one from the client", async () => {
  const answer = await call("/things/1", { headers: { "x-request-id": "mine" } });
  expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
});

test("the caller's trace id is echoed and logged, on errors too", async () => {
  const headers = { "x-client-request-id": "job-7/attempt~2" };
  for (const path of ["/things/1", "/nothing"]) {
    const answer = await call(path, { headers });
    expect(answer.headers.get("x-client-request-id")).toBe("job-7/attempt~2");
    const requestId = answer.headers.get("x-request-id");
    const line = await waitUntil("the log line", () => logs.find((entry) => entry.request_id === requestId));
    expect(line.client_request_id).toBe("job-7/attempt~2");
  }
  expect((await call("/things/1", { headers: { "x-client-request-id": "x".repeat(512) } })).status).toBe(200);
});

test.each([
  ["too long", "x".repeat(513)],
  ["with a space", "two words"],
  ["beyond ASCII", "caf\u00e9"],
])("a trace id that is %s is a 400 and is not echoed", async (_name, value) => {
  const answer = await call("/things/1", { headers: { "x-client-request-id": value } });
  await expectError(answer, 400, { code: "invalid_parameter", param: "X-Client-Request-Id" });
  expect(answer.headers.has("x-client-request-id")).toBe(false);
});

test("an unexpected error is a 500 without its cause, which is logged", async () => {
  const answer = await call("/broken");
  await expectError(answer, 500, { code: "internal_error" });
  expect(answer.body).not.toContain("secret");
  const line = logs.find((entry) => entry.request_id === answer.headers.get("x-request-id"));
  expect(line).toMatchObject({ level: "error", error: { cause: { message: "the secret of the house" } } });
});

test("an event stream that can no longer be read closes the connection and is logged", async () => {
  const answer = await fetch(`http://127.0.0.1:${port}/torn`);
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
  const line = await waitUntil("the line of the request", () =>
    logs.find((entry) => entry.request_id === answer.headers.get("x-request-id")),
  );
  expect(line).toMatchObject({ status: 200, error_code: "internal_error" });
});

test("an unreachable database is a 503 with a Retry-After", async () => {
  const answer = await call("/database-gone");
  await expectError(answer, 503, { code: "overloaded" });
  expect(answer.headers.get("retry-after")).toBe("1");
});

test("readiness checks query the database at most once a second", async () => {
  await Promise.all(Array.from({ length: 20 }, () => call("/readyz")));
  expect(databaseChecks).toBe(1);
  healthMs += 1000;
  expect((await call("/readyz")).status).toBe(200);
  expect(databaseChecks).toBe(2);
});

test("every response forbids content type sniffing", async () => {
  expect((await call("/things/1")).headers.get("x-content-type-options")).toBe("nosniff");
});

test("a WebSocket handshake gets a 426 on the wire, so that Codex falls back to HTTP at once", async () => {
  const handshake = "GET /echo HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n";
  const keys = "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  const answer = await sendRaw(port, handshake + keys);
  expect(answer.status).toBe(426);
  expect(answer.headers).toMatchObject({ upgrade: "HTTP/1.1", allow: "POST" });
  expect(answer.body).toContain('"code":"websocket_not_supported"');
});

test.each([
  [200, "GET /things/1 HTTP/1.1", undefined],
  [404, "GET /nothing HTTP/1.1", undefined],
  [405, "DELETE /echo HTTP/1.1", undefined],
  [400, "POST /echo HTTP/1.1", "{"],
  [400, "POST /echo HTTP/1.1", JSON.stringify({ name: "" })],
  [500, "GET /broken HTTP/1.1", undefined],
  [503, "GET /database-gone HTTP/1.1", undefined],
] as const)("a %d says whether its connection stays open: %s", async (status, line, body) => {
  const drain = createConnectionDrain(http.server, () => false);
  const wire = await openWire(port);
  const ask = async () => {
    wire.write(writeRequest(line, body === undefined ? {} : { body }));
    const [method = ""] = line.split(" ");
    return await wire.read(method);
  };
  expect(await ask()).toMatchObject({ status, headers: { connection: "keep-alive" } });
  drain.shed(1);
  expect(await ask()).toMatchObject({ status, headers: { connection: "close" } });
  await wire.closed();
});
