import { createServer } from "node:net";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { explainFailure } from "../../../src/features/tasks/machine/explain-failure.ts";
import {
  askFor,
  catchFailure,
  createInput,
  describeCall,
  getOutputs,
  openMediaStage,
  picture,
  readOutput,
  submit,
} from "../../harness/media/media-stage.ts";
import { startRecordingServer } from "../../harness/servers/recording-server.ts";
import { findCanary } from "../../harness/upstreams/fake-upstreams.ts";
import { film } from "../../harness/upstreams/media-samples.ts";

/** An endpoint that is not in fal's published types. */
const unlisted = { upstreamModel: "someone/else" };

describe("a job for fal", () => {
  test("goes to the model's path with the key, our headers and the input of an image", async () => {
    await using stage = await openMediaStage();
    await submit(stage.fal, describeCall({ request: picture }));
    const [submission] = stage.media.submissions;
    expect(submission).toMatchObject({ model: "fal-ai/flux/dev", apiKey: "sk-1", refusal: null });
    expect(submission?.call.headers).toMatchObject({ "x-team": "ours", "user-agent": "sluice" });
    expect(JSON.parse(String(submission?.call.headers["x-fal-object-lifecycle-preference"]))).toEqual({
      expiration_duration_seconds: 86_400,
    });
    expect(submission?.fields).toEqual({
      prompt: "A red barn",
      image_size: { width: 64, height: 96 },
      num_images: 2,
    });
  });

  test("is polled without the model's last path segment, until its images exist in the requested size", async () => {
    await using stage = await openMediaStage();
    stage.media.script({ queue: 2, work: 1 });
    const call = describeCall();
    const handle = await submit(stage.fal, call);
    expect(JSON.stringify(handle).length).toBeLessThan(4096);
    const outcomes = [await stage.fal.poll(handle, call), await stage.fal.poll(handle, call)];
    expect(outcomes).toEqual([
      { kind: "running", isStarted: false, progress: null },
      { kind: "running", isStarted: false, progress: null },
    ]);
    expect(await stage.fal.poll(handle, call)).toEqual({ kind: "running", isStarted: true, progress: null });
    const outputs = getOutputs(await stage.fal.poll(handle, call));
    expect(outputs.map(({ type }) => type)).toEqual(["image", "image"]);
    for (const output of outputs) {
      expect(await sharp(await readOutput(output)).metadata()).toMatchObject({ format: "png", width: 64, height: 96 });
    }
    const asked = stage.media.calls.filter(({ path }) => path.includes("/requests/"));
    expect(asked.every(({ path }) => /^\/fal\/fal-ai\/flux\/requests\/[\w-]+(\/status)?$/.test(path))).toBe(true);
    expect(asked.every(({ headers }) => headers.authorization === "Key sk-1")).toBe(true);
    expect(stage.media.submissionsOf("A red barn")).toHaveLength(1);
  });

  test("may be a video, which starts from the first image", async () => {
    await using stage = await openMediaStage();
    const url = "https://images.example.com/a.png";
    const request = { type: "video", prompt: "", durationSeconds: 5, aspectRatio: "16:9" } as const;
    const call = describeCall({ request, inputs: [createInput({ url })], upstreamModel: "fal-ai/kling-video/v2/pro" });
    const handle = await submit(stage.fal, call);
    expect(stage.media.submissions[0]?.fields).toEqual({
      duration: "5",
      aspect_ratio: "16:9",
      image_url: url,
      image_urls: [url],
    });
    const [output] = getOutputs(await stage.fal.poll(handle, call));
    expect(output?.type).toBe("video");
    expect((await readOutput(output)).equals(film.bytes)).toBe(true);
  });

  test("may be an avatar, whose image and voice are sent inline if they have no public address", async () => {
    await using stage = await openMediaStage();
    const person = createInput({ role: "person", content: "face", url: "http://localhost:4000/v1/files/file_1" });
    const audio = createInput({ role: "audio", content: "voice", contentType: "audio/mpeg" });
    const call = describeCall({
      ...unlisted,
      request: { type: "avatar", aspectRatio: "9:16" },
      inputs: [person, audio],
    });
    const handle = await submit(stage.fal, call);
    expect(stage.media.submissions[0]?.fields).toEqual({
      image_url: `data:image/png;base64,${btoa("face")}`,
      audio_url: `data:audio/mpeg;base64,${btoa("voice")}`,
      aspect_ratio: "9:16",
    });
    expect(getOutputs(await stage.fal.poll(handle, call))).toHaveLength(1);
    expect(stage.media.refusals()).toEqual([]);
  });

  test("is not sent if its inputs total more than 20 MB", async () => {
    await using stage = await openMediaStage();
    const half = createInput({ content: "x".repeat(10 * 1024 * 1024) });
    const failure = await catchFailure(
      stage.fal.submit(describeCall({ ...unlisted, inputs: [half, createInput({ content: "x" }), half] })),
    );
    expect(failure).toMatchObject({ kind: "rejected", param: "input_images" });
    expect(stage.media.calls).toHaveLength(0);
    await submit(stage.fal, describeCall({ ...unlisted, inputs: [half, half] }));
  });

  test("is refused before it is sent if the endpoint lacks a field, or makes something else", async () => {
    await using stage = await openMediaStage();
    const film = { type: "video", prompt: "x", durationSeconds: 5, aspectRatio: "16:9" } as const;
    for (const [call, param] of [
      [describeCall({ inputs: [createInput({})] }), "input_images"],
      [describeCall({ request: film }), "model"],
      [describeCall({ request: { ...film, durationSeconds: 7 }, upstreamModel: "fal-ai/veo3" }), "duration"],
    ] as const) {
      expect(stage.fal.findObstacle(call.request, call)).toMatchObject({ param });
      expect(await catchFailure(stage.fal.submit(call))).toMatchObject({ kind: "rejected" });
    }
    expect(stage.media.calls).toHaveLength(0);
  });

  test("is not sent if an input has more bytes than declared", async () => {
    await using stage = await openMediaStage();
    const liar = createInput({ content: "x".repeat(21 * 1024 * 1024), bytes: 1 });
    expect(await catchFailure(stage.fal.submit(describeCall({ ...unlisted, inputs: [liar] })))).toMatchObject({
      kind: "rejected",
    });
    expect(stage.media.calls).toHaveLength(0);
  });
});

describe("a submission to fal", () => {
  test.for([
    ["<<fault:reset>>", "unreachable"],
    ["<<fault:cut>>", "unreachable"],
    ["<<fault:malformed>>", "bad-answer"],
  ] as const)("that may have been accepted is ambiguous: %s", async ([prompt, kind]) => {
    await using stage = await openMediaStage();
    expect(await stage.fal.submit(askFor(prompt))).toMatchObject({ kind: "ambiguous", error: { kind } });
    expect(stage.media.submissionsOf(prompt)).toHaveLength(1);
  });

  test("that is not answered in time is ambiguous", async () => {
    await using stage = await openMediaStage();
    const outcome = await stage.fal.submit({ ...askFor("<<fault:hang>>"), timeoutMs: 300 });
    expect(outcome).toMatchObject({ kind: "ambiguous", error: { kind: "timeout" } });
    expect(stage.media.submissions).toHaveLength(1);
  });

  test("that a proxy answers is ambiguous, unless the answer shows that it was not forwarded", async () => {
    await using stage = await openMediaStage();
    const page = { body: "<html>Bad Gateway</html>", contentType: "text/html" };
    stage.media.script({ status: 502, ...page }, { status: 504, ...page }, { status: 503, ...page });
    expect(await stage.fal.submit(askFor("a"))).toMatchObject({ kind: "ambiguous", error: { kind: "overloaded" } });
    expect(await stage.fal.submit(askFor("b"))).toMatchObject({ kind: "ambiguous", error: { kind: "timeout" } });
    expect(await catchFailure(stage.fal.submit(askFor("c")))).toMatchObject({ kind: "overloaded" });
  });

  test("whose reply has no request id is ambiguous", async () => {
    await using stage = await openMediaStage();
    for (const body of ['{"status":"IN_QUEUE"}', '{"request_id":"../../admin"}', "[]", '{"request_id":7}']) {
      stage.media.script({ body });
      expect(await stage.fal.submit(askFor(body))).toMatchObject({ kind: "ambiguous", error: { kind: "bad-answer" } });
    }
  });

  test.for([
    [{ status: 400 }, "rejected"],
    [{ status: 401 }, "key-refused"],
    [{ status: 403, body: '{"detail":"User is locked. Reason: Exhausted balance."}' }, "out-of-credit"],
    [{ status: 404 }, "unexplained"],
    [{ status: 422 }, "rejected"],
    [{ status: 422, error: { code: "content_policy_violation" } }, "content-refused"],
    [{ status: 429 }, "rate-limited"],
    [{ status: 500 }, "overloaded"],
    [{ status: 503 }, "overloaded"],
    [{ status: 307, headers: { location: "http://127.0.0.1:1/" } }, "bad-answer"],
  ] as const)("that is refused has definitely failed: %j", async ([behaviour, kind]) => {
    await using stage = await openMediaStage();
    stage.media.script(behaviour);
    expect(await catchFailure(stage.fal.submit(describeCall()))).toMatchObject({ kind });
    expect(stage.media.calls).toHaveLength(1);
  });

  test("that is rate limited has a retry time", async () => {
    await using stage = await openMediaStage();
    const [soon, silent] = ["<<fault:retry-after=7>>", "<<fault:status=429>>"];
    expect(await catchFailure(stage.fal.submit(askFor(soon)))).toMatchObject({ retryAfterMs: 7000 });
    expect(await catchFailure(stage.fal.submit(askFor(silent)))).toMatchObject({ retryAfterMs: null });
  });

  test("that is temporarily refused is accepted later, each time once", async () => {
    await using stage = await openMediaStage();
    const call = askFor("<<fault:burst=2>>");
    await catchFailure(stage.fal.submit(call));
    await catchFailure(stage.fal.submit(call));
    await submit(stage.fal, call);
    expect(stage.media.submissionsOf(call.request.type === "image" ? call.request.prompt : "")).toHaveLength(3);
    expect(stage.media.jobs).toHaveLength(1);
  });

  test("to an unreachable server has definitely failed", async () => {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const { port } = server.address() as { port: number };
    await new Promise((closed) => server.close(closed));
    await using stage = await openMediaStage({ baseUrl: `http://127.0.0.1:${port}` });
    expect(await catchFailure(stage.fal.submit(describeCall()))).toMatchObject({ kind: "unreachable" });
  });

  test("beyond the connection limit has definitely failed", async () => {
    await using stage = await openMediaStage({ connectionsMax: 1 });
    const gate = stage.fake.gate();
    stage.media.script({ beforeHead: gate });
    const first = submit(stage.fal, askFor("first"));
    await gate.reached();
    expect(await catchFailure(stage.fal.submit(askFor("second")))).toMatchObject({ kind: "overloaded" });
    gate.open();
    await first;
    await submit(stage.fal, askFor("third"));
    expect(stage.media.submissionsOf("second")).toHaveLength(0);
  });

  test("that is aborted ends, and its connection is closed", async () => {
    await using stage = await openMediaStage();
    const gate = stage.fake.gate();
    stage.media.script({ beforeHead: gate });
    const stop = new AbortController();
    const attempt = stage.fal.submit(describeCall({ signal: stop.signal }));
    await gate.reached();
    stop.abort(new Error("The worker stops."));
    await expect(attempt).rejects.toThrow("The worker stops.");
    await stage.media.aborted(1);
  });

  test("never uses a kept-alive connection", async () => {
    await using stage = await openMediaStage();
    await submit(stage.fal, askFor("one"));
    await submit(stage.fal, askFor("two"));
    expect(stage.fake.connectionCount()).toBe(2);
  });

  test("is ended when the provider is closed", async () => {
    await using stage = await openMediaStage();
    const gate = stage.fake.gate();
    stage.media.script({ beforeHead: gate });
    const attempt = stage.fal.submit(describeCall());
    await gate.reached();
    await stage.fal.close();
    expect(await attempt).toMatchObject({ kind: "ambiguous", error: { kind: "unreachable" } });
  });
});

describe("a job in fal's queue", () => {
  test("goes on while its status is unknown", async () => {
    await using stage = await openMediaStage();
    const call = askFor("<<fault:word=PAUSED>>");
    const handle = await submit(stage.fal, call);
    expect(await stage.fal.poll(handle, call)).toMatchObject({ kind: "running", isStarted: true });
    expect(stage.media.jobs[0]?.resultCount).toBe(0);
    expect(await stage.fal.poll(handle, call)).toMatchObject({ kind: "done" });
  });

  test("starts and ends at the vendor's times", async () => {
    await using stage = await openMediaStage();
    const [start, finish] = [stage.fake.gate(), stage.fake.gate()];
    stage.media.script({ beforeStart: start, beforeFinish: finish });
    const call = describeCall();
    const handle = await submit(stage.fal, call);
    expect(await stage.fal.poll(handle, call)).toMatchObject({ isStarted: false });
    start.open();
    await finish.reached();
    expect(await stage.fal.poll(handle, call)).toMatchObject({ kind: "running", isStarted: true });
  });

  test("goes on while its result is still in progress", async () => {
    await using stage = await openMediaStage();
    stage.media.script({ lateResults: 1 });
    const call = describeCall();
    const handle = await submit(stage.fal, call);
    expect(await stage.fal.poll(handle, call)).toMatchObject({ kind: "running", isStarted: true });
    expect(await stage.fal.poll(handle, call)).toMatchObject({ kind: "done" });
  });

  test("is lost when the vendor does not know it", async () => {
    await using stage = await openMediaStage();
    const call = askFor("<<fault:work=5>><<fault:vanish=1>>");
    const handle = await submit(stage.fal, call);
    expect(await stage.fal.poll(handle, call)).toMatchObject({ kind: "running" });
    expect(await stage.fal.poll(handle, call)).toEqual({ kind: "lost" });
    stage.media.script({ result: { status: 404, body: { detail: "Not found" } } });
    const other = await submit(stage.fal, call);
    expect(await stage.fal.poll(other, call)).toEqual({ kind: "lost" });
  });

  test.for([
    [500, { detail: "Internal Server Error" }, {}, "overloaded", null],
    [503, {}, { "x-fal-error-type": "runner_disconnected" }, "overloaded", null],
    [504, { detail: "x" }, { "x-fal-request-timeout-type": "user" }, "timeout", null],
    [422, { detail: [{ loc: ["body", "image_size"], msg: "too large", type: "value_error" }] }, {}, "rejected", "size"],
    [422, { detail: [{ loc: ["body", "prompt"], type: "content_policy_violation" }] }, {}, "content-refused", null],
    [422, { detail: [{ loc: ["body"], type: "no_media_generated" }] }, {}, "bad-answer", null],
    [
      422,
      { detail: [{ type: "no_media_generated" }, { type: "content_policy_violation" }] },
      {},
      "content-refused",
      null,
    ],
    [422, { detail: [{ loc: ["body", "image_url"], type: "file_download_error" }] }, {}, "unreachable", null],
    [400, { detail: "The picture shows nobody." }, {}, "rejected", null],
  ] as const)("has failed when it is completed with an error: %i %j", async ([status, body, headers, kind, param]) => {
    await using stage = await openMediaStage();
    stage.media.script({ result: { status, body, headers } });
    const call = describeCall();
    const handle = await submit(stage.fal, call);
    expect(await stage.fal.poll(handle, call)).toMatchObject({ kind: "failed", error: { kind, param } });
  });

  test.for([
    [401, { detail: "Invalid key" }],
    [403, { detail: "Forbidden" }],
    [429, { detail: "Too many requests" }],
    [502, "<html>"],
    [504, "<html>"],
    [200, "<html>"],
  ] as const)("has not failed if only its result could not be read: %i", async ([status, body]) => {
    await using stage = await openMediaStage();
    stage.media.script({ result: { status, body } });
    const call = describeCall();
    const handle = await submit(stage.fal, call);
    await catchFailure(stage.fal.poll(handle, call));
  });

  test("has failed if its result is empty, or all of it was withheld", async () => {
    await using stage = await openMediaStage();
    stage.media.script({ result: { status: 200, body: { seed: 1 } } }, { withheldCount: 2 }, { withheldCount: 1 });
    const call = describeCall();
    const kinds = ["bad-answer", "content-refused"];
    for (const kind of kinds) {
      const handle = await submit(stage.fal, call);
      expect(await stage.fal.poll(handle, call)).toMatchObject({ kind: "failed", error: { kind } });
    }
    expect(getOutputs(await stage.fal.poll(await submit(stage.fal, call), call))).toHaveLength(1);
  });

  test("delivers no more than requested", async () => {
    await using stage = await openMediaStage();
    stage.media.script({ extraCount: 3 });
    const call = describeCall();
    expect(getOutputs(await stage.fal.poll(await submit(stage.fal, call), call))).toHaveLength(2);
  });

  test("is not polled elsewhere, whatever URLs the vendor returns, and the key stays", async () => {
    await using other = await startRecordingServer((_, response) => void response.end("{}"));
    await using stage = await openMediaStage();
    stage.media.script({ urlsOn: other.url });
    const call = describeCall();
    const handle = await submit(stage.fal, call);
    expect(await stage.fal.poll(handle, call)).toMatchObject({ kind: "done" });
    expect(other.requests).toEqual([]);
  });

  test("of another provider is not polled", async () => {
    await using stage = await openMediaStage();
    expect(await catchFailure(stage.fal.poll({ id: "x" }, describeCall()))).toMatchObject({ kind: "bad-answer" });
    expect(stage.media.calls).toEqual([]);
  });

  test("can be polled repeatedly on few connections", async () => {
    await using stage = await openMediaStage();
    const call = askFor("<<fault:work=20>>");
    const handle = await submit(stage.fal, call);
    for (let round = 0; round < 10; round += 1) await stage.fal.poll(handle, call);
    // One for the submission; of the others, one may not be free again before the next poll.
    expect(stage.fake.connectionCount()).toBeLessThanOrEqual(3);
  });
});

describe("a cancel of fal's job", () => {
  test.for([
    [{ work: 5 }, "requested"],
    [{ work: 5, cancel: "gone" }, "canceled"],
    [{ work: 5, cancel: "unknown" }, "requested"],
    [{ cancel: "completed" }, "too-late"],
    [
      { result: { status: 499, body: {}, headers: { "x-fal-error-type": "client_cancelled" } }, cancel: "requested" },
      "canceled",
    ],
  ] as const)("depends on the job's state: %j", async ([behaviour, outcome]) => {
    await using stage = await openMediaStage();
    stage.media.script(behaviour);
    const call = describeCall();
    const handle = await submit(stage.fal, call);
    expect(await stage.fal.cancel(handle, call)).toBe(outcome);
    expect(stage.media.calls.filter(({ method }) => method === "PUT")).toHaveLength(1);
    expect(stage.media.jobs[0]?.cancelCount).toBe(1);
  });

  test("ends the job as canceled when the vendor confirms it", async () => {
    await using stage = await openMediaStage();
    stage.media.script({ result: { status: 499, body: { detail: "canceled" } } });
    const call = describeCall();
    expect(await stage.fal.poll(await submit(stage.fal, call), call)).toEqual({ kind: "canceled", outputs: [] });
  });
});

describe("an output", () => {
  test.for([
    ["forbidden", "bad-answer"],
    ["huge", "bad-answer"],
    ["compressed", "bad-answer"],
    ["cut", "unreachable"],
    [{ redirectTo: "http://169.254.169.254/latest/meta-data" }, "bad-answer"],
    [{ redirectTo: "https://10.0.0.1/x" }, "bad-answer"],
    [{ redirectTo: "http://example.com/x" }, "bad-answer"],
    [{ redirectTo: "file:///etc/passwd" }, "bad-answer"],
  ] as const)(
    "fails when the vendor's file is %j, without affecting the upstream's circuit",
    async ([output, kind]) => {
      await using stage = await openMediaStage();
      stage.media.script({ output });
      const call = describeCall();
      const [made] = getOutputs(await stage.fal.poll(await submit(stage.fal, call), call));
      expect(await catchFailure(readOutput(made))).toMatchObject({ kind, isIsolated: true });
    },
  );

  test("is downloaded through redirects, with the key on the vendor's own origin only", async () => {
    await using stage = await openMediaStage();
    await using other = await startRecordingServer((_, response) => void response.end("bytes"));
    stage.media.script({ output: { redirectTo: `${other.url}/made.png` } });
    const call = describeCall();
    const [made] = getOutputs(await stage.fal.poll(await submit(stage.fal, call), call));
    expect(String(await readOutput(made))).toBe("bytes");
    expect(other.requests.map(({ path }) => path)).toEqual(["/made.png"]);
    expect(other.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(other.requests[0]?.headers).not.toHaveProperty("x-team");
    expect(stage.media.calls.at(-1)?.headers).toMatchObject({ authorization: "Key sk-1" });
  });

  test("is downloaded only as far as it is read, and the connection ends with the reader", async () => {
    await using stage = await openMediaStage();
    stage.media.script({ output: "silent" });
    const call = describeCall();
    const [made] = getOutputs(await stage.fal.poll(await submit(stage.fal, call), call));
    const signal = new AbortController().signal;
    const unread = await made?.open(signal);
    unread?.destroy();
    await stage.media.aborted(1);
    const stop = new AbortController();
    const reading = made === undefined ? null : readOutput(made, stop.signal);
    await stage.media.received(5);
    stop.abort(new Error("Nobody wants it."));
    await expect(reading).rejects.toThrow("Nobody wants it.");
    await stage.media.aborted(2);
  });

  test("can be opened again", async () => {
    await using stage = await openMediaStage();
    const call = describeCall();
    const [made] = getOutputs(await stage.fal.poll(await submit(stage.fal, call), call));
    expect((await readOutput(made)).equals(await readOutput(made))).toBe(true);
  });
});

test("a customer's error contains nothing of the vendor's", async () => {
  await using stage = await openMediaStage();
  for (const prompt of ["<<fault:policy>>", "<<fault:fail>>"]) {
    const call = askFor(prompt);
    const outcome = await stage.fal.poll(await submit(stage.fal, call), call);
    if (outcome.kind !== "failed") throw new Error("It did not fail.");
    expect(findCanary(explainFailure(outcome.error))).toBeNull();
    expect(outcome.error.param === null || outcome.error.param === "prompt").toBe(true);
  }
  stage.media.script({ status: 422, error: { param: "canaryvendor_field" } });
  expect(findCanary(explainFailure(await catchFailure(stage.fal.submit(describeCall()))))).toBeNull();
});

test("fal refuses speech before anything is sent", async () => {
  await using stage = await openMediaStage();
  const request = { type: "speech", text: "Hi", voice: "alloy", format: "mp3", speed: 1 } as const;
  expect(stage.fal.findObstacle(request, { inputs: [], route: {} })).toMatchObject({ param: "model" });
  expect(stage.fal.findObstacle(picture, { inputs: [], route: {} })).toBeNull();
  expect(await catchFailure(stage.fal.submit(describeCall({ request })))).toMatchObject({ kind: "rejected" });
  expect(stage.media.calls).toEqual([]);
});
