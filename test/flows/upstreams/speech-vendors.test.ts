import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { ProviderError } from "../../../src/providers/contract.ts";
import type { SpeechCall, SpeechRequest } from "../../../src/providers/generation.ts";
import type { VoiceKind } from "../../../src/providers/provider-definition.ts";
import { createVendorSpeech } from "../../../src/providers/voices/create-vendor-speech.ts";
import { speechVendors } from "../../../src/providers/voices/speech-vendors.ts";
import { describeCall } from "../../harness/media/media-stage.ts";
import { type ScriptedVendor, startScriptedVendor } from "../../harness/upstreams/scripted-vendor.ts";
import { findComplaint } from "../../harness/upstreams/vendor-fake.ts";
import { speechWires } from "../../harness/upstreams/wires/speech-wires.ts";

const audio = Buffer.from("ID3 spoken");
const route = { voices: { alloy: "Rachel" } };

async function catchFailure(attempt: Promise<unknown>): Promise<ProviderError> {
  const failure = await attempt.then(
    () => null,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(ProviderError);
  return failure as ProviderError;
}

describe.each(Object.keys(speechVendors) as VoiceKind[])("%s", (kind) => {
  const wire = speechWires[kind];
  const [{ request }] = wire.examples;
  let vendor: ScriptedVendor;
  let maker: ReturnType<typeof createVendorSpeech>;

  beforeAll(async () => {
    vendor = await startScriptedVendor();
    const options = { headers: {}, connectionsMax: 10, clock: systemClock, baseUrl: `${vendor.origin}${wire.base}` };
    maker = createVendorSpeech(speechVendors[kind], options);
  });
  afterAll(async () => {
    expect(vendor.left()).toBe(0);
    await maker.speech.close();
    await vendor[Symbol.asyncDispose]();
  });

  const reply = wire.encode === undefined ? audio : { status: 200, body: wire.encode(audio) };
  const ask = (spoken: SpeechRequest = request): SpeechCall & { inputs: [] } => {
    const { inputs: _, ...call } = describeCall({ upstreamModel: wire.model, route });
    return { ...call, request: spoken, inputs: [] };
  };

  test.each(wire.examples)("sends to $path as its documentation says, and streams the audio", async (example) => {
    vendor.script(reply);
    expect(maker.speech.findObstacle(example.request, route)).toBeNull();
    const { chunks } = await maker.speech.startSpeech(ask(example.request));
    expect(await buffer(chunks)).toEqual(audio);
    expect(vendor.requests.at(-1)).toMatchObject({ method: "POST", path: example.path, headers: wire.headers });
    expect(vendor.requests.at(-1)?.body).toEqual(example.body);
    const [path = "", query = ""] = example.path.split("?");
    const accepted = wire.accepts[path];
    expect(accepted).toBeDefined();
    expect(findComplaint(accepted?.body, example.body)).toBeNull();
    expect(findComplaint(accepted?.query, Object.fromEntries(new URLSearchParams(query)))).toBeNull();
  });

  test("a task gets the whole audio, once", async () => {
    vendor.script(reply);
    const before = vendor.requests.length;
    const outcome = await maker.generation.submit(ask());
    if (outcome.kind !== "done" || outcome.outputs[0] === undefined) throw new Error("It has no output.");
    expect(await buffer(await outcome.outputs[0].open(new AbortController().signal))).toEqual(audio);
    expect(vendor.requests.length).toBe(before + 1);
  });

  test.each([
    ["key", "key-refused"],
    ["credit", "out-of-credit"],
    ["rate", "rate-limited"],
    ["invalid", "rejected"],
  ] as const)("a refusal for %s is %s, streamed and as a task", async (name, expected) => {
    const [status, body] = wire.refusals[name];
    vendor.script({ status, body }, { status, body });
    expect((await catchFailure(maker.speech.startSpeech(ask()))).kind).toBe(expected);
    expect((await catchFailure(maker.generation.submit(ask()))).kind).toBe(expected);
  });

  test("a fault is the vendor's, and nothing of the vendor is in what callers can see", async () => {
    const [status, body] = wire.refusals.invalid;
    for (const start of [maker.speech.startSpeech, maker.generation.submit]) {
      vendor.script({ status: 503, body: { message: "busy" } }, { status, body });
      expect((await catchFailure(start(ask()))).kind).toBe("overloaded");
      const { message, param } = await catchFailure(start(ask()));
      expect(`${message} ${param}`.toLowerCase()).not.toContain(kind.split("-")[0]);
    }
  });

  test("a task whose reply is lost is ambiguous; silence is no audio", async () => {
    vendor.script("reset");
    expect((await maker.generation.submit(ask())).kind).toBe("ambiguous");
    vendor.script(wire.encode === undefined ? Buffer.alloc(0) : { status: 200, body: wire.encode(Buffer.alloc(0)) });
    expect((await catchFailure(maker.speech.startSpeech(ask()))).kind).toBe("bad-answer");
  });

  test("a voice cannot lead to another operation of the vendor", async () => {
    const before = vendor.requests.length;
    const isInPath = wire.examples[0].path.includes("/Rachel/");
    for (const voice of ["..", "."]) {
      const obstacle = maker.speech.findObstacle({ ...request, voice }, {});
      expect(obstacle?.param ?? null).toBe(isInPath ? "voice" : null);
      if (!isInPath) continue;
      expect(maker.generation.findObstacle({ ...request, voice }, { inputs: [], route: {} })).toEqual(obstacle);
      const asked = { ...ask({ ...request, voice }), route: {} };
      expect(await catchFailure(maker.speech.startSpeech(asked))).toMatchObject({ kind: "rejected", param: "voice" });
    }
    expect(vendor.requests.length).toBe(before);
  });

  test("an unknown voice, a missing format and other media are refused before anything is sent", async () => {
    const before = vendor.requests.length;
    expect(maker.speech.findObstacle({ ...request, voice: "nobody" }, route)).toMatchObject({ param: "voice" });
    const lacking = (["mp3", "opus", "aac", "flac", "wav", "pcm"] as const).filter(
      (format) => maker.speech.findObstacle({ ...request, format }, route) !== null,
    );
    expect(lacking).not.toContain(request.format);
    expect(lacking.length).toBeGreaterThan(0);
    const film = { type: "video", prompt: "x", durationSeconds: 5, aspectRatio: "16:9" } as const;
    expect(maker.generation.findObstacle(film, { inputs: [], route })).toMatchObject({ param: "model" });
    expect(vendor.requests.length).toBe(before);
  });
});
