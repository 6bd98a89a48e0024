import { METHODS } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { createIdSource } from "../../lib/ids.ts";
import { createLogger } from "../observability/logger.ts";
import { createHttpServer, type HttpServer } from "./create-http-server.ts";
import { pathParams } from "./path-params.ts";

const routes = [
  ["GET", "/"],
  ["GET", "/a"],
  ["POST", "/a/:id"],
  ["DELETE", "/a/b"],
  ["PATCH", "/a/:id/b"],
  ["GET", "/a/:id/:other"],
  ["POST", "/a/b/*"],
  ["GET", "/b/*"],
  ["DELETE", "/b/:id"],
] as const;

let http: HttpServer;
/** The router alone, with routes for every method of every path. */
let reference: FastifyInstance;
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
      for (const [method, url] of routes) {
        const names = [...url.matchAll(/:(\w+)/g)].map(([, name = ""]) => [name, "page"] as const);
        const schema = names.length === 0 ? {} : { params: pathParams(Object.fromEntries(names)) };
        server.route({ method, url, schema, handler: async () => "" });
      }
    },
  });
  await http.listen({ port: 0, host: "127.0.0.1" });
  reference = fastify({ exposeHeadRoutes: false, routerOptions: { maxParamLength: 1024 } });
  for (const [method, url] of routes) {
    const own: readonly string[] = method === "GET" ? ["GET", "HEAD"] : [method];
    const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<string> => {
      if (!own.includes(request.method)) reply.code(405).header("allow", own.join(", "));
      return "";
    };
    reference.route({ method: reference.supportedMethods, url, handler });
  }
  await reference.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(async () => {
  await http.close();
  await reference.close();
});

/** Sends the path verbatim: `fetch` would normalize it. */
async function ask(method: string, path: string, server: Pick<HttpServer, "server"> = http) {
  const socket = connect((server.server.address() as AddressInfo).port, "127.0.0.1");
  socket.end(`${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
  return {
    status: Number(head.split(" ")[1]),
    allow: /^allow: (.*)$/im.exec(head)?.[1],
    error: body === "" ? null : JSON.parse(body).error,
  };
}

test("each method gets a 405 on each path as if every path had routes for all methods", async () => {
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
    fc.asyncProperty(path, fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE"), async (url, method) => {
      const { status, allow } = await ask(method, url, reference);
      const seen = await ask(method, url);
      // Node rejects an address that is not ASCII; for one that cannot be decoded, Fastify alone has another status.
      if (status === 400) expect([400, 404]).toContain(seen.status);
      else expect(seen).toMatchObject({ status, ...(allow === undefined ? {} : { allow }) });
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
