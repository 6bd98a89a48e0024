import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import type { ChatCall, ChatProvider, ChatRun } from "../../../src/providers/contract.ts";
import { ProviderError } from "../../../src/providers/contract.ts";
import type { GenerationRequest } from "../../../src/providers/generation.ts";
import { type ProviderDefinition, providerKinds, servedByKind } from "../../../src/providers/provider-definition.ts";
import { createProviderRegistry } from "../../../src/providers/provider-registry.ts";
import { repositoryDir } from "../../harness/repository-files.ts";
import { type FakeUpstreams, startFakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";

const runProgram = promisify(execFile);

let upstream: FakeUpstreams;
beforeAll(async () => {
  upstream = await startFakeUpstreams();
});
afterAll(() => upstream[Symbol.asyncDispose]());

function openRegistry() {
  const registry = createProviderRegistry({ clock: systemClock, studioFolder: "/nowhere" });
  return { ...registry, [Symbol.asyncDispose]: () => registry.close() };
}

function define(fields: Partial<ProviderDefinition> = {}): ProviderDefinition {
  return { id: "main", kind: "openai-compatible", base_url: upstream.openAiUrl, ...fields };
}

const call: ChatCall = {
  request: { model: "talk", messages: [{ role: "user", content: "Hello" }] },
  ...{ upstreamModel: "talk-1", apiKey: "sk-1", outputTokensMax: 50 },
  timeouts: { connectMs: 10_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 10_000 },
};

/** The answer's choices, or the error. */
function run(chat: ChatProvider, onStart: (run: ChatRun) => void = () => {}): Promise<string | ProviderError> {
  const { promise, resolve } = Promise.withResolvers<string | ProviderError>();
  const started = chat.startChat(call, {
    ...{ onAccepted: () => {}, onPieces: () => {}, onEnd: () => resolve("") },
    onAnswer: ({ choices }) => resolve(choices),
    onError: resolve,
  });
  onStart(started);
  return promise;
}

test("a provider is created once per definition, and again when anything of it changes", async () => {
  await using registry = openRegistry();
  const first = registry.getChat(define());
  expect(registry.getChat(define())).toBe(first);
  expect(registry.getChat(define({ id: "other" }))).not.toBe(first);
  const changed = registry.getChat(define({ stream_usage: false }));
  expect(changed).not.toBe(first);
  expect(registry.getChat(define({ stream_usage: false }))).toBe(changed);
});

test("every kind of provider answers", async () => {
  await using registry = openRegistry();
  const definitions: ProviderDefinition[] = [
    define(),
    { id: "claude", kind: "anthropic", base_url: upstream.anthropicUrl },
    { id: "gemini", kind: "google", base_url: upstream.geminiUrl },
    { id: "package", kind: "ai-sdk", package: "@ai-sdk/openai-compatible", base_url: upstream.openAiUrl },
    { id: "toy", kind: "sandbox" },
  ];
  await registry.loadAdapters(definitions);
  for (const definition of definitions) {
    expect(await run(registry.getChat(definition)), definition.id).toContain('"finish_reason"');
  }
  expect(upstream.refusals()).toEqual([]);
});

test("each kind serves the types in its table, and no other", async () => {
  await using registry = openRegistry();
  const search = { inputs: [], route: {} };
  const samples: Record<string, GenerationRequest> = {
    image: { type: "image", prompt: "A barn", width: 64, height: 64, count: 1 },
    video: { type: "video", prompt: "A barn", durationSeconds: 1, aspectRatio: "1:1" },
    avatar: { type: "avatar", aspectRatio: "1:1" },
  };
  for (const kind of providerKinds) {
    const definition: ProviderDefinition = {
      ...{ id: kind, kind, base_url: upstream.openAiUrl },
      ...(kind === "ai-sdk" ? { package: "@ai-sdk/openai-compatible" } : {}),
      ...(kind === "bedrock" ? { region: "us-east-1" } : {}),
    };
    await registry.loadAdapters([definition]);
    const generation = registry.getGeneration(definition);
    const made = Object.entries(samples).filter(
      ([, request]) => generation !== null && generation.findObstacle(request, search)?.param !== "model",
    );
    const answer = await run(registry.getChat(definition));
    const hasNoChat = answer instanceof ProviderError && answer.message.includes("does not serve chat");
    const served = [
      ...(hasNoChat ? [] : ["chat"]),
      ...(registry.getEmbedding(definition) === null ? [] : ["embedding"]),
      ...(registry.getTranscription(definition) === null ? [] : ["transcription"]),
      ...made.map(([type]) => type),
      ...(registry.getSpeech(definition) === null ? [] : ["speech"]),
    ];
    expect(served, kind).toEqual(servedByKind[kind]);
  }
});

test("the sandbox is loaded only when a catalog names it", async () => {
  const program = `
    import { registerHooks } from "node:module";
    let count = 0;
    registerHooks({ load(url, context, next) { if (url.includes("/packages/")) count += 1; return next(url, context); } });
    const { createProviderRegistry } = await import(${JSON.stringify(join(repositoryDir, "src/providers/provider-registry.ts"))});
    await import(${JSON.stringify(join(repositoryDir, "src/app/start-gateway.ts"))});
    const clock = { now: () => new Date(), monotonicMs: () => 0 };
    const registry = createProviderRegistry({ clock, studioFolder: "/nowhere" });
    const counts = [];
    for (const kind of ["openai-compatible", "sandbox"]) {
      await registry.loadAdapters([{ id: "one", kind }]);
      counts.push(count);
    }
    await registry.close();
    console.log(JSON.stringify(counts));`;
  const { stdout } = await runProgram(process.execPath, ["--input-type=module", "--eval", program]);
  const [before = -1, after = -1] = JSON.parse(stdout);
  expect(before).toBe(0);
  expect(after).toBeGreaterThan(10);
});

test("a call on a replaced provider is finished by it", async () => {
  await using registry = openRegistry();
  const gate = upstream.gate();
  upstream.script({ beforeHead: gate, text: "from before" });
  const running = run(registry.getChat(define()));
  await gate.reached();
  expect(await run(registry.getChat(define({ connections_max: 5 })))).toContain("Hello");
  gate.open();
  expect(await running).toContain("from before");
});

test("headers take their secrets from the environment, and one without its secret is left out", async () => {
  vi.stubEnv("REGISTRY_TEST_SECRET", "s3cret");
  await using registry = openRegistry();
  const headers = { "x-team": "blue", "x-secret": "${REGISTRY_TEST_SECRET}", "x-missing": "${REGISTRY_TEST_NOTHING}" };
  const before = upstream.requests.length;
  await run(registry.getChat(define({ headers })));
  const received = upstream.requests[before]?.headers;
  expect(received).toMatchObject({ "x-team": "blue", "x-secret": "s3cret", authorization: "Bearer sk-1" });
  expect(received).not.toHaveProperty("x-missing");
});

test("an upstream has the options of its definition", async () => {
  await using registry = openRegistry();
  const before = upstream.requests.length;
  const habits = { auth_header: "api-key", output_cap_field: "max_tokens", unsupported_fields: ["seed"] } as const;
  const chat = registry.getChat(define({ ...habits, unsupported_fields: [...habits.unsupported_fields] }));
  await run(chat);
  const received = upstream.requests[before];
  expect(received?.headers).toMatchObject({ "api-key": "sk-1" });
  expect(received?.headers).not.toHaveProperty("authorization");
  expect(received?.json).toMatchObject({ max_tokens: 50 });
  expect(received?.json).not.toHaveProperty("max_completion_tokens");
  expect(chat.findObstacle({ ...call.request, seed: 1 })).toMatchObject({ param: "seed" });
});

test("a provider with a missing package fails its own calls only", async () => {
  await using registry = openRegistry();
  const broken = registry.getChat({ id: "broken", kind: "ai-sdk", package: "@ai-sdk/not-installed" });
  const error = await run(broken);
  expect(error).toBeInstanceOf(ProviderError);
  expect(error).toMatchObject({ kind: "misconfigured", message: expect.stringContaining("@ai-sdk/not-installed") });
  expect(broken.findObstacle(call.request)).toBeNull();
  expect(await run(registry.getChat(define()))).toContain("Hello");
});

test("a canceled call of an unusable provider emits nothing", async () => {
  await using registry = openRegistry();
  const broken = registry.getChat({ id: "broken", kind: "ai-sdk", package: "@ai-sdk/not-installed" });
  let heard: unknown = null;
  void run(broken, ({ cancel }) => cancel()).then((outcome) => {
    heard = outcome;
  });
  // The other call's error arrives later than the first one's would have.
  await run(broken);
  expect(heard).toBeNull();
});

test("closing ends the calls of every current and former provider", async () => {
  const registry = createProviderRegistry({ clock: systemClock, studioFolder: "/nowhere" });
  const gate = upstream.gate();
  upstream.script({ beforeHead: gate }, { beforeHead: gate });
  const abortedBefore = upstream.abortedCalls().length;
  void run(registry.getChat(define()));
  void run(registry.getChat(define({ connections_max: 5 })));
  await gate.reached(2);
  await registry.close();
  await upstream.aborted(abortedBefore + 2);
});
