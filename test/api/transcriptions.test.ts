// @module-tag slow
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createOpenAI } from "@ai-sdk/openai";
import { experimental_transcribe as transcribe } from "ai";
import { toFile } from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { upstreamKeyName } from "../harness/chat/chat-catalog.ts";
import { pixel } from "../harness/chat/client-catalog.ts";
import { encode } from "../harness/media/media-files.ts";
import {
  listRoutes,
  noTraces,
  openTaskStage,
  readProblem,
  type StageCaller,
  type TaskStage,
  writeStageCatalog,
} from "../harness/tasks/task-stage.ts";
import type { FakeUpstreams } from "../harness/upstreams/fake-upstreams.ts";
import { createGate } from "../harness/upstreams/gate.ts";
import { film, voice } from "../harness/upstreams/media-samples.ts";
import { heard } from "../harness/upstreams/openai-transcript.ts";
import { waitUntil } from "../harness/wait-until.ts";

let stage: TaskStage;

const bySecond = { billing_type: "duration", unit: "second", price: "0.01" };
const byToken = {
  billing_type: "token",
  unit: "1K tokens",
  input_price: "1.00",
  audio_input_price: "2.00",
  output_price: "10.00",
};

function writeCatalog(upstream: FakeUpstreams): string {
  const provider = { kind: "openai-compatible", base_url: upstream.openAiUrl, api_keys: [`\${${upstreamKeyName}}`] };
  const model = { type: "transcription", capabilities: ["transcription", "translation", "timestamps"] };
  const limits = { max_audio_seconds: 60, max_file_bytes: 1_000_000, max_prompt_length: 100 };
  const sandbox = [{ provider: "sandbox", upstream_model: "transcription" }];
  return writeStageCatalog(upstream, {
    providers: [
      ...["one", "two"].map((id) => ({ id, ...provider })),
      { id: "mute", ...provider, unsupported_fields: ["stream", "prompt"] },
    ],
    models: [
      { id: "ear", ...model, limits, routes: listRoutes(["open"]) },
      { id: "pair", ...model, routes: listRoutes(["one", "two"]) },
      { id: "mute", ...model, routes: listRoutes(["mute"]) },
      { id: "counted", ...model, capabilities: ["transcription", "diarization"], routes: listRoutes(["open"]) },
      { id: "brief", ...model, limits: { max_audio_seconds: 1, max_file_bytes: 20_000 }, routes: listRoutes(["open"]) },
      { id: "sandbox-transcription", ...model, routes: sandbox },
      {
        ...{
          id: "sandbox-speech",
          type: "speech",
          capabilities: ["text_to_speech"],
          limits: { voices: ["nova"], response_formats: ["mp3", "wav"] },
        },
        routes: [{ provider: "sandbox", upstream_model: "speech" }],
      },
    ],
    prices: [
      ...["ear", "pair", "mute", "brief", "sandbox-transcription"].map((id) => ({ model: id, ...bySecond })),
      { model: "counted", ...byToken },
      { model: "sandbox-speech", billing_type: "per_call", unit: "1K characters", price: "0" },
    ],
  });
}

beforeAll(async () => {
  stage = await openTaskStage({ catalog: writeCatalog });
});
afterEach(async () => {
  expect(stage.media.scriptsLeft()).toBe(0);
  await waitUntil("no recording to be left on the disk", () => listSpooled().length === 0);
  await stage.check();
});
afterAll(() => stage[Symbol.asyncDispose]());

function listSpooled(): string[] {
  return readdirSync(stage.dataDir, { recursive: true })
    .map(String)
    .filter((name) => /(^|\/)file-[^/]+$/.test(name));
}

const recording = () => toFile(voice.bytes, "voice.mp3");

type Fields = Record<string, string | readonly string[]>;

/** Sends a form unchanged. */
async function send(
  caller: StageCaller,
  fields: Fields,
  {
    bytes = voice.bytes as Buffer | null,
    path = "/audio/transcriptions",
    key = null as string | null,
    filename = "voice.mp3",
  } = {},
): Promise<Response> {
  const form = new FormData();
  for (const [name, values] of Object.entries(fields)) for (const value of [values].flat()) form.append(name, value);
  if (bytes !== null) form.append("file", new Blob([new Uint8Array(bytes)]), filename);
  const headers = { authorization: `Bearer ${caller.key}`, ...(key === null ? {} : { "idempotency-key": key }) };
  return await stage.fetch(`${stage.gateway.baseUrl}${path}`, { method: "POST", body: form, headers });
}

const durationUsage = { type: "duration", seconds: 1, charge: "0.01" };

describe("through the OpenAI SDK", () => {
  test("a transcription is the text, and costs the seconds of the recording", async () => {
    const caller = await stage.createCaller();
    const prompt = "Names: Anna, Ben";
    const asked = { model: "ear", language: "en", prompt, temperature: 0.2, chunking_strategy: "auto" } as const;
    const answer = await caller.client.audio.transcriptions.create({ ...asked, file: await recording() });
    expect(answer).toEqual({ text: heard.text, usage: durationUsage });
    const [submission] = stage.media.submissionsOf(prompt);
    expect(submission).toMatchObject({
      fields: { response_format: "json", language: "en", prompt, temperature: "0.2", chunking_strategy: "auto" },
      files: [{ name: "file", filename: "audio.mp3", contentType: "audio/mpeg", bytes: voice.bytes }],
    });
    expect(submission?.fields).not.toHaveProperty("stream");
    expect(await caller.listCharges()).toMatchObject([{ items: { seconds: 1 }, paid: "0.01" }]);
    expect(await caller.readBalance()).toEqual({ available: "9.99", frozen: "0.00" });
  });

  test("each response format matches the vendor's, and is generated from segments", async () => {
    const caller = await stage.createCaller();
    const ask = async <F extends "text" | "srt" | "vtt" | "verbose_json">(format: F) =>
      await caller.client.audio.transcriptions
        .create({ model: "ear", file: await recording(), response_format: format as "text" })
        .withResponse();
    const text = await ask("text");
    expect(text.data).toBe(`${heard.text}\n`);
    expect(text.response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect((await ask("srt")).data).toBe(
      "1\n00:00:00,000 --> 00:00:00,600\nThe gate is open.\n\n2\n00:00:00,600 --> 00:00:01,000\nCome in.\n\n",
    );
    expect((await ask("vtt")).data).toBe(
      "WEBVTT\n\n00:00:00.000 --> 00:00:00.600\nThe gate is open.\n\n00:00:00.600 --> 00:00:01.000\nCome in.\n\n",
    );
    const granular = { response_format: "verbose_json", timestamp_granularities: ["word", "segment"] } as const;
    const verbose = await caller.client.audio.transcriptions.create({
      ...{ model: "ear", file: await recording() },
      ...{ ...granular, timestamp_granularities: [...granular.timestamp_granularities] },
    });
    expect(verbose).toMatchObject({ task: "transcribe", language: "english", text: heard.text, words: heard.words });
    expect(verbose).toMatchObject({ segments: heard.segments, usage: durationUsage });
    expect(verbose.duration).toBeCloseTo(1, 1);
    const { fields } = stage.media.submissions.at(-1) ?? { fields: {} };
    expect(fields).toMatchObject({ response_format: "verbose_json", "timestamp_granularities[]": ["word", "segment"] });
  });

  test("a stream emits the text as it is generated, and its cost at the end", async () => {
    const caller = await stage.createCaller();
    const gate = createGate();
    stage.media.script({ beforeRest: gate });
    const stream = await caller.client.audio.transcriptions.create({
      model: "ear",
      file: await recording(),
      stream: true,
    });
    const events: unknown[] = [];
    for await (const event of stream) {
      // The fake sends the rest only after the first part has been read.
      gate.open();
      events.push(event);
    }
    const deltas = heard.text.match(/\s*\S+/g) ?? [];
    expect(events).toEqual([
      ...deltas.map((delta) => ({ type: "transcript.text.delta", delta })),
      { type: "transcript.text.done", text: heard.text, usage: durationUsage },
    ]);
    expect(await caller.listCharges()).toMatchObject([{ items: { seconds: 1 }, paid: "0.01" }]);
  });

  test("an upstream without streaming returns the whole text, which the gateway then streams", async () => {
    const caller = await stage.createCaller();
    const stream = await caller.client.audio.transcriptions.create({
      model: "mute",
      file: await recording(),
      stream: true,
    });
    const events = await Array.fromAsync(stream);
    expect(events).toMatchObject([
      { type: "transcript.text.delta", delta: heard.text },
      { type: "transcript.text.done", text: heard.text },
    ]);
    expect(stage.media.submissions.at(-1)?.fields).not.toHaveProperty("stream");
    const refused = await send(caller, { model: "mute", prompt: "Anna" });
    expect(await readProblem(refused)).toMatchObject({ code: "unsupported_capability", param: "prompt" });
  });

  test("speakers come from a model that detects them, and logprobs on request", async () => {
    const caller = await stage.createCaller();
    const asked = { model: "counted", file: await recording(), response_format: "diarized_json" } as const;
    const answer = await caller.client.audio.transcriptions.create(asked);
    const segments = heard.speakers.map((speaker) => ({ type: "transcript.text.segment", ...speaker }));
    expect(answer).toMatchObject({ task: "transcribe", text: heard.text, segments });
    const told = await caller.client.audio.transcriptions.create({
      ...{ model: "counted", file: await recording(), include: ["logprobs"] },
    });
    expect(told.logprobs).toEqual([{ token: "The", logprob: -0.1, bytes: [84] }]);
  });

  test("a translation is English, and needs a model that supports it", async () => {
    const caller = await stage.createCaller();
    const { translations } = caller.client.audio;
    expect(await translations.create({ model: "ear", file: await recording() })).toMatchObject({ text: heard.text });
    expect(stage.media.calls.at(-1)?.path).toBe("/openai/v1/audio/translations");
    const verbose = await translations.create({
      model: "ear",
      file: await recording(),
      response_format: "verbose_json",
    });
    expect(verbose).toMatchObject({ task: "translate", language: "english", segments: heard.segments });
    await expect(translations.create({ model: "counted", file: await recording() })).rejects.toMatchObject({
      ...{ status: 400, code: "unsupported_capability", param: "model" },
    });
  });
});

describe("a price by tokens", () => {
  test("is charged for the upstream's usage, and reported as tokens", async () => {
    const caller = await stage.createCaller();
    const gate = createGate();
    stage.media.script({ beforeHead: gate });
    const asked = caller.client.audio.transcriptions.create({ model: "counted", file: await recording() });
    await waitUntil("the hold", async () => (await caller.readBalance()).frozen !== "0.00");
    // Forty tokens of audio, fifty of a prompt, and the most that can be spoken in a second.
    expect(await caller.readBalance()).toEqual({ available: "8.62", frozen: "1.38" });
    gate.open();
    expect((await asked).usage).toEqual({ ...heard.usage, charge: "0.104" });
    expect(await caller.listCharges()).toMatchObject([
      { items: { input_tokens: 4, audio_input_tokens: 10, output_tokens: 8 }, paid: "0.104" },
    ]);
  });

  test("is charged by our own count if the upstream reports none, and never beyond the hold", async () => {
    const caller = await stage.createCaller();
    stage.media.script({ body: JSON.stringify({ text: "Twelve chars" }) });
    await caller.client.audio.transcriptions.create({ model: "counted", file: await recording() });
    const usage = { type: "tokens", input_tokens: 1_000_000, output_tokens: 1_000_000 };
    stage.media.script({ body: JSON.stringify({ text: "Hi", usage }) });
    await caller.client.audio.transcriptions.create({ model: "counted", file: await recording() });
    const charges = await caller.listCharges();
    expect(charges.map(({ paid }) => paid).sort()).toEqual(["0.05", "1.33"]);
  });
});

describe("a rejected request costs nothing, and reaches no upstream:", () => {
  const ear = { model: "ear" };
  test.each<{ what: string; fields: Fields; code: string; param: string; path?: string; bytes?: Buffer | null }>([
    { what: "no file", fields: ear, bytes: null, code: "missing_parameter", param: "file" },
    { what: "no model", fields: {}, code: "missing_parameter", param: "model" },
    { what: "an unknown model", fields: { model: "nobody" }, code: "model_unavailable", param: "model" },
    { what: "a speech model", fields: { model: "speech" }, code: "unsupported_capability", param: "model" },
    { what: "another vendor's field", fields: { ...ear, voice: "x" }, code: "unknown_parameter", param: "voice" },
    {
      what: "an unknown format",
      fields: { ...ear, response_format: "xml" },
      code: "invalid_parameter",
      param: "response_format",
    },
    {
      what: "timestamps from a model without them",
      fields: { model: "counted", response_format: "srt" },
      ...{ code: "unsupported_capability", param: "response_format" },
    },
    {
      what: "speakers from a model without them",
      fields: { ...ear, response_format: "diarized_json" },
      ...{ code: "unsupported_capability", param: "response_format" },
    },
    {
      what: "timestamps in plain JSON",
      fields: { ...ear, "timestamp_granularities[]": ["word"] },
      ...{ code: "invalid_parameter", param: "timestamp_granularities" },
    },
    {
      what: "a stream of subtitles",
      fields: { ...ear, stream: "true", response_format: "vtt" },
      ...{ code: "invalid_parameter", param: "stream" },
    },
    { what: "temperature >1", fields: { ...ear, temperature: "1.1" }, code: "invalid_parameter", param: "temperature" },
    { what: "a long prompt", fields: { ...ear, prompt: "x".repeat(101) }, code: "prompt_too_long", param: "prompt" },
    {
      what: "a language in a translation",
      fields: { ...ear, language: "de" },
      ...{ path: "/audio/translations", code: "unknown_parameter", param: "language" },
    },
    { what: "an image", fields: ear, bytes: Buffer.from("GIF89a"), code: "invalid_file", param: "file" },
    { what: "a broken file", fields: ear, bytes: film.bytes.subarray(0, 2000), code: "invalid_file", param: "file" },
    { what: "an empty file", fields: ear, bytes: Buffer.alloc(0), code: "invalid_file", param: "file" },
    {
      what: "a large file",
      fields: { model: "brief" },
      bytes: Buffer.alloc(20_001),
      code: "payload_too_large",
      param: "file",
    },
  ])("$what", async ({ fields, code, param, path, bytes }) => {
    await expectRefusal(
      fields,
      { code, param },
      { ...(path === undefined ? {} : { path }), ...(bytes === undefined ? {} : { bytes }) },
    );
  });

  const lavfi = (source: string) => ["-f", "lavfi", "-i", source];
  test.each<{ what: string; model?: string; make: () => Promise<Buffer>; says: string }>([
    {
      what: "silence",
      make: () => encode("wav", lavfi("anullsrc=r=16000:cl=mono:d=1")),
      says: "The recording is silent.",
    },
    {
      what: "a video without sound",
      make: () => encode("mp4", [...lavfi("testsrc=s=64x64:d=1:r=5"), "-c:v", "libx264", "-pix_fmt", "yuv420p"]),
      says: "The file has no audio track.",
    },
    {
      what: "a PNG",
      make: async () => Buffer.from(pixel, "base64"),
      says: "The file is an image, but audio or a video is required. Send MP3, WAV, M4A, OGG, FLAC, MP4, WebM, MOV.",
    },
    {
      what: "a recording that is too long",
      model: "brief",
      make: () => encode("mp3", lavfi("sine=d=2")),
      says: "The recording has 3 seconds. This model accepts at most 1.",
    },
  ])("$what", async ({ model = "ear", make, says }) => {
    const message = await expectRefusal({ model }, { code: "invalid_file", param: "file" }, { bytes: await make() });
    expect(message).toBe(says);
  });

  async function expectRefusal(
    fields: Fields,
    expected: { code: string; param: string },
    sent: NonNullable<Parameters<typeof send>[2]>,
  ): Promise<string> {
    const caller = await stage.createCaller();
    const before = stage.media.submissions.length;
    const problem = await readProblem(await send(caller, fields, { ...sent, key: "again" }));
    expect(problem).toMatchObject(expected);
    expect(await caller.countTraces()).toEqual(noTraces);
    expect(stage.media.submissions.length).toBe(before);
    return problem.message;
  }

  test("a key of another scope, and a balance that is too low", async () => {
    const speaker = await stage.createCaller({ endpoints: ["speech"] });
    expect((await send(speaker, { model: "ear" })).status).toBe(403);
    const poor = await stage.createCaller({ cash: "0.009" });
    expect(await readProblem(await send(poor, { model: "ear" }))).toMatchObject({ status: 402 });
  });
});

describe("sent again with its key", () => {
  test("the same form gets the same response in the same format, and is charged once", async () => {
    const caller = await stage.createCaller();
    const before = stage.media.submissions.length;
    for (const fields of [
      { model: "ear", response_format: "srt" },
      { model: "ear", stream: "true" },
    ]) {
      const key = `same-${"stream" in fields}`;
      const first = await send(caller, fields, { key });
      const body = await first.text();
      // Another boundary, and another order of the fields.
      const again = await send(caller, Object.fromEntries(Object.entries(fields).toReversed()), { key });
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
      expect(await again.text()).toBe(body);
    }
    expect(stage.media.submissions.length).toBe(before + 2);
    expect(await caller.listCharges()).toHaveLength(2);
  });

  test.each<{ what: string; fields?: Fields; bytes?: Buffer; path?: string; filename?: string }>([
    { what: "field", fields: { model: "ear", prompt: "other" } },
    { what: "recording", bytes: film.bytes },
    { what: "name of the file", filename: "other.mp3" },
    { what: "endpoint", path: "/audio/translations" },
  ])("another $what is another request", async ({ what: _, fields = { model: "ear" }, ...other }) => {
    const caller = await stage.createCaller();
    await (await send(caller, { model: "ear" }, { key: "k" })).text();
    expect(await readProblem(await send(caller, fields, { ...other, key: "k" }))).toMatchObject({ status: 422 });
  });
});

test("after an upstream failure the next one gets the whole recording", async () => {
  const caller = await stage.createCaller();
  stage.media.script({ status: 500 }, {});
  const answer = await caller.client.audio.transcriptions.create({
    model: "pair",
    file: await toFile(film.bytes, "f.mp4"),
  });
  expect(answer.text).toBe(heard.text);
  const [first, second] = stage.media.submissions.slice(-2).map(({ files }) => files[0]);
  expect([first?.bytes, second?.bytes]).toEqual([film.bytes, film.bytes]);
  expect(second).toMatchObject({ filename: "audio.mp4", contentType: "video/mp4" });
  stage.media.script({ status: 500 }, { body: "no transcript" });
  expect(await readProblem(await send(caller, { model: "pair" }))).toMatchObject({ status: 503 });
  expect(await caller.listCharges()).toHaveLength(1);
});

test("a stream that breaks ends with its error, and the delivered part is charged", async () => {
  const caller = await stage.createCaller();
  stage.media.script({ cut: "inside-body" });
  const response = await send(caller, { model: "ear", stream: "true" });
  const body = await response.text();
  expect(body).toContain('"transcript.text.delta"');
  expect(body).not.toContain('"transcript.text.done"');
  expect(body.trimEnd().split("\n\n").at(-1)).toContain('"code":"upstream_unavailable"');
  expect(await caller.listCharges()).toMatchObject([{ items: { seconds: 1 } }]);
});

test("a caller who disconnects pays the full price, and an answer without text costs nothing", async () => {
  const caller = await stage.createCaller();
  const gate = createGate();
  stage.media.script({ beforeRest: gate });
  const controller = new AbortController();
  const { signal } = controller;
  const asked = caller.client.audio.transcriptions.create(
    { model: "ear", file: await recording(), stream: true },
    { signal },
  );
  for await (const _ of await asked) break;
  controller.abort();
  await waitUntil("the charge", async () => (await caller.listCharges()).length === 1);
  gate.open();
  stage.media.script({ body: '{"text":""}' });
  expect(await caller.client.audio.transcriptions.create({ model: "ear", file: await recording() })).toMatchObject({
    ...{ text: "", usage: { charge: "0.00" } },
  });
  expect(await caller.listCharges()).toHaveLength(1);
});

describe("the sandbox", () => {
  const text = "The quick brown fox jumps. It is noon, and nobody is here!";

  test.each(["mp3", "wav"] as const)("transcribes its own speech word by word: %s", async (format) => {
    const caller = await stage.createCaller();
    const spoken = await caller.client.audio.speech.create({
      ...{ model: "sandbox-speech", input: text, voice: "nova", response_format: format },
    });
    const audio = new Uint8Array(await spoken.arrayBuffer());
    const provider = createOpenAI({ apiKey: caller.key, baseURL: stage.gateway.baseUrl, fetch: stage.fetch });
    const model = provider.transcription("sandbox-transcription");
    const granular = { timestampGranularities: ["word", "segment"], responseFormat: "verbose_json" };
    const transcript = await transcribe({ model, audio, providerOptions: { openai: granular }, maxRetries: 0 });
    expect(transcript.text).toBe(text);
    expect(transcript.language).toBe("en");
    expect(transcript.segments.map((segment) => segment.text.trim())).toEqual([
      "The quick brown fox jumps.",
      "It is noon, and nobody is here!",
    ]);
    const seconds = transcript.durationInSeconds ?? 0;
    expect(seconds).toBeGreaterThan(1.5);
    expect(transcript.segments.at(-1)?.endSecond).toBeCloseTo(seconds, 1);
    const [charge] = await caller.listCharges();
    expect(charge?.items).toEqual({ seconds: Math.ceil(seconds - 0.1) });
  });

  test("returns only the length of other recordings, with a note that it cannot transcribe them", async () => {
    const caller = await stage.createCaller();
    const stream = await caller.client.audio.transcriptions.create({
      ...{ model: "sandbox-transcription", file: await toFile(film.bytes, "film.mp4"), stream: true },
    });
    const events = await Array.fromAsync(stream);
    const done = events.at(-1);
    expect(done).toMatchObject({ type: "transcript.text.done", usage: durationUsage });
    expect(events.length).toBeGreaterThan(5);
    expect(JSON.stringify(done)).toContain("writes down only what its own speech models have said");
    const failed = await send(caller, { model: "sandbox-transcription", prompt: "[[429]]" });
    expect(failed.status).toBe(503);
    const cut = await send(caller, { model: "sandbox-transcription", prompt: "[[cut:2]]", stream: "true" });
    expect(await cut.text()).toContain("upstream_unavailable");
  });
});

test("the spool folder is in use and empty after these tests", () => {
  expect(readdirSync(stage.dataDir)).toContain("spool");
  expect(readdirSync(join(stage.dataDir, "spool"))).toEqual([]);
});
