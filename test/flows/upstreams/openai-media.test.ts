import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { explainFailure } from "../../../src/features/tasks/machine/explain-failure.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import type { SpeechAudio, SpeechCall } from "../../../src/providers/generation.ts";
import { createOpenAiGeneration } from "../../../src/providers/openai-compatible/create-openai-generation.ts";
import {
  askFor,
  catchFailure,
  createInput,
  describeCall,
  getOutputs,
  openMediaStage,
  picture,
  readOutput,
} from "../../harness/media/media-stage.ts";
import { startRecordingServer } from "../../harness/servers/recording-server.ts";
import { findCanary } from "../../harness/upstreams/fake-upstreams.ts";
import { voice } from "../../harness/upstreams/media-samples.ts";

const speech = { type: "speech", text: "Good morning", voice: "alloy", format: "mp3", speed: 1 } as const;

function askToSay(text: string, changes: Partial<SpeechCall> = {}): SpeechCall {
  const { inputs: _, ...call } = describeCall({ upstreamModel: "tts-1" });
  return { ...call, request: { ...speech, text }, ...changes };
}

async function hear({ chunks }: SpeechAudio): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunks));
}

describe("images in OpenAI's format", () => {
  test("are created synchronously from the request", async () => {
    await using stage = await openMediaStage();
    const outputs = getOutputs(await stage.openAi.submit(describeCall({ upstreamModel: "gpt-image-2" })));
    expect(outputs.map(({ type }) => type)).toEqual(["image", "image"]);
    for (const output of outputs) {
      expect(await sharp(await readOutput(output)).metadata()).toMatchObject({ format: "png", width: 64, height: 96 });
    }
    const [submission] = stage.media.submissions;
    expect(submission).toMatchObject({ apiKey: "sk-1", refusal: null, call: { headers: { "x-team": "ours" } } });
    expect(submission?.call.path).toBe("/openai/v1/images/generations");
    expect(submission?.fields).toEqual({ model: "gpt-image-2", prompt: "A red barn", n: 2, size: "64x96" });
  });

  test("start from input images that are sent whole, in a form with a length", async () => {
    await using stage = await openMediaStage();
    const inputs = [
      createInput({ content: "first\r\n--picture", url: "https://example.com/a.png" }),
      createInput({ content: "second", contentType: "image/jpeg" }),
    ];
    getOutputs(await stage.openAi.submit(describeCall({ inputs, upstreamModel: "gpt-image-2" })));
    const [submission] = stage.media.submissions;
    expect(submission?.call.path).toBe("/openai/v1/images/edits");
    expect(submission?.call.headers["content-length"]).toBe(String(submission?.call.body.length));
    expect(submission?.fields).toEqual({ model: "gpt-image-2", prompt: "A red barn", n: 2, size: "64x96" });
    const files = submission?.files.map((file) => ({ ...file, bytes: String(file.bytes) }));
    expect(files).toEqual([
      { name: "image[]", filename: "image-1.png", contentType: "image/png", bytes: "first\r\n--picture" },
      { name: "image[]", filename: "image-2.jpeg", contentType: "image/jpeg", bytes: "second" },
    ]);
    getOutputs(await stage.openAi.submit(describeCall({ inputs: inputs.slice(0, 1) })));
    expect(stage.media.submissions[1]?.files.map(({ name }) => name)).toEqual(["image"]);
    expect(stage.media.refusals()).toEqual([]);
  });

  test("with an unreadable input image have definitely failed, since no whole request was sent", async () => {
    await using stage = await openMediaStage();
    const short = createInput({ bytes: 100 });
    const unreadable = { kind: "unreachable", isIsolated: true };
    expect(await catchFailure(stage.openAi.submit(describeCall({ inputs: [short] })))).toMatchObject(unreadable);
    const gone = createInput({
      open: async () => {
        throw new Error("The disk is gone.");
      },
    });
    expect(await catchFailure(stage.openAi.submit(describeCall({ inputs: [gone] })))).toMatchObject(unreadable);
    expect(stage.media.submissions).toEqual([]);
  });

  test("may be at an address, which is downloaded with SSRF protection and without the key", async () => {
    await using stage = await openMediaStage();
    await using other = await startRecordingServer((_, response) => void response.end("bytes"));
    stage.media.script(
      { form: "url" },
      { form: "url", outputUrl: `${other.url}/made.png` },
      { form: "url", outputUrl: "http://192.168.1.1/made.png" },
    );
    const [own] = getOutputs(await stage.openAi.submit(describeCall()));
    expect(await sharp(await readOutput(own)).metadata()).toMatchObject({ width: 64 });
    const [elsewhere] = getOutputs(await stage.openAi.submit(describeCall()));
    expect(String(await readOutput(elsewhere))).toBe("bytes");
    expect(other.requests[0]?.headers).not.toHaveProperty("authorization");
    const [inside] = getOutputs(await stage.openAi.submit(describeCall()));
    expect(await catchFailure(readOutput(inside))).toMatchObject({ kind: "bad-answer", isIsolated: true });
  });

  test("are requested again under the task's own key if the upstream is idempotent, and waited for while it works", async () => {
    await using stage = await openMediaStage({ idempotencyHeader: "idempotency-key" });
    expect(stage.openAi.traits).toMatchObject({ isRepeatable: true, keepsWork: true });
    stage.media.script({ isReset: true }, { status: 409, error: { code: "idempotency_in_progress" } }, {});
    for (const work of [picture, { ...speech, text: "Hi" }]) {
      const call = describeCall({ request: work, taskId: `task_${work.type}` });
      if (work.type === "image") {
        expect(await stage.openAi.submit(call)).toMatchObject({ kind: "ambiguous" });
        expect(await stage.openAi.submit(call)).toMatchObject({ kind: "ambiguous" });
      }
      getOutputs(await stage.openAi.submit(call));
    }
    const keys = stage.media.submissions.map(({ call }) => call.headers["idempotency-key"]);
    expect(keys).toEqual(["task_image", "task_image", "task_image", "task_speech"]);
    await using plain = await openMediaStage();
    plain.media.script({ status: 409 });
    expect(await catchFailure(plain.openAi.submit(describeCall()))).toMatchObject({ detail: { status: 409 } });
    expect(plain.media.submissions[0]?.call.headers).not.toHaveProperty("idempotency-key");
  });

  test("are never more than requested, and may be fewer", async () => {
    await using stage = await openMediaStage();
    stage.media.script({ extraCount: 2 }, { extraCount: -1 }, { body: '{"data":[]}' }, { body: '{"data":[{},7]}' });
    const counts: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      counts.push(getOutputs(await stage.openAi.submit(describeCall())).length);
    }
    expect(counts).toEqual([2, 1, 0, 0]);
  });

  test.for([
    [{ status: 400, error: { code: "moderation_blocked" } }, "content-refused", null],
    [{ status: 400, error: { code: "content_policy_violation" } }, "content-refused", null],
    [{ status: 400, error: { param: "size" } }, "rejected", "size"],
    [{ status: 400, error: { param: "image[0]" } }, "rejected", "input_images"],
    [{ status: 400, error: { param: "canaryvendor" } }, "rejected", null],
    [{ status: 401, error: { code: "invalid_api_key" } }, "key-refused", null],
    [{ status: 403 }, "unexplained", null],
    [{ status: 404, error: { message: "The image is nowhere" } }, "unexplained", null],
    [{ status: 404, body: '{"detail":"Not Found"}' }, "unexplained", null],
    [{ status: 404, contentType: "text/html", body: "<html>canaryvendor</html>" }, "unexplained", null],
    [{ status: 400, contentType: "text/html", body: "<html>canaryvendor</html>" }, "unexplained", null],
    [{ status: 429 }, "rate-limited", null],
    [{ status: 429, error: { code: "insufficient_quota" } }, "out-of-credit", null],
    [{ status: 500 }, "overloaded", null],
    [{ body: '{"error":{"code":"rate_limit_exceeded","message":"canaryvendor"}}' }, "rate-limited", null],
    [{ status: 302 }, "bad-answer", null],
  ] as const)("that are refused have definitely failed: %j", async ([behaviour, kind, param]) => {
    await using stage = await openMediaStage();
    stage.media.script(behaviour);
    const failure = await catchFailure(stage.openAi.submit(describeCall()));
    expect(failure).toMatchObject({ kind, param });
    expect(findCanary(explainFailure(failure))).toBeNull();
    expect(stage.media.calls).toHaveLength(1);
  });

  test("that are rate limited have a retry time", async () => {
    await using stage = await openMediaStage();
    const failure = await catchFailure(stage.openAi.submit(askFor("<<fault:retry-after=3>>")));
    expect(failure).toMatchObject({ kind: "rate-limited", retryAfterMs: 3000 });
  });

  test.for([
    ["<<fault:reset>>", "unreachable"],
    ["<<fault:cut>>", "unreachable"],
    ["<<fault:malformed>>", "bad-answer"],
  ] as const)("that may have been created are ambiguous: %s", async ([prompt, kind]) => {
    await using stage = await openMediaStage();
    expect(await stage.openAi.submit(askFor(prompt))).toMatchObject({ kind: "ambiguous", error: { kind } });
    expect(stage.media.submissionsOf(prompt)).toHaveLength(1);
  });

  test("that time out are ambiguous, and the connection is closed", async () => {
    await using stage = await openMediaStage();
    const outcome = await stage.openAi.submit({ ...askFor("<<fault:hang>>"), timeoutMs: 300 });
    expect(outcome).toMatchObject({ kind: "ambiguous", error: { kind: "timeout" } });
    await stage.media.aborted(1);
  });

  test("are aborted when their caller aborts", async () => {
    await using stage = await openMediaStage();
    const gate = stage.fake.gate();
    stage.media.script({ beforeHead: gate });
    const stop = new AbortController();
    const attempt = stage.openAi.submit(describeCall({ signal: stop.signal }));
    await gate.reached();
    stop.abort(new Error("The worker stops."));
    await expect(attempt).rejects.toThrow("The worker stops.");
    await stage.media.aborted(1);
  });

  test("cannot be polled or canceled, and videos cannot be created at all", async () => {
    await using stage = await openMediaStage();
    expect(await stage.openAi.poll({}, describeCall())).toEqual({ kind: "lost" });
    expect(await stage.openAi.cancel({}, describeCall())).toBe("unsupported");
    const film = { type: "video", prompt: "x", durationSeconds: 5, aspectRatio: "16:9" } as const;
    expect(stage.openAi.findObstacle(film, { inputs: [], route: {} })).toMatchObject({ param: "model" });
    expect(stage.openAi.findObstacle(picture, { inputs: [], route: {} })).toBeNull();
    expect(stage.openAi.findObstacle(speech, { inputs: [], route: {} })).toBeNull();
    expect(await catchFailure(stage.openAi.submit(describeCall({ request: film })))).toMatchObject({
      kind: "rejected",
    });
    expect(stage.media.calls).toEqual([]);
  });
});

describe("speech in OpenAI's format", () => {
  test("is requested in the vendor's format, and delivered unchanged", async () => {
    await using stage = await openMediaStage();
    const audio = await stage.speech.startSpeech(askToSay("Good morning"));
    expect((await hear(audio)).equals(voice.bytes)).toBe(true);
    expect(stage.media.submissions[0]).toMatchObject({ apiKey: "sk-1", refusal: null });
    expect(stage.media.submissions[0]?.fields).toEqual({
      model: "tts-1",
      input: "Good morning",
      voice: "alloy",
      response_format: "mp3",
    });
    await hear(await stage.speech.startSpeech(askToSay("x", { request: { ...speech, format: "pcm", speed: 1.5 } })));
    expect(stage.media.submissions[1]?.fields).toMatchObject({ response_format: "pcm", speed: 1.5 });
  });

  test("can be played before all of it is created", async () => {
    await using stage = await openMediaStage();
    const gate = stage.fake.gate();
    stage.media.script({ beforeRest: gate });
    const { chunks } = await stage.speech.startSpeech(askToSay("Hi"));
    const heard = chunks[Symbol.asyncIterator]();
    const first = await heard.next();
    expect(first.value?.length).toBeGreaterThan(0);
    gate.open();
    let length = first.value?.length ?? 0;
    for (let next = await heard.next(); next.done !== true; next = await heard.next()) length += next.value.length;
    expect(length).toBe(voice.bytes.length);
  });

  test.for([
    [{ status: 400, error: { param: "voice" } }, "rejected", "voice"],
    [{ status: 401 }, "key-refused", null],
    [{ status: 404, body: '{"detail":"Not Found"}' }, "unexplained", null],
    [{ status: 400, contentType: "text/html", body: "<html>canaryvendor</html>" }, "unexplained", null],
    [{ status: 429, headers: { "retry-after": "2" } }, "rate-limited", null],
    [{ status: 503 }, "overloaded", null],
    [{ contentType: "application/json", body: '{"error":{"code":"content_policy"}}' }, "content-refused", null],
    [{ contentType: "application/json", body: '{"error":{"message":"canaryvendor"}}' }, "overloaded", null],
    [{ contentType: "text/html", body: "<html>canaryvendor</html>" }, "bad-answer", null],
    [{ body: "" }, "bad-answer", null],
    [{ headers: { "content-encoding": "gzip" } }, "bad-answer", null],
    [{ isReset: true }, "unreachable", null],
    [{ cut: "after-head" }, "unreachable", null],
  ] as const)("that does not begin is a failure without audio: %j", async ([behaviour, kind, param]) => {
    await using stage = await openMediaStage();
    stage.media.script(behaviour);
    const failure = await catchFailure(stage.speech.startSpeech(askToSay("Hi")));
    expect(failure).toMatchObject({ kind, param });
    expect(findCanary(explainFailure(failure))).toBeNull();
  });

  test("that breaks off fails after everything that arrived", async () => {
    await using stage = await openMediaStage();
    stage.media.script({ cut: "inside-body" });
    const { chunks } = await stage.speech.startSpeech(askToSay("Hi"));
    let length = 0;
    const listening = (async () => {
      for await (const chunk of chunks) length += chunk.length;
    })();
    expect(await catchFailure(listening)).toMatchObject({ kind: "unreachable" });
    expect(length).toBe(Math.floor(voice.bytes.length / 2));
  });

  test("that falls silent times out, before it began or after", async () => {
    await using stage = await openMediaStage();
    const late = { timeoutMs: 300 };
    expect(await catchFailure(stage.speech.startSpeech(askToSay("<<fault:hang>>", late)))).toMatchObject({
      kind: "timeout",
    });
    stage.media.script({ beforeRest: stage.fake.gate() });
    const audio = await stage.speech.startSpeech(askToSay("Hi", { timeoutMs: 1000 }));
    expect(await catchFailure(hear(audio))).toMatchObject({ kind: "timeout" });
    await stage.media.aborted(2);
  });

  test("ends with its listener, in every way", async () => {
    await using stage = await openMediaStage();
    const unheard = stage.fake.gate();
    stage.media.always({ beforeRest: unheard });
    const { chunks } = await stage.speech.startSpeech(askToSay("one"));
    const listener = chunks[Symbol.asyncIterator]();
    await listener.return?.();
    await stage.media.aborted(1);
    const begun = await stage.speech.startSpeech(askToSay("two"));
    for await (const _ of begun.chunks) break;
    await stage.media.aborted(2);
    const stop = new AbortController();
    const aborted = await stage.speech.startSpeech(askToSay("three", { signal: stop.signal }));
    const listening = hear(aborted);
    stop.abort(new Error("The caller hung up."));
    await expect(listening).rejects.toThrow("The caller hung up.");
    await stage.media.aborted(3);
  });
});

describe("speech as a task", () => {
  const task = (text: string) => describeCall({ request: { ...speech, text }, upstreamModel: "tts-1" });

  test("is one audio file, which can be read again", async () => {
    await using stage = await openMediaStage();
    const outputs = getOutputs(await stage.openAi.submit(task("Good morning")));
    expect(outputs.map(({ type }) => type)).toEqual(["audio"]);
    expect((await readOutput(outputs[0])).equals(voice.bytes)).toBe(true);
    expect((await readOutput(outputs[0])).equals(voice.bytes)).toBe(true);
    expect(stage.media.submissions[0]?.fields).toMatchObject({ input: "Good morning", voice: "alloy" });
  });

  test("is ambiguous when half of it arrived, or none", async () => {
    await using stage = await openMediaStage();
    stage.media.script({ cut: "inside-body" }, { isReset: true }, { body: "" });
    const kinds = ["unreachable", "unreachable", "bad-answer"];
    for (const kind of kinds) {
      expect(await stage.openAi.submit(task("Hi"))).toMatchObject({ kind: "ambiguous", error: { kind } });
    }
  });

  test("has definitely failed when it is refused, also by an error instead of audio", async () => {
    await using stage = await openMediaStage();
    const said = { contentType: "application/json", body: '{"error":{"code":"rate_limit_exceeded"}}' };
    stage.media.script({ status: 400, error: { param: "input" } }, said);
    expect(await catchFailure(stage.openAi.submit(task("Hi")))).toMatchObject({ kind: "rejected", param: "input" });
    expect(await catchFailure(stage.openAi.submit(task("Hi")))).toMatchObject({ kind: "rate-limited" });
  });
});

test("the address of an upstream keeps its query, and the key goes into the configured header", async () => {
  await using server = await startRecordingServer((_, response) => void response.end('{"data":[]}'));
  const provider = createOpenAiGeneration({
    baseUrl: `${server.url}/deployments/x/?api-version=1`,
    headers: { "User-Agent": "special" },
    authHeader: { name: "Api-Key", prefix: "" },
    idempotencyHeader: null,
    connectionsMax: 1,
    clock: systemClock,
  });
  await provider.submit(describeCall());
  await provider.close();
  expect(server.requests[0]?.path).toBe("/deployments/x/images/generations?api-version=1");
  expect(server.requests[0]?.headers).toMatchObject({ "api-key": "sk-1", "user-agent": "special" });
});
