// @module-tag slow
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasProxy, startPoolingProxy } from "../harness/servers/pooling-proxy.ts";
import { writeTaskCatalog } from "../harness/tasks/task-catalog.ts";
import { openTaskGateway, type TaskCaller, type TaskGateway } from "../harness/tasks/task-gateway.ts";
import { canary } from "../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../harness/wait-until.ts";
import { openWire, type WireAnswer, writeRequest } from "../harness/wire-connection.ts";

let stage: TaskGateway;
let caller: TaskCaller;
let port: number;
/** Every path of the gateway, with its methods. */
const routes = new Map<string, Set<string>>();

beforeAll(async () => {
  // The framework announces each server on creation, before the gateway adds its routes.
  const watch = (message: unknown): void => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook("onRoute", ({ url, method }) => {
      for (const name of [method].flat()) routes.set(url, (routes.get(url) ?? new Set()).add(name));
    });
  };
  subscribe("fastify.initialization", watch);
  stage = await openTaskGateway({
    // No worker runs, so task streams stay open.
    settings: { roles: ["http"] },
    catalog: (upstream) =>
      writeTaskCatalog(upstream, {
        models: [
          {
            id: "chat",
            type: "chat",
            capabilities: ["chat", "streaming"],
            limits: { context_window: 128_000, max_output_tokens: 1000 },
            routes: [{ provider: "open", upstream_model: `${canary}-open` }],
          },
        ],
        prices: [
          { model: "chat", billing_type: "token", unit: "1K tokens", input_price: "0.01", output_price: "0.02" },
        ],
      }),
  });
  unsubscribe("fastify.initialization", watch);
  caller = await stage.createCaller();
  port = stage.gateway.port;
});
afterAll(() => stage[Symbol.asyncDispose]());

const question = { model: "chat", messages: [{ role: "user", content: "Hi." }] };

/** The responses that bypass the framework, and the requests that trigger them. */
type RawRoute = { name: string; method: "GET" | "POST"; path: string; body?: string; isEndless: boolean };

async function listRawRoutes(): Promise<RawRoute[]> {
  const { id: taskId } = await caller.submitImage("image", "a lake");
  const session = (await (await caller.post("/webhook_sessions", {})).json()) as { id: string };
  const chat = (more: object): string => JSON.stringify({ ...question, ...more });
  const post = { method: "POST", isEndless: false } as const;
  const get = { method: "GET", isEndless: true } as const;
  return [
    { name: "a whole chat answer", ...post, path: "/v1/chat/completions", body: chat({}) },
    { name: "a chat stream", ...post, path: "/v1/chat/completions", body: chat({ stream: true }) },
    {
      name: "speech",
      ...post,
      path: "/v1/audio/speech",
      body: JSON.stringify({ model: "speech", input: "Hi.", voice: "alloy" }),
    },
    { name: "a task's events", ...get, path: `/v1/tasks/${taskId}/events` },
    { name: "a session's events", ...get, path: `/v1/webhook_sessions/${session.id}/events` },
  ];
}

function writeCall(method: string, path: string, { body, version = "1.1", more = {} }: CallOptions = {}): Buffer {
  return writeRequest(`${method} ${path} HTTP/${version}`, {
    headers: { authorization: `Bearer ${caller.key}`, ...more },
    ...(body === undefined ? {} : { body }),
  });
}
type CallOptions = { body?: string | undefined; version?: string; more?: Record<string, string> };

/** A request with a known response, to send after another one on the same connection. */
const next = writeRequest("GET /healthz HTTP/1.1");

function expectNext(answer: WireAnswer): void {
  expect(answer).toMatchObject({ status: 200, body: '{"status":"ok"}' });
}

/** Sends two requests in a row. Either both are answered, or the first one closed the connection. */
async function sendWithNext(place: number | string, method: string, request: Buffer): Promise<WireAnswer> {
  const wire = await openWire(place);
  wire.write(Buffer.concat([request, next]));
  const answer = await wire.read(method);
  if (answer.headers.connection === "close") await wire.closed();
  else expectNext(await wire.read("GET"));
  expect(wire.rest()).toBe("");
  wire.hangUp();
  return answer;
}

/** The path with every parameter filled in: with an existing id where the route returns a stream. */
function fill(url: string, raw: readonly RawRoute[]): string {
  const isOf = (path: string): boolean => {
    const pattern = url.replaceAll(/:[a-z_]+/g, "[^/]+");
    return new RegExp(`^${pattern.replace("*", ".*")}$`).test(path);
  };
  return raw.find(({ path }) => isOf(path))?.path ?? url.replaceAll(/:[a-z_]+|\*/g, "x");
}

async function walkByHead(place: number | string): Promise<void> {
  const raw = await listRawRoutes();
  for (const url of routes.keys()) {
    const path = fill(url, raw);
    const answer = await sendWithNext(place, "HEAD", writeCall("HEAD", path));
    expect(answer.status, `HEAD ${path}`).not.toBe(500);
    if (raw.some((route) => route.path === path && route.method === "GET")) {
      expect(answer).toMatchObject({ status: 200, headers: { "content-type": "text/event-stream; charset=utf-8" } });
    }
  }
}

describe("every path of the gateway", () => {
  test("answers HEAD with headers only, and the next request on the connection is answered too", async () => {
    expect(routes.size).toBeGreaterThan(100);
    await walkByHead(port);
  });

  test.skipIf(!hasProxy)("answers HEAD so that a proxy can reuse the connection for another client", async () => {
    await using proxy = await startPoolingProxy(port);
    await walkByHead(proxy.path);
  });

  test("answers a request with its own method, and the next one on the connection", async () => {
    const raw = await listRawRoutes();
    for (const [url, methods] of routes) {
      for (const method of methods) {
        const path = fill(url, raw);
        if (method === "HEAD" || raw.some((route) => route.isEndless && route.path === path)) continue;
        const body = method === "GET" || method === "DELETE" ? undefined : "{}";
        const answer = await sendWithNext(port, method, writeCall(method, path, { body }));
        expect(answer.status, `${method} ${path}`).not.toBe(500);
      }
    }
  });
});

describe("a response that bypasses the framework", () => {
  test("is followed by the response to a pipelined request", async () => {
    for (const { name, method, path, body, isEndless } of await listRawRoutes()) {
      if (isEndless) continue;
      const answer = await sendWithNext(port, method, writeCall(method, path, { body }));
      expect(answer.status, name).toBe(200);
      expect(answer.body, name).not.toBe("");
    }
  });

  test("is followed by the next response after its stream has ended", async () => {
    const { id } = await caller.submitImage("image", "a lake");
    const wire = await openWire(port);
    wire.write(Buffer.concat([writeCall("GET", `/v1/tasks/${id}/events`), next]));
    await wire.begun();
    await caller.cancel(id);
    expect((await wire.read("GET")).body).toMatch(/^event: task\.queued\n[\s\S]*event: task\.canceled\n.*\n.*\n\n$/);
    expectNext(await wire.read("GET"));
    wire.hangUp();
  });

  test.each(["close", "keep-alive"])("is not chunked for HTTP/1.0, which says %s", async (connection) => {
    for (const { name, method, path, body, isEndless } of await listRawRoutes()) {
      const wire = await openWire(port);
      wire.write(writeCall(method, path, { body, version: "1.0", more: { connection } }));
      if (isEndless) {
        await wire.begun();
        expect(wire.rest(), name).not.toMatch(/transfer-encoding/i);
        wire.hangUp();
        continue;
      }
      const answer = await wire.read(method);
      expect(answer.headers, name).not.toHaveProperty("transfer-encoding");
      expect(answer.body, name).not.toMatch(/^[0-9a-f]+\r\n/);
      expect(answer.status, name).toBe(200);
      wire.hangUp();
    }
  });

  test("causes no error when the client disconnects before or after the headers", async () => {
    for (const { method, path, body } of await listRawRoutes()) {
      for (const waits of [false, true]) {
        const wire = await openWire(port);
        wire.write(writeCall(method, path, { body }));
        if (waits) await wire.begun();
        wire.hangUp();
      }
    }
    const wire = await openWire(port);
    wire.write(next);
    expectNext(await wire.read("GET"));
    wire.hangUp();
    await waitUntil("every hold to end", async () => {
      const holds = await caller.listHolds();
      // Only the streams of the pending tasks are left.
      return holds.every(({ state, causeId }) => state !== "open" || causeId.startsWith("task_"));
    });
    expect(stage.gateway.logs.filter(({ status }) => status === 500)).toEqual([]);
  });

  test.skipIf(!hasProxy)("passes through a proxy complete, and so does the next one on its connection", async () => {
    await using proxy = await startPoolingProxy(port);
    for (const { name, method, path, body, isEndless } of await listRawRoutes()) {
      const wire = await openWire(proxy.path);
      wire.write(writeCall(method, path, { body }));
      if (isEndless) await wire.begun();
      else expect((await wire.read(method)).status, name).toBe(200);
      wire.hangUp();
      // The next request comes from another client; the proxy has one upstream connection for both.
      const other = await openWire(proxy.path);
      other.write(next);
      expectNext(await other.read("GET"));
      other.hangUp();
    }
  });
});
