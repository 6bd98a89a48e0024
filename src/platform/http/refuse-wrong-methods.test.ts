import { METHODS } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { createIdSource } from "../../lib/ids.ts";
import { createLogger } from "../observability/logger.ts";
import { createHttpServer, type HttpServer } from "./create-http-server.ts";
import { pathParams } from "./path-params.ts";

let http: HttpServer;
const logs: Record<string, unknown>[] = [];

beforeAll(async () => {
  http = await createHttpServer({
    clock: systemClock,
    ids: createIdSource({ clock: systemClock, randomBytes: (count) => new Uint8Array(count) }),
    logger: createLogger({ level: "info", format: "json", write: (line) => logs.push(JSON.parse(line)) }),
    limits: {
      bodyBytesMax: 1000,
      json: { structureMax: 1000, escapesMax: 1000 },
      headerBytesMax: 8192,
      headerTimeoutMs: 60_000,
      requestTimeoutMs: 60_000,
    },
    trustedProxies: [],
    async addRoutes(server) {
      const answer = async (): Promise<string> => "";
      const one = { schema: { params: pathParams({ id: "page" }) } };
      const two = { schema: { params: pathParams({ id: "page", other: "page" }) } };
      server.get("/", answer);
      server.get("/a", answer);
      server.post("/a/:id", one, answer);
      server.delete("/a/b", answer);
      server.patch("/a/:id/b", one, answer);
      server.get("/a/:id/:other", two, answer);
      server.post("/a/b/*", answer);
      server.get("/b/*", answer);
      server.delete("/b/:id", one, answer);
    },
  });
  await http.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(() => http.close());

/** Sends the path verbatim: `fetch` would normalize it. */
async function ask(method: string, path: string) {
  const socket = connect((http.server.address() as AddressInfo).port, "127.0.0.1");
  socket.end(`${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
  return {
    status: Number(head.split(" ")[1]),
    allow: /^allow: (.*)$/im.exec(head)?.[1],
    error: body === "" ? null : JSON.parse(body).error,
  };
}

test("a method without routes gets a 405 on each path like one with routes", async () => {
  const piece = fc.constantFrom(
    "",
    "a",
    "b",
    "c",
    "%61",
    "%2F",
    "%25",
    "%2561",
    "%",
    "%2",
    "%zz",
    "%ff",
    "ä",
    ":id",
    "*",
    ";",
    "//",
  );
  const path = fc
    .tuple(fc.array(piece, { maxLength: 5 }), fc.constantFrom("", "?a=/b", "#b", "/"))
    .map(([pieces, end]) => `/${pieces.join("/")}${end}`);
  await fc.assert(
    fc.asyncProperty(path, async (url) => {
      expect(await ask("PROPFIND", url)).toEqual(await ask("PUT", url));
    }),
    { numRuns: 400, seed: 1 },
  );
});

test("every method without routes gets a 405 with the allowed ones", async () => {
  // Node treats CONNECT as a tunnel and emits no request.
  const methods = METHODS.filter((name) => name !== "CONNECT" && !http.supportedMethods.includes(name));
  expect(methods.length).toBeGreaterThan(20);
  for (const method of methods) {
    expect(await ask(method, "/a/b"), method).toMatchObject({ status: 405, allow: "DELETE" });
  }
});

test("QUERY, for which Fastify requires a content type, gets a 405 too", async () => {
  expect(await ask("QUERY", "/a/b")).toMatchObject({ status: 415, error: { code: "unsupported_media_type" } });
});

test("a WebSocket gets a 426, so that Codex falls back to HTTP at once", async () => {
  const headers = { connection: "upgrade", upgrade: "websocket" };
  const response = await http.inject({ method: "GET", url: "/a/b", headers });
  expect(response.statusCode).toBe(426);
  expect(response.headers).toMatchObject({ upgrade: "HTTP/1.1", allow: "DELETE" });
  expect(response.json()).toMatchObject({ error: { code: "websocket_not_supported" } });
});

test("the log line of a 405 contains the route, whatever the method", async () => {
  for (const method of ["PUT", "PROPFIND"]) {
    await ask(method, "/a/7/b");
    const line = logs.findLast((entry) => entry.method === method);
    expect(line).toMatchObject({ route: "/a/:id/b", status: 405, error_code: "method_not_allowed" });
    expect(line).not.toHaveProperty("path");
  }
});
