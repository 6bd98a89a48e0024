import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { changeAccount } from "../../src/app/change-account.ts";
import { createPlan } from "../../src/features/accounts/index.ts";
import { upstreamKeyName } from "../harness/chat/chat-catalog.ts";
import { writeTaskPrice } from "../harness/tasks/task-catalog.ts";
import {
  listRoutes,
  noTraces,
  openTaskStage,
  paths,
  readProblem,
  type StageCaller,
  type TaskStage,
  type WholeTask,
  writeStageCatalog,
} from "../harness/tasks/task-stage.ts";
import type { FakeUpstreams } from "../harness/upstreams/fake-upstreams.ts";
import { createGate } from "../harness/upstreams/gate.ts";
import { voice } from "../harness/upstreams/media-samples.ts";
import { waitUntil } from "../harness/wait-until.ts";

let stage: TaskStage;

/** Models for tests with failing providers: each has two of its own, so that no open circuit affects another test. */
const fragile = ["refused", "silent", "page", "hopeless", "broken", "kept-broken", "busy"];

function writeCatalog(upstream: FakeUpstreams): string {
  const common = { type: "speech", capabilities: ["text_to_speech"] };
  const formats = ["mp3", "wav", "pcm", "opus", "aac", "flac"];
  const limits = { voices: ["alloy"], response_formats: formats, max_prompt_length: 1000, instructions: true };
  const providers = fragile.flatMap((name) => [`${name}-1`, `${name}-2`]);
  const keys = [`\${${upstreamKeyName}}`];
  return writeStageCatalog(upstream, {
    providers: providers.map((id) => ({ id, kind: "openai-compatible", base_url: upstream.openAiUrl, api_keys: keys })),
    models: [
      { id: "voice", ...common, limits, routes: listRoutes(["open"]) },
      ...fragile.map((id) => ({ id, ...common, limits, routes: listRoutes([`${id}-1`, `${id}-2`]) })),
    ],
    prices: ["voice", ...fragile].map((id) => writeTaskPrice(id, "1K characters", "1.00")),
  });
}

beforeAll(async () => {
  stage = await openTaskStage({ catalog: writeCatalog });
});
afterEach(async () => {
  expect(stage.media.scriptsLeft()).toBe(0);
  await stage.check();
});
afterAll(() => stage[Symbol.asyncDispose]());

const text = "x".repeat(500);
const speech = { model: "voice", input: text, voice: "alloy" } as const;
/** The bytes that the fake sends before it waits, and their length in characters at fifteen a second. */

function keyed(key: string) {
  return { headers: { "idempotency-key": key } };
}

async function readBytes(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

async function settled(caller: StageCaller): Promise<void> {
  await waitUntil("the hold to end", async () => (await caller.listHolds()).every(({ state }) => state !== "open"));
}

/** Reads until the response's first bytes arrive. */
async function readFirst(response: Response) {
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error("The answer has no body.");
  const { value } = await reader.read();
  return { reader, first: Buffer.from(value ?? []) };
}

describe("speech", () => {
  test("streams through the OpenAI SDK: the first bytes arrive before the last are generated", async () => {
    const caller = await stage.createCaller();
    const gate = createGate();
    stage.media.script({ beforeRest: gate });
    const response = await caller.client.audio.speech.create({ ...speech, response_format: "mp3" });
    expect(response.headers.get("content-type")).toBe("audio/mpeg");
    expect(response.headers.get("x-request-id")).toMatch(/^req_/);
    expect(response.headers.get("x-ratelimit-limit")).not.toBeNull();
    const { reader, first } = await readFirst(response as unknown as Response);
    expect(first.length).toBeGreaterThan(0);
    expect(await caller.readBalance()).toEqual({ available: "9.50", frozen: "0.50" });
    gate.open();
    const rest: Buffer[] = [first];
    for (let read = await reader.read(); !read.done; read = await reader.read()) rest.push(Buffer.from(read.value));
    expect(Buffer.concat(rest)).toEqual(voice.bytes);
    expect(await caller.listCharges()).toMatchObject([{ items: { characters: 500 }, paid: "0.50" }]);
    expect(await caller.readBalance()).toEqual({ available: "9.50", frozen: "0.00" });
  });

  test.each([
    { format: undefined, type: "audio/mpeg", sent: "mp3" },
    { format: "mp3", type: "audio/mpeg", sent: "mp3" },
    { format: "wav", type: "audio/wav", sent: "wav" },
    { format: "pcm", type: "audio/pcm", sent: "pcm" },
    { format: "opus", type: "audio/opus", sent: "opus" },
    { format: "aac", type: "audio/aac", sent: "aac" },
    { format: "flac", type: "audio/flac", sent: "flac" },
  ])("has the requested format and file name: $format", async ({ format, type, sent }) => {
    const caller = await stage.createCaller();
    const input = `In ${format}`;
    const body = { ...speech, input, speed: 1.5, ...(format === undefined ? {} : { response_format: format }) };
    const response = await caller.post(paths.speech, body);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
    await readBytes(response);
    expect(stage.media.submissionsOf(input)).toMatchObject([
      { fields: { response_format: sent, speed: 1.5, voice: "alloy" } },
    ]);
  });

  test("passes instructions on", async () => {
    const caller = await stage.createCaller();
    const input = "With instructions";
    await readBytes(await caller.post(paths.speech, { ...speech, input, instructions: "Whisper." }));
    expect(stage.media.submissionsOf(input)).toMatchObject([{ fields: { instructions: "Whisper." } }]);
  });

  test("arrives as OpenAI's events with stream_format sse, and ends with its usage and charge", async () => {
    const caller = await stage.createCaller();
    const response = await caller.client.audio.speech.create({ ...speech, stream_format: "sse" });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const events = (await response.text())
      .split("\n\n")
      .filter((event) => event.startsWith("data: "))
      .map((event) => JSON.parse(event.slice("data: ".length)) as { type: string; audio?: string; usage?: object });
    const audio = events.flatMap((event) => (event.audio === undefined ? [] : [Buffer.from(event.audio, "base64")]));
    expect(Buffer.concat(audio)).toEqual(voice.bytes);
    expect(events.at(-1)).toEqual({
      type: "speech.audio.done",
      usage: { input_tokens: 125, output_tokens: 0, total_tokens: 125, characters: 500, charge: "0.50" },
    });
    expect(await caller.listCharges()).toMatchObject([{ items: { characters: 500 }, paid: "0.50" }]);
  });

  test("as a task has no stream and no raw AAC", async () => {
    const caller = await stage.createCaller();
    const prefer = { headers: { prefer: "respond-async" } };
    for (const fields of [{ stream_format: "sse" }, { response_format: "aac" }]) {
      const [param] = Object.keys(fields);
      const problem = await readProblem(await caller.post(paths.speech, { ...speech, ...fields }, prefer));
      expect(problem).toMatchObject({ status: 400, code: "invalid_parameter", param });
    }
  });

  test("uses a plan's text quota, four characters a token", async () => {
    const quotas = { text: 125n, image: 0n, video: 0n };
    await createPlan(stage.gateway.parts, { id: "talkers", name: "T", limits: {}, period: "month", quotas });
    const caller = await stage.createCaller({ cash: "0" });
    await changeAccount(stage.gateway.parts, caller.accountId, { planId: "talkers" });
    await readBytes(await caller.post(paths.speech, speech));
    expect(await caller.listCharges()).toMatchObject([{ unit: "text", paid: "125" }]);
    expect((await caller.post(paths.speech, speech)).status).toBe(402);
  });

  test.each([
    { what: "an unknown voice", body: { ...speech, voice: "bob" }, code: "invalid_parameter", param: "voice" },
    { what: "no voice", body: { model: "voice", input: "x" }, code: "missing_parameter", param: "voice" },
    { what: "no text", body: { model: "voice", voice: "alloy" }, code: "missing_parameter", param: "input" },
    { what: "an empty text", body: { ...speech, input: "" }, code: "invalid_parameter", param: "input" },
    {
      what: "a text one character too long",
      body: { ...speech, input: "x".repeat(1001) },
      code: "prompt_too_long",
      param: "input",
    },
    {
      what: "an unknown format",
      body: { ...speech, response_format: "midi" },
      code: "invalid_parameter",
      param: "response_format",
    },
    { what: "a speed that is too high", body: { ...speech, speed: 4.01 }, code: "invalid_parameter", param: "speed" },
    { what: "a speed that is too low", body: { ...speech, speed: 0.2 }, code: "invalid_parameter", param: "speed" },
    {
      what: "another vendor's field",
      body: { ...speech, voice_settings: {} },
      code: "unknown_parameter",
      param: "voice_settings",
    },
    {
      what: "an image model",
      body: { ...speech, model: "image" },
      code: "unsupported_capability",
      param: "model",
    },
  ])("is rejected without a charge for $what", async ({ body, code, param }) => {
    const caller = await stage.createCaller();
    expect(await readProblem(await caller.post(paths.speech, body, keyed("bad")))).toMatchObject({
      status: 400,
      code,
      param,
    });
    expect(await caller.countTraces()).toEqual(noTraces);
  });

  test("is rejected with 402 without enough money, and with 429 with too many calls in flight", async () => {
    const poor = await stage.createCaller({ cash: "0.49" });
    const problem = await readProblem(await poor.post(paths.speech, speech, keyed("poor")));
    expect(problem).toMatchObject({ status: 402, code: "insufficient_balance" });
    expect(problem.message).toContain("0.01 USD");
    expect(await poor.countTraces()).toEqual(noTraces);
    const caller = await stage.createCaller({ limits: { concurrentRequests: 1 } });
    const gate = createGate();
    stage.media.script({ beforeRest: gate });
    const first = await caller.post(paths.speech, speech);
    const second = await caller.post(paths.speech, speech, keyed("second"));
    expect(await readProblem(second)).toMatchObject({ status: 429, code: "concurrency_limit_exceeded" });
    gate.open();
    await readBytes(first);
    const again = await waitUntil("a free place", async () => {
      const response = await caller.post(paths.speech, speech, keyed("second"));
      return response.status === 200 ? response : null;
    });
    expect(await readBytes(again)).toEqual(voice.bytes);
  });
});

describe("a caller who disconnects", () => {
  async function hangUp(caller: StageCaller, headers: Record<string, string>) {
    const gate = createGate();
    stage.media.script({ beforeRest: gate });
    const leaving = new AbortController();
    const response = await caller.post(paths.speech, speech, { headers, signal: leaving.signal });
    const { reader } = await readFirst(response);
    await gate.reached();
    leaving.abort();
    await reader.closed.catch(() => {});
    return gate;
  }

  test("without a key stops the upstream, and pays for the text it had received", async () => {
    const caller = await stage.createCaller();
    const before = stage.media.calls.filter(({ outcome }) => outcome === "aborted").length;
    await hangUp(caller, {});
    await stage.media.aborted(before + 1);
    await settled(caller);
    expect(await caller.listCharges()).toMatchObject([{ items: { characters: 500, hung_up: 1 } }]);
    expect((await caller.readBalance()).frozen).toBe("0.00");
  });

  test("before the first audio pays for the text that the upstream had accepted", async () => {
    for (const [behaviour, paid] of [
      [{}, ["0.50"]],
      [{ status: 500 }, []],
    ] as const) {
      const caller = await stage.createCaller();
      const gate = createGate();
      stage.media.script({ ...behaviour, beforeHead: gate });
      const leaving = new AbortController();
      const lost = caller.post(paths.speech, speech, { signal: leaving.signal }).catch(() => null);
      await gate.reached();
      leaving.abort();
      await lost;
      await waitUntil("the hang-up to be felt", () =>
        stage.gateway.logs.some(({ aborted, account_id }) => aborted === true && account_id === caller.accountId),
      );
      gate.open();
      await settled(caller);
      expect((await caller.listCharges()).map((charge) => charge.paid)).toEqual(paid);
    }
  });

  test("with a key pays for all of it once, and gets it byte for byte on retry", async () => {
    const caller = await stage.createCaller();
    const submissions = stage.media.submissions.length;
    const gate = await hangUp(caller, { "idempotency-key": "back" });
    const early = await caller.post(paths.speech, speech, keyed("back"));
    expect(Number(early.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await readProblem(early)).toMatchObject({ status: 409, code: "idempotency_in_progress" });
    gate.open();
    await settled(caller);
    for (let round = 0; round < 2; round += 1) {
      const replay = await caller.post(paths.speech, speech, keyed("back"));
      expect([replay.status, replay.headers.get("content-type")]).toEqual([200, "audio/mpeg"]);
      expect(replay.headers.get("idempotent-replayed")).toBe("true");
      expect(await readBytes(replay)).toEqual(voice.bytes);
    }
    expect(stage.media.submissions).toHaveLength(submissions + 1);
    expect(await caller.listCharges()).toMatchObject([{ items: { characters: 500 }, paid: "0.50" }]);
    const other = await caller.post(paths.speech, { ...speech, speed: 2 }, keyed("back"));
    expect(await readProblem(other)).toMatchObject({ status: 422, code: "idempotency_key_reused" });
  });
});

describe("a failure", () => {
  test.each([
    { what: "a 503", model: "refused", behaviour: { status: 503 } },
    { what: "silence", model: "silent", behaviour: { body: "" } },
    { what: "an HTML page", model: "page", behaviour: { body: "<html>", contentType: "text/html" } },
  ])("before the first byte, by $what, falls over to the next route", async ({ model, behaviour }) => {
    const caller = await stage.createCaller();
    stage.media.script(behaviour, {});
    const input = `Next: ${model}`;
    const response = await caller.post(paths.speech, { ...speech, model, input });
    expect(await readBytes(response)).toEqual(voice.bytes);
    expect(stage.media.submissionsOf(input).map((one) => one.model.split("/")[1])).toEqual([
      `${model}-1`,
      `${model}-2`,
    ]);
    expect(await caller.listCharges()).toHaveLength(1);
  });

  test("of all routes is a retryable error, with the same key, and costs nothing", async () => {
    const caller = await stage.createCaller();
    const body = { ...speech, model: "hopeless" };
    stage.media.script({ status: 500 }, { status: 500 });
    const response = await caller.post(paths.speech, body, keyed("retry"));
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await readProblem(response)).toMatchObject({ status: 503, code: "upstream_unavailable" });
    await settled(caller);
    expect(await caller.countTraces()).toMatchObject({ keys: 0 });
    expect(await caller.readBalance()).toEqual({ available: "10.00", frozen: "0.00" });
    const again = await caller.post(paths.speech, body, keyed("retry"));
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, null]);
    await readBytes(again);
  });

  test("because of the text's content is reported as such, without a charge or another route", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ status: 400, error: { code: "moderation_blocked" } });
    const input = "Something bad";
    const response = await caller.post(paths.speech, { ...speech, model: "hopeless", input });
    expect(await readProblem(response)).toMatchObject({
      status: 400,
      code: "content_policy_violation",
      param: "input",
    });
    expect(stage.media.submissionsOf(input)).toHaveLength(1);
    expect(await caller.listCharges()).toEqual([]);
  });

  test("because of a field names that field, and a busy upstream's Retry-After is passed on", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ status: 400, error: { message: "Unsupported voice.", param: "voice" } });
    const rejected = await caller.post(paths.speech, { ...speech, input: "Which field" });
    expect(await readProblem(rejected)).toMatchObject({ status: 400, code: "invalid_parameter", param: "voice" });
    const busy = { status: 429, headers: { "retry-after": "7" } };
    stage.media.script(busy, busy);
    const response = await caller.post(paths.speech, { ...speech, model: "busy", input: "Later" });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "7"]);
  });

  test("midway breaks the response off, and the text that the upstream had received is charged", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ cut: "inside-body" });
    const response = await caller.post(paths.speech, { ...speech, model: "broken" });
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
    await settled(caller);
    expect(await caller.listCharges()).toMatchObject([{ items: { characters: 500 } }]);
  });

  test("midway in a call with a key is stored: the call never runs again, and a retry gets its error", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ cut: "inside-body" });
    const body = { ...speech, model: "kept-broken", input: `Kept ${text}` };
    const response = await caller.post(paths.speech, body, keyed("broken"));
    await expect(response.arrayBuffer()).rejects.toThrow();
    await settled(caller);
    const replay = await caller.post(paths.speech, body, keyed("broken"));
    expect([replay.headers.get("idempotent-replayed"), replay.headers.get("x-should-retry")]).toEqual([
      "true",
      "false",
    ]);
    expect(await readProblem(replay)).toMatchObject({ status: 503, code: "upstream_unavailable" });
    expect(stage.media.submissionsOf(body.input)).toHaveLength(1);
    expect(await caller.listCharges()).toHaveLength(1);
  });
});

describe("with a key", () => {
  test("audio over a megabyte is not stored: a retry gets an error with the cost of the first call", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ body: "x".repeat(1024 * 1024 + 1) });
    const first = await caller.post(paths.speech, speech, keyed("large"));
    expect(await readBytes(first)).toHaveLength(1024 * 1024 + 1);
    const second = await caller.post(paths.speech, speech, keyed("large"));
    const problem = await readProblem(second);
    expect(problem).toMatchObject({ status: 409, code: "already_completed", param: "Idempotency-Key" });
    expect(problem.message).toContain("500 characters and cost 0.50");
    expect(await caller.listCharges()).toHaveLength(1);
  });

  test("audio of exactly a megabyte is stored", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ body: "x".repeat(1024 * 1024) });
    await readBytes(await caller.post(paths.speech, speech, keyed("exact")));
    const second = await caller.post(paths.speech, speech, keyed("exact"));
    expect([second.status, (await readBytes(second)).length]).toEqual([200, 1024 * 1024]);
  });

  test("a call that was answered at once is replayed when it is sent as a task", async () => {
    const caller = await stage.createCaller();
    await readBytes(await caller.post(paths.speech, speech, keyed("both")));
    const headers = { "idempotency-key": "both", prefer: "respond-async" };
    const replay = await caller.post(paths.speech, speech, { headers });
    expect([replay.status, replay.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(await readBytes(replay)).toEqual(voice.bytes);
    expect(await caller.listCharges()).toHaveLength(1);
  });

  test("a call that was sent as a task returns that task when it is sent again, in either way", async () => {
    const caller = await stage.createCaller();
    const headers = { "idempotency-key": "task", prefer: "respond-async" };
    const first = await caller.post(paths.speech, speech, { headers });
    const { id } = (await first.json()) as WholeTask;
    await caller.awaitTask(id);
    for (const init of [{ headers }, keyed("task")]) {
      const replay = await caller.post(paths.speech, speech, init);
      expect([replay.status, replay.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
      expect((await replay.json()) as WholeTask).toMatchObject({ id, status: "succeeded" });
    }
    expect(await caller.listCharges()).toHaveLength(1);
  });
});

describe("with Prefer: respond-async", () => {
  test("it is a task like any other, with the audio as its output", async () => {
    const caller = await stage.createCaller();
    const response = await caller.post(paths.speech, speech, { headers: { prefer: "respond-async" } });
    expect([response.status, response.headers.get("preference-applied")]).toEqual([202, "respond-async"]);
    const submitted = (await response.json()) as WholeTask;
    expect(response.headers.get("location")).toContain(submitted.id);
    const task = await caller.awaitTask(submitted.id);
    expect(task).toMatchObject({
      ...{ type: "speech", status: "succeeded", usage: { total_units: 1, charge: "0.50", estimated_charge: "0.50" } },
      output: [{ type: "audio", content_type: "audio/mpeg", bytes: voice.bytes.length, duration: expect.any(Number) }],
    });
    const url = task.output[0]?.url.replace(/^http:\/\/[^/]+/, "") ?? "";
    expect(await readBytes(await stage.fetch(stage.gateway.siteUrl + url))).toEqual(voice.bytes);
  });

  test("and a wait, the response is the finished task", async () => {
    const caller = await stage.createCaller();
    const headers = { prefer: "respond-async, wait=30" };
    const response = await caller.post(paths.speech, speech, { headers });
    expect([response.status, ((await response.json()) as WholeTask).status]).toEqual([200, "succeeded"]);
  });
});
