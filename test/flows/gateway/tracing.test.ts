import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { metricTable } from "../../../src/platform/observability/metric-table.ts";
import { upstreamKeyName } from "../../harness/chat/chat-catalog.ts";
import { findFreePort } from "../../harness/gateway-process.ts";
import { type CollectedSpan, type OtlpCollector, startOtlpCollector } from "../../harness/servers/otlp-collector.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../harness/servers/webhook-receiver.ts";
import { writeTaskPrice } from "../../harness/tasks/task-catalog.ts";
import {
  openTaskStage,
  paths,
  type TaskStage,
  writePictures,
  writeStageCatalog,
} from "../../harness/tasks/task-stage.ts";
import { canary, type FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const prompt = "the-words-of-a-person";
const answer = "the-words-of-a-model";
const callerSpan = "00f067aa0ba902b7";

/** `pair` fails over from one upstream to the other; only the second receives trace headers. */
function writeCatalog(upstream: FakeUpstreams): string {
  const provider = { kind: "openai-compatible", base_url: upstream.openAiUrl, api_keys: [`\${${upstreamKeyName}}`] };
  return writeStageCatalog(upstream, {
    providers: [
      { id: "vendor", ...provider },
      { id: "own", ...provider, trace_context: true },
    ],
    models: [
      {
        ...{ id: "pair", type: "chat", capabilities: ["chat", "streaming"], limits: { max_output_tokens: 100 } },
        routes: [
          { provider: "vendor", upstream_model: `${canary}-vendor`, priority: 0 },
          { provider: "own", upstream_model: `${canary}-own`, priority: 1 },
        ],
      },
      writePictures("own-image", ["own"]),
      {
        ...{ id: "own-speech", type: "speech", capabilities: ["text_to_speech"] },
        limits: { voices: ["alloy"], response_formats: ["mp3"], max_prompt_length: 1000 },
        routes: [{ provider: "own", upstream_model: `${canary}-tts` }],
      },
    ],
    prices: [
      { model: "pair", billing_type: "token", unit: "1K tokens", input_price: "1", output_price: "2" },
      writeTaskPrice("own-image", "image", "0.05"),
      writeTaskPrice("own-speech", "1K characters", "0.015"),
    ],
  });
}

let collector: OtlpCollector;
let stage: TaskStage;
let receiver: WebhookReceiver;
beforeAll(async () => {
  collector = await startOtlpCollector();
  receiver = await startWebhookReceiver();
  stage = await openTaskStage({
    catalog: writeCatalog,
    settings: {
      ...{ otlp_endpoint: collector.url, traces_delay_ms: 50, otlp_metrics_interval_ms: 100 },
      otlp_headers: { "x-collector-key": "secret-of-the-collector" },
    },
  });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

const question = { model: "pair", messages: [{ role: "user", content: prompt }] };

/** The tree of span names below an answer's server span, once it is complete. */
async function waitForTree(requestId: string | null, names: readonly string[]): Promise<CollectedSpan[]> {
  const root = await collector.waitForSpan(({ attributes }) => attributes["sluice.request.id"] === requestId);
  return await waitUntil("every span of the trace", () => {
    const spans = collector.spans().filter(({ traceId }) => traceId === root.traceId);
    return names.every((name) => spans.some((span) => span.name === name)) && spans;
  });
}

function get(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const [span, ...more] = spans.filter((one) => one.name === name);
  expect(more, `one span ${name}`).toEqual([]);
  expect(span, name).toBeDefined();
  return span as CollectedSpan;
}

function present({ traceId, spanId }: CollectedSpan): string {
  return `00-${traceId}-${spanId}-01`;
}

/** The names of a span and its ancestors. */
function nameAncestors(spans: readonly CollectedSpan[], span: CollectedSpan | undefined): string[] {
  if (span === undefined) return [];
  return [
    span.name,
    ...nameAncestors(
      spans,
      spans.find(({ spanId }) => spanId === span.parentSpanId),
    ),
  ];
}

test("a streamed call with a failover is one tree, linked with the commits of its money", async () => {
  const caller = await stage.createCaller();
  stage.upstream.script({ status: 503 }, { text: answer, usage: { inputTokens: 7, outputTokens: 5 } });
  const response = await caller.post("/chat/completions", { ...question, stream: true });
  expect(await response.text()).toContain("[DONE]");
  const attempts = [`chat ${canary}-vendor`, `chat ${canary}-own`];
  const names = ["POST /v1/chat/completions", "chat pair", ...attempts, "ledger hold", "ledger settle"];
  const spans = await waitForTree(response.headers.get("x-request-id"), names);
  expect(spans.map(({ name }) => name).toSorted()).toEqual(names.toSorted());

  const server = get(spans, "POST /v1/chat/completions");
  expect(server).toMatchObject({
    ...{ kind: "server", parentSpanId: "", isError: false },
    attributes: { "http.route": "/v1/chat/completions", "http.response.status_code": 200 },
    resource: { "service.name": "sluice", "service.instance.id": expect.any(String) },
  });
  const call = get(spans, "chat pair");
  expect(call.parentSpanId).toBe(server.spanId);
  expect(call.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "pair",
    "gen_ai.request.stream": true,
    "gen_ai.response.model": `${canary}-own`,
    "gen_ai.usage.input_tokens": 7,
    "gen_ai.usage.output_tokens": 5,
    "gen_ai.response.finish_reasons": ["stop"],
    "sluice.account.id": caller.accountId,
  });
  const [failed, answered] = attempts.map((name) => get(spans, name));
  expect(failed).toMatchObject({
    ...{ kind: "client", parentSpanId: call.spanId, isError: true, events: [] },
    attributes: {
      ...{ "gen_ai.provider.name": "vendor", "gen_ai.request.model": `${canary}-vendor` },
      ...{ "error.type": "overloaded", "http.response.status_code": 503, "sluice.attempt.number": 1 },
    },
  });
  expect(answered).toMatchObject({
    ...{ kind: "client", parentSpanId: call.spanId, isError: false, events: [{ name: "first_token" }] },
    attributes: { "gen_ai.provider.name": "own", "sluice.attempt.number": 2 },
  });
  for (const name of ["ledger hold", "ledger settle"]) {
    const operation = get(spans, name);
    expect(operation).toMatchObject({ parentSpanId: call.spanId, links: [expect.anything()] });
    const commit = await collector.waitForSpan(({ spanId }) => spanId === operation.links[0]?.spanId);
    expect(commit).toMatchObject({ name: "ledger commit", attributes: { "db.operation.batch.size": 1 } });
    expect(commit.links).toEqual([{ traceId: operation.traceId, spanId: operation.spanId }]);
  }
  // Only the configured upstream receives trace headers, and those of its own attempt.
  const [first, second] = stage.upstream.requests.slice(-2).map(({ headers }) => headers.traceparent);
  expect([first, second]).toEqual([undefined, present(get(spans, `chat ${canary}-own`))]);
  expect(stage.gateway.logs.find(({ trace_id: id }) => id === server.traceId)).toMatchObject({ msg: "request" });
});

test("speech and images have spans, and pass trace headers to a configured upstream", async () => {
  const caller = await stage.createCaller();
  const spoken = await caller.post("/audio/speech", { model: "own-speech", input: prompt, voice: "alloy" });
  await spoken.arrayBuffer();
  const attempt = `generate_content ${canary}-tts`;
  const spans = await waitForTree(spoken.headers.get("x-request-id"), ["POST /v1/audio/speech", attempt]);
  expect(get(spans, "generate_content own-speech").attributes).toMatchObject({
    ...{ "gen_ai.output.type": "speech", "sluice.usage.characters": prompt.length },
  });
  const image = await caller.finish(paths.image, { model: "own-image", prompt });
  const isCreation = ({ name, attributes }: CollectedSpan): boolean =>
    name === "create task" && attributes["sluice.task.id"] === image.id;
  const created = await collector.waitForSpan(isCreation);
  const calls = await stage.media.received(2);
  const told = calls.map(({ headers }) => headers.traceparent).filter((value) => value !== undefined);
  expect(told.slice(-2)).toEqual([present(get(spans, attempt)), present(created)]);
});

test("a retry under its key has a span that marks it as replayed", async () => {
  const caller = await stage.createCaller();
  const headers = { "idempotency-key": "once" };
  stage.upstream.script({ text: answer });
  const first = await caller.post("/chat/completions", question, { headers });
  await first.text();
  const again = await caller.post("/chat/completions", question, { headers });
  await again.text();
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  const spans = await waitForTree(again.headers.get("x-request-id"), ["POST /v1/chat/completions", "chat pair"]);
  expect(get(spans, "chat pair").attributes).toMatchObject({ "sluice.replayed": true });
  expect(spans).toHaveLength(2);
});

test("the spans of a refused call contain the reason", async () => {
  const poor = await stage.createCaller({ cash: "0" });
  const response = await poor.post("/chat/completions", question);
  expect(response.status).toBe(402);
  const spans = await waitForTree(response.headers.get("x-request-id"), ["POST /v1/chat/completions", "chat pair"]);
  expect(get(spans, "chat pair")).toMatchObject({
    isError: true,
    attributes: { "error.type": "insufficient_balance" },
  });
  expect(get(spans, "POST /v1/chat/completions")).toMatchObject({
    isError: false,
    attributes: { "http.response.status_code": 402, "sluice.error.code": "insufficient_balance" },
  });
});

test("all work for a task on any node, and the delivery of its event, belong to the caller's trace", async () => {
  const caller = await stage.createCaller();
  const another = await stage.startAnother();
  const callerTrace = randomBytes(16).toString("hex");
  const headers = { traceparent: `00-${callerTrace}-${callerSpan}-01` };
  const body = { model: "image", prompt, callback_url: receiver.url };
  const task = await caller.submit(paths.image, body, { headers });
  await caller.awaitTask(task.id);
  const isDelivery = ({ name, traceId }: CollectedSpan): boolean =>
    traceId === callerTrace && name === "deliver webhook";
  const delivered = await collector.waitForSpan(isDelivery);
  await another[Symbol.asyncDispose]();
  const spans = await waitUntil("the end of the task", () => {
    const trace = collector.spans().filter(({ traceId }) => traceId === callerTrace);
    return trace.some(({ name }) => name === "settle task") && trace;
  });
  const server = get(spans, "POST /v1/images/generations");
  expect(server).toMatchObject({ kind: "server", parentSpanId: callerSpan });
  const creation = get(spans, "create task");
  expect(creation).toMatchObject({
    ...{ kind: "producer", parentSpanId: server.spanId },
    attributes: { "sluice.task.id": task.id },
  });
  const created = "create task";
  const submission = [created, "POST /v1/images/generations"];
  for (const name of ["submit", "collect", "settle task"]) {
    expect(nameAncestors(spans, get(spans, name)), name).toEqual([name, "process task", ...submission]);
  }
  expect(get(spans, "submit").attributes).toMatchObject({
    ...{ "gen_ai.provider.name": "fal", "sluice.task.outcome": "accepted" },
  });
  expect(nameAncestors(spans, delivered)).toEqual(["deliver webhook", ...submission]);
  expect(delivered.attributes).toMatchObject({
    ...{ "http.response.status_code": 200, "sluice.event.type": "task.succeeded", "sluice.attempt.number": 1 },
  });
  expect(receiver.deliveries.at(-1)?.headers.traceparent).toBe(present(delivered));
  // Polls without a change are not traced, and every span has its parent.
  const known = new Set([callerSpan, ...spans.map(({ spanId }) => spanId)]);
  expect(spans.filter(({ parentSpanId }) => !known.has(parentSpanId))).toEqual([]);
  const polls = spans.filter(({ name }) => name === "poll").map(({ attributes }) => attributes["sluice.task.outcome"]);
  expect(polls.filter((outcome) => outcome === "made")).toHaveLength(1);
  expect(polls.length).toBeLessThan(5);
  const commit = await collector.waitForSpan(({ spanId }) => spanId === creation.links[0]?.spanId);
  expect(commit).toMatchObject({ name: "task commit", links: [{ spanId: creation.spanId }] });
});

test("a caller's trace that is not sampled is not exported", async () => {
  const caller = await stage.createCaller();
  const unsampled = `00-${randomBytes(16).toString("hex")}-${callerSpan}-00`;
  const silent = await caller.get("/balance", { headers: { traceparent: unsampled } });
  const told = await caller.get("/balance");
  await waitForTree(told.headers.get("x-request-id"), ["GET /v1/balance"]);
  const ids = collector.spans().map(({ attributes }) => attributes["sluice.request.id"]);
  expect(ids).not.toContain(silent.headers.get("x-request-id"));
});

test("no exported span contains a prompt, an answer, a key or a secret", async () => {
  const caller = await stage.createCaller();
  stage.upstream.script({ status: 401 }, { text: answer });
  const response = await caller.post("/chat/completions", question);
  await response.text();
  await waitForTree(response.headers.get("x-request-id"), ["ledger settle"]);
  const exported = Buffer.concat(collector.requests.map(({ body }) => body)).toString("latin1");
  expect(exported).toContain("chat pair");
  const secrets = [prompt, answer, caller.key, process.env[upstreamKeyName] ?? "", "Bearer", "secret-of-the-collector"];
  for (const secret of secrets) expect(exported.includes(secret), secret).toBe(false);
  const { host } = new URL(receiver.url);
  expect(exported.includes(host)).toBe(false);
  expect(collector.requests.every(({ headers }) => headers["x-collector-key"] === "secret-of-the-collector")).toBe(
    true,
  );
});

test("a collector receives the same as /metrics: counters since the start, gauges, and histograms", async () => {
  const caller = await stage.createCaller();
  for (let call = 0; call < 3; call += 1) await caller.get("/holds");
  const { length: toldBefore } = collector.points();
  const route = { method: "GET", route: "/v1/holds", status_class: "2xx" };
  const durations = await waitUntil("the requests to be told", () => {
    const points = collector.points().slice(toldBefore);
    return points.find(
      ({ metric, attributes, value }) =>
        metric === "sluice_http_request_duration_seconds" && isEqual(attributes, route) && value === 3,
    );
  });
  expect(durations.buckets.reduce((sum, count) => sum + count, 0)).toBe(3);
  const told = new Set(collector.points().map(({ metric }) => metric));
  const names = Object.values(metricTable).map(({ name }) => name);
  expect([...told].filter((name) => !names.some((known) => known === name))).toEqual([]);
  expect([...told]).toEqual(expect.arrayContaining(["sluice_http_requests_in_progress", "sluice_charges_total"]));
  expect(collector.points().filter(({ value }) => Number.isNaN(value))).toEqual([]);
});

function isEqual(left: Record<string, unknown>, right: Record<string, unknown>): boolean {
  return Object.entries(right).every(([name, value]) => left[name] === value);
}

test("a dead or silent collector does not slow calls down, and is logged once", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const ports = [await findFreePort(), (silent.address() as AddressInfo).port];
  const caller = await stage.createCaller();
  await Promise.all(
    ports.map(async (port) => {
      const another = await stage.startAnother({
        otlp_endpoint: `http://127.0.0.1:${port}`,
        roles: ["http"],
        // No export is due before the stop, so that one loss has all spans, however slow the machine.
        traces_delay_ms: 60_000,
      });
      for (let call = 0; call < 20; call += 1) {
        expect((await caller.get("/balance", { gateway: another })).status).toBe(200);
      }
      await another[Symbol.asyncDispose]();
      const warnings = another.logs.filter(({ level }) => level === "warn");
      const spansAreLost = { msg: "span export failed, spans dropped", lost: 20 };
      // The metric export fails before or after the gateway stops, as soon as the dead collector is noticed.
      expect(warnings.filter(({ msg }) => msg !== "metric export failed")).toMatchObject([spansAreLost]);
    }),
  );
  silent.close();
});

test("a collector that refuses spans and then accepts them again is logged both times", async () => {
  const caller = await stage.createCaller();
  const findLine = (msg: string) => stage.gateway.logs.find((line) => line.msg === msg);
  collector.answer((response) => void response.writeHead(400).end());
  await caller.get("/balance");
  await waitUntil("the loss to be told", () => findLine("span export failed, spans dropped"));
  await waitUntil("the loss of metrics to be told", () => findLine("metric export failed"));
  collector.answer();
  await caller.get("/balance");
  await waitUntil("the recovery to be told", () => findLine("span export recovered"));
  await waitUntil("that metrics are taken again to be told", () => findLine("metric export recovered"));
});
