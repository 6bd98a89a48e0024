import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { environmentSecrets } from "../../../src/platform/config/secrets.ts";
import { ProviderError } from "../../../src/providers/contract.ts";
import { examineUpstream } from "../../../src/providers/examine-upstream.ts";
import type {
  GenerationCall,
  GenerationProvider,
  PollOutcome,
  SubmitOutcome,
} from "../../../src/providers/generation.ts";
import type { QueueKind } from "../../../src/providers/provider-definition.ts";
import { createProviderRegistry } from "../../../src/providers/provider-registry.ts";
import { createBedrockGeneration } from "../../../src/providers/queues/bedrock-media.ts";
import { createQueueGeneration } from "../../../src/providers/queues/create-queue-generation.ts";
import type { MediaVendor } from "../../../src/providers/queues/queue-vendor.ts";
import { queueVendors } from "../../../src/providers/queues/queue-vendors.ts";
import { createInput, describeCall } from "../../harness/media/media-stage.ts";
import { type ScriptedVendor, startScriptedVendor } from "../../harness/upstreams/scripted-vendor.ts";
import { findComplaint } from "../../harness/upstreams/vendor-fake.ts";
import { bedrockMediaWire } from "../../harness/upstreams/wires/bedrock-media-wire.ts";
import { film, type QueueWire, type SubmissionWire, type WireReply } from "../../harness/upstreams/wires/queue-wire.ts";
import { queueWires } from "../../harness/upstreams/wires/queue-wires.ts";

let storage: ScriptedVendor;
beforeAll(async () => {
  storage = await startScriptedVendor();
});
afterAll(() => storage[Symbol.asyncDispose]());

async function catchFailure(attempt: Promise<unknown>): Promise<ProviderError> {
  const failure = await attempt.then(
    () => null,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(ProviderError);
  return failure as ProviderError;
}

/** The content of the first output. */
async function readFirst(outcome: SubmitOutcome | PollOutcome): Promise<string> {
  if (outcome.kind !== "done" || outcome.outputs[0] === undefined) throw new Error("It has no output.");
  return String(await buffer(await outcome.outputs[0].open(new AbortController().signal)));
}

/** Words for states that no vendor has. */
const oddWords = /resuming|PAUSED|postprocessing|[Rr]eviewing|WAITING|Upscaling|napping|rendering/g;

test("an aspect ratio that a resolution does not have is refused before anything is sent", async () => {
  await using vendor = await startScriptedVendor();
  const options = { headers: {}, connectionsMax: 1, clock: systemClock, baseUrl: vendor.origin };
  const provider = createQueueGeneration(queueVendors.dashscope, options);
  const request = { ...film, aspectRatio: "4:3", options: { resolution: "480p" } };
  const failure = await catchFailure(provider.submit(describeCall({ request })));
  expect(failure).toMatchObject({ kind: "rejected", param: "aspect_ratio" });
  expect(vendor.requests).toEqual([]);
  await provider.close();
});

type Kind = QueueKind | "bedrock-media";
const kinds: readonly Kind[] = [...(Object.keys(queueVendors) as QueueKind[]), "bedrock-media"];
const isQueue = (kind: Kind): kind is QueueKind => kind in queueVendors;

function connect(kind: Kind, baseUrl: string): GenerationProvider {
  const options = { headers: {}, connectionsMax: 10, clock: systemClock, baseUrl };
  return isQueue(kind)
    ? createQueueGeneration(queueVendors[kind], options)
    : createBedrockGeneration({ ...options, account: { region: "us-east-1", role: null } });
}

/** The same promises for every vendor. */
describe.each(kinds)("%s", (kind) => {
  const wire: SubmissionWire = isQueue(kind) ? queueWires[kind] : bedrockMediaWire;
  const jobs: QueueWire | null = isQueue(kind) ? queueWires[kind] : null;
  const handle = { id: jobs?.id ?? "job-1" };
  let vendor: ScriptedVendor;
  let provider: GenerationProvider;

  beforeAll(async () => {
    vendor = await startScriptedVendor();
    provider = connect(kind, `${vendor.origin}${wire.base}`);
  });
  afterAll(async () => {
    expect(vendor.left()).toBe(0);
    await provider.close();
    await vendor[Symbol.asyncDispose]();
  });

  function ask(example: (typeof wire.examples)[number], more: Partial<GenerationCall> = {}) {
    const { request, inputs = [], model = wire.model, route = {} } = example;
    const given = inputs.map((input) => createInput(typeof input === "string" ? { role: input } : input));
    return describeCall({ request, inputs: given, upstreamModel: model, route, ...more });
  }
  const place = (body: unknown): unknown =>
    JSON.parse(
      JSON.stringify(body)
        .replaceAll("{url}", `${storage.origin}/made.bin`)
        .replaceAll("{bytes}", Buffer.from("made").toString("base64")),
    );
  const call = (more: Partial<GenerationCall> = {}): GenerationCall => ask(wire.examples[0], more);
  const json = (body: unknown, status = 200) => ({ status, body });
  const refusal = ([status, body, headers = {}]: WireReply) => ({ status, body, headers });
  const accept = (example: (typeof wire.examples)[number]) => json(place(example.reply?.done ?? jobs?.accepted));

  test.each(wire.examples)("sends $request.type to $path as its documentation says", async (example) => {
    const asked = ask(example);
    expect(provider.findObstacle(asked.request, asked)).toBeNull();
    vendor.script(accept(example));
    const outcome = await provider.submit(asked);
    if (example.reply === undefined) expect(outcome).toEqual({ kind: "accepted", handle });
    else expect(await readFirst(outcome)).toBe("made");
    expect(vendor.requests.at(-1)).toMatchObject({
      ...{ method: "POST", path: example.path },
      headers: { ...wire.headers, "content-type": "application/json" },
    });
    expect(vendor.requests.at(-1)?.body).toEqual(example.body);
    expect(findComplaint(wire.accepts[example.path], example.body)).toBeNull();
  });

  const replies = wire.examples.flatMap(({ reply, ...example }) => (reply === undefined ? [] : [{ example, reply }]));
  if (replies.length > 0) {
    test.each(replies)("a reply to $example.path without its output is a refusal or a failure", async (given) => {
      const { example, reply } = given;
      vendor.script(json(reply.refused), json({}));
      expect((await catchFailure(provider.submit(ask(example)))).kind).toBe("content-refused");
      expect((await catchFailure(provider.submit(ask(example)))).kind).toBe("bad-answer");
    });

    test.each(replies)(
      "a reply to $example.path without a JSON object leaves open whether it was made",
      async ({ example }) => {
        vendor.script({ status: 200, body: "<html>" });
        expect((await provider.submit(ask(example))).kind).toBe("ambiguous");
      },
    );
  }

  const { hook }: Pick<MediaVendor, "hook"> = isQueue(kind) ? queueVendors[kind] : {};
  test("gets the address for callbacks in a field of its documentation, if it has one", async () => {
    const address = { url: "https://sluice.example.com/hooks/task_1.mac", secret: "ours" };
    const example = wire.examples.find(({ reply }) => reply === undefined) ?? wire.examples[0];
    vendor.script(accept(example), accept(example));
    await provider.submit(ask(example, { callback: address }));
    const body = vendor.requests.at(-1)?.body;
    expect(findComplaint(wire.accepts[example.path], body)).toBeNull();
    expect(JSON.stringify(body).includes(address.url)).toBe(hook !== undefined);
    expect(JSON.stringify(body).includes(`"ours"`)).toBe(hook?.secretField !== undefined);
    await provider.submit(ask(example, { callback: null }));
    expect(vendor.requests.at(-1)?.body).toEqual(example.body);
  });

  test.each([
    ["key", "key-refused"],
    ["credit", "out-of-credit"],
    ["rate", "rate-limited"],
    ["invalid", "rejected"],
    ["content", "content-refused"],
  ] as const)("a submission that is refused for %s is certain: %s", async (name, kind) => {
    vendor.script(refusal(wire.refusals[name]));
    expect((await catchFailure(provider.submit(call()))).kind).toBe(kind);
  });

  test("a model that the vendor does not have is our fault, not the request's", async () => {
    const usual = [404, { error: { code: "model_not_found", message: "No such model" } }] as const;
    vendor.script(refusal(wire.refusals.model ?? usual));
    expect((await catchFailure(provider.submit(call()))).kind).toBe("model-unavailable");
  });

  test("an input without a URL is sent inside the request, or refused where the vendor fetches it", async () => {
    const example = wire.examples.find(({ body }) => JSON.stringify(body).includes("https://"));
    if (example === undefined) return;
    const inputs = ask(example).inputs.map((input) => ({ ...input, url: null }));
    const before = vendor.requests.length;
    expect(await catchFailure(provider.submit(ask(example, { inputs })))).toMatchObject({
      ...{ kind: "misconfigured", isIsolated: true },
    });
    expect(vendor.requests.length).toBe(before);
  });

  test("a submission whose reply is lost, or says nothing, is ambiguous", async () => {
    // Without jobs, a reply without outputs is certain: none will come.
    const unsaid = wire.examples[0].reply === undefined ? [json({ odd: true })] : [];
    for (const reply of ["reset" as const, ...unsaid, json(undefined, 502)]) {
      vendor.script(reply);
      expect((await provider.submit(call())).kind).toBe("ambiguous");
    }
    const before = vendor.requests.length;
    vendor.script(json({ message: "busy" }, 503));
    expect((await catchFailure(provider.submit(call()))).kind).toBe("overloaded");
    expect(vendor.requests.length).toBe(before + 1);
  });

  test("a field that the vendor does not have is refused before anything is sent", async () => {
    const request = {
      ...wire.examples[0].request,
      options: { style: "odd", instructions: "x" },
    } as GenerationCall["request"];
    const before = vendor.requests.length;
    expect(provider.findObstacle(request, { inputs: [], route: {} })).toMatchObject({ message: expect.any(String) });
    expect((await catchFailure(provider.submit(call({ request })))).kind).toBe("rejected");
    expect(vendor.requests.length).toBe(before);
  });

  test("nothing of the vendor is in what callers can see", async () => {
    vendor.script(refusal(wire.refusals.invalid));
    const { message, param } = await catchFailure(provider.submit(call()));
    expect(`${message} ${param}`.toLowerCase()).not.toContain(kind.split("-")[0]);
  });

  test("upstream test finds a refused key, whatever its status, and an accepted one", async () => {
    const examine = async (...replies: readonly WireReply[]) => {
      const key = "${UPSTREAM_KEY}";
      const secrets = { ...environmentSecrets, find: () => "sk-1", use: () => "sk-1" };
      const registry = createProviderRegistry({ clock: systemClock, studioFolder: "/nowhere", secrets });
      vendor.script(...replies.map(refusal));
      const base_url = `${vendor.origin}${wire.base}`;
      const findings = await examineUpstream({
        ...{
          provider: { id: "p", kind, base_url, api_keys: [key], region: "us-east-1" },
          model: null,
          registry,
          secrets,
        },
        ...{ packagesFolder: null, clock: systemClock, timeoutMs: 10_000 },
      });
      await registry.close();
      const method = jobs === null ? "POST" : "GET";
      expect(vendor.requests.at(-replies.length)).toMatchObject({ method, headers: wire.headers });
      if (jobs?.keyPath !== undefined) expect(vendor.requests.at(-replies.length)?.path).toBe(jobs.keyPath);
      return findings.at(-1);
    };
    expect(await examine(wire.refusals.key)).toMatchObject({ check: "key", isOk: false });
    // A list proves the key if it is closed to others.
    const list: WireReply[] = [[200, { models: [] }], wire.refusals.key];
    const unknown: WireReply =
      jobs === null ? wire.refusals.invalid : (jobs.states.lost ?? [404, { detail: "Not found" }]);
    const good = jobs?.keyPath === undefined ? [unknown] : list;
    expect(await examine(...good)).toMatchObject({ check: "key", isOk: true });
  });

  if (jobs === null) {
    test("has no jobs to poll or to cancel", async () => {
      expect(provider.traits).toMatchObject({ keepsWork: false, cancels: "never" });
      expect(await provider.poll(handle, call())).toEqual({ kind: "lost" });
      expect(await provider.cancel(handle, call())).toBe("unsupported");
    });
    return;
  }

  const question = jobs.pollBody === undefined ? "GET" : "POST";
  async function poll(body: unknown, status = 200) {
    vendor.script({ status, body });
    return await provider.poll(handle, call());
  }

  test("a job is queued, runs and ends, with its progress; an unknown word means that it runs", async () => {
    const isStarted = jobs.isQueueHidden === true;
    expect(await poll(jobs.states.queued)).toMatchObject({ kind: "running", isStarted });
    expect(vendor.requests.at(-1)).toMatchObject({ method: question, path: jobs.pollPath, headers: jobs.headers });
    expect(vendor.requests.at(-1)?.body).toEqual(jobs.pollBody ?? null);
    expect(await poll(jobs.states.running)).toMatchObject({
      ...{ kind: "running", isStarted: true, progress: jobs.progress ?? null },
    });
    expect(await poll(jobs.states.odd)).toMatchObject({ kind: "running", isStarted: true });
    if (jobs.states.canceled !== undefined) {
      expect(await poll(jobs.states.canceled)).toEqual({ kind: "canceled", outputs: [] });
    }
  });

  test("the output is downloaded without the key, which belongs to the vendor's own host only", async () => {
    const outcome = await poll(place(jobs.states.done));
    expect(outcome.kind).toBe("done");
    if (jobs.file !== undefined) vendor.script(json(place(jobs.file.reply)));
    const isInside = JSON.stringify(jobs.states.done).includes("{bytes}");
    if (!isInside) storage.script(Buffer.from("made"));
    expect(await readFirst(outcome)).toBe("made");
    if (isInside) return;
    if (jobs.file !== undefined) expect(vendor.requests.at(-1)).toMatchObject({ method: "GET", path: jobs.file.path });
    expect(JSON.stringify(storage.requests.at(-1)?.headers)).not.toContain("sk-1");
  });

  test("a result without outputs is a failure, and a failed job has its reason", async () => {
    expect(
      await poll(JSON.parse(JSON.stringify(jobs.states.done).replace(/"\{url\}"|"\{bytes\}"|"7"/, "null"))),
    ).toMatchObject({
      ...{ kind: "failed", error: { kind: "bad-answer" } },
    });
    const failed = await poll(jobs.states.failed);
    expect(failed.kind === "failed" && failed.error.kind).toMatch(/^(overloaded|bad-answer|timeout)$/);
    expect(await poll(jobs.states.refused)).toMatchObject({ kind: "failed", error: { kind: "content-refused" } });
  });

  test("a word or an id that would reach into the gateway is only a word, or no id", async () => {
    const odd = JSON.stringify(jobs.states.odd).replaceAll(oddWords, "constructor");
    expect(odd).toContain("constructor");
    expect(await poll(JSON.parse(odd))).toMatchObject({ kind: "running", isStarted: true });
    vendor.script(json(JSON.parse(JSON.stringify(jobs.accepted).replaceAll("job-1", "../account"))));
    expect((await provider.submit(call())).kind).toBe("ambiguous");
  });

  test("an unknown job is lost", async () => {
    const [status, body] = jobs.states.lost ?? [404, { detail: "Not found" }];
    expect(await poll(body, status)).toEqual({ kind: "lost" });
  });

  test.each([
    ["429", jobs.refusals.rate],
    ["a server's fault", [500, { message: "oops" }]],
    ["a proxy's page", [502, undefined]],
    ["our key", jobs.refusals.key],
  ] as const)("a poll that fails with %s says nothing about the job", async (_, [status, body]) => {
    vendor.script({ status, body });
    await catchFailure(provider.poll(handle, call()));
    vendor.script("reset");
    expect((await catchFailure(provider.poll(handle, call()))).kind).toBe("unreachable");
    expect(await poll(jobs.states.running)).toMatchObject({ kind: "running" });
  });

  test("a job can be canceled where the vendor can", async () => {
    if (jobs.cancel === undefined) {
      expect(provider.traits.cancels).toBe("never");
      expect(await provider.cancel(handle, call())).toBe("unsupported");
      return;
    }
    const [status, body] = jobs.cancel.reply;
    const gone = jobs.states.canceled === undefined ? json({}, 404) : json(jobs.states.canceled);
    vendor.script({ status, body }, gone);
    expect(await provider.cancel(handle, call())).toBe("canceled");
    expect(vendor.requests.at(-2)).toMatchObject({ method: jobs.cancel.method, path: jobs.cancel.path });
    // Too late, or not known yet.
    vendor.script(json({ message: "too late" }, 409));
    expect(await provider.cancel(handle, call())).toBe("requested");
  });
});
