import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { waitUntil } from "../wait-until.ts";
import { anthropicWire } from "./anthropic-wire.ts";
import { type Behaviour, type Vendor, vendors } from "./behaviour.ts";
import { canary } from "./canary.ts";
import { type ComposedAnswer, composeAnswer, composeRefusal } from "./compose-answer.ts";
import { type CloneName, clones, createCloneWire, findClonePath } from "./dialect-wires.ts";
import { createEmbeddingFakes, type EmbeddingFakes } from "./embedding-fakes.ts";
import type { FakeCall } from "./fake-call.ts";
import { readFaultWords } from "./fault-words.ts";
import { createGate, type Gate } from "./gate.ts";
import { geminiWire } from "./gemini-wire.ts";
import { createMediaFakes, type MediaFakes } from "./media-fakes.ts";
import { createOpenAiCompletionsWire } from "./openai-completions-wire.ts";
import { createOpenAiResponsesWire } from "./openai-responses-wire.ts";
import { createOpenAiWire } from "./openai-wire.ts";
import { type CallMatcher, createScriptBook, type ScriptBook } from "./script-book.ts";
import { sendAnswer } from "./send-answer.ts";
import type { CountPrompt } from "./vendor-caches.ts";
import { VendorRefusal } from "./vendor-refusal.ts";
import type { VendorRequest, VendorWire } from "./vendor-wire.ts";

export type { Behaviour, Vendor } from "./behaviour.ts";
export { canary, findCanary } from "./canary.ts";

type FakeUpstreamsOptions = {
  port?: number;
  /** The valid API keys; any by default. `none-needed` is like local servers. */
  keys?: readonly string[] | "any" | "none-needed";
  /** Fields beyond OpenAI's that the OpenAI fake accepts. */
  extraFields?: readonly string[];
  /** How prompt tokens are counted if no usage is scripted. */
  countPrompt?: CountPrompt;
};

export type FakeUpstreams = AsyncDisposable & {
  url: string;
  /** Base URLs, as the vendors' SDKs and our catalog take them. */
  openAiUrl: string;
  anthropicUrl: string;
  geminiUrl: string;
  falUrl: string;
  /** OpenAI-compatible vendors that are as strict as their documentation. */
  cloneUrl(name: CloneName): string;
  /** Images, videos and speech, under `falUrl` and `openAiUrl`. Everything else here is for chat only. */
  media: MediaFakes;
  /** Embeddings, under `openAiUrl` and `geminiUrl`. */
  embeddings: EmbeddingFakes;
  /** Every request that arrived completely, in order. */
  requests: readonly FakeCall[];
  /** The next calls get these, in this order. */
  script(...behaviours: readonly Behaviour[]): void;
  /** The next matching calls get these, in this order. */
  scriptFor: ScriptBook["scriptFor"];
  /** The default when nothing is scripted and the prompt has no fault words; the latest one counts. */
  always(behaviour: Behaviour): void;
  alwaysFor(matcher: CallMatcher, behaviour: Behaviour): void;
  /** How many scripted behaviours no call has taken yet. */
  scriptsLeft(): number;
  gate(): Gate;
  openCalls(): number;
  abortedCalls(): readonly FakeCall[];
  /** How many connections there have been so far. */
  connectionCount(): number;
  /** Why requests were refused as invalid; empty when all translations were correct. */
  refusals(): string[];
  /** Resolves when this many requests have arrived. */
  received(count: number): Promise<readonly FakeCall[]>;
  /** Resolves when the client has ended this many calls early. */
  aborted(count: number): Promise<readonly FakeCall[]>;
  /** Resolves when no call is running. */
  idle(): Promise<void>;
};

const bodyBytesMax = 256 * 1024 * 1024;

const balancePaths = /\/(credits|key|balance|user\/info|organization)$/;

/** Vendors with their real wire format on one loopback port, which validate requests and misbehave as scripted. */
export async function startFakeUpstreams(options: FakeUpstreamsOptions = {}): Promise<FakeUpstreams> {
  const openai = createOpenAiWire(options.extraFields ?? []);
  const wires = { openai, anthropic: anthropicWire, gemini: geminiWire };
  const others = {
    [`${openai.basePath}/responses`]: createOpenAiResponsesWire(openai, options.extraFields ?? []),
    [`${openai.basePath}/completions`]: createOpenAiCompletionsWire(openai),
    // Like some OpenAI-compatible vendors.
    [`${openai.basePath}/messages`]: { ...anthropicWire, basePath: openai.basePath },
    ...Object.fromEntries(
      (Object.keys(clones) as CloneName[]).flatMap((name) => {
        const wire = createCloneWire(openai, name);
        return ["/chat/completions", "/models"].map((path) => [wire.basePath + path, wire]);
      }),
    ),
  };
  const book = createScriptBook();
  const calls: FakeCall[] = [];
  let connectionCount = 0;

  const media = createMediaFakes({ getOrigin: () => url });
  const embeddings = createEmbeddingFakes();

  const server = createServer({ keepAliveTimeout: 60_000 }, async (incoming, response) => {
    // A job asks for balances at any moment of a test: these are no calls.
    if (incoming.method === "GET" && balancePaths.test(incoming.url ?? "")) return void response.writeHead(404).end();
    if (media.serving.takes(incoming.url ?? "")) return await media.serving.answer(incoming, response);
    if (embeddings.serving.takes(incoming.url ?? "")) return await embeddings.serving.answer(incoming, response);
    const received = await receive(incoming, wires, others);
    if (received === null) return;
    const call: FakeCall = { ...received.call, number: calls.length + 1 };
    calls.push(call);
    const signal = follow(call, response);
    const { answer, behaviour } = answerCall(call, { ...received, options, book, calls });
    try {
      await sendAnswer(answer, behaviour, {
        response,
        signal,
        onHead: () => {
          call.headAt = performance.now();
        },
        onWritten: (byteCount) => {
          call.bytesWritten += byteCount;
        },
        onCut: () => {
          call.outcome = "cut";
        },
      });
    } catch (error) {
      // The client disconnected, which `follow` records.
      if (!signal.aborted && response.socket?.destroyed === false) throw error;
    }
  });
  server.on("connection", () => {
    connectionCount += 1;
  });
  await new Promise<void>((listening) => server.listen(options.port ?? 0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const listAborted = () => calls.filter(({ outcome }) => outcome === "aborted");
  const countOpen = () => calls.filter(({ outcome }) => outcome === "open").length;
  return {
    url,
    openAiUrl: url + wires.openai.basePath,
    anthropicUrl: url + wires.anthropic.basePath,
    geminiUrl: url + wires.gemini.basePath,
    falUrl: url + media.serving.falPath,
    cloneUrl: (name) => url + findClonePath(name),
    media: media.fakes,
    embeddings: embeddings.fakes,
    requests: calls,
    script: (...behaviours) => book.scriptFor({}, ...behaviours),
    scriptFor: book.scriptFor,
    always: (behaviour) => book.alwaysFor({}, behaviour),
    alwaysFor: book.alwaysFor,
    scriptsLeft: book.leftCount,
    gate: createGate,
    openCalls: countOpen,
    abortedCalls: listAborted,
    connectionCount: () => connectionCount,
    refusals: () => calls.flatMap(({ refusal }) => refusal ?? []),
    received: (count) => waitUntil(`${count} requests at the upstream`, () => calls.length >= count && calls),
    aborted: (count) =>
      waitUntil(`${count} calls that were ended early`, () => listAborted().length >= count && listAborted()),
    async idle() {
      await waitUntil("no call under way at the upstream", () => countOpen() === 0);
    },
    async [Symbol.asyncDispose]() {
      media.serving.close();
      await close(server);
    },
  };
}

type Received = { call: Omit<FakeCall, "number">; wire: VendorWire | null; request: VendorRequest };

/** `null` if the sender disconnected midway. */
async function receive(
  incoming: IncomingMessage,
  wires: Record<Vendor, VendorWire>,
  others: Readonly<Record<string, VendorWire>>,
): Promise<Received | null> {
  const { method = "", url = "", headers } = incoming;
  const body = await readBody(incoming);
  if (body === null) return null;
  const [pathname = "", search = ""] = url.split("?", 2);
  const vendor = vendors.find((candidate) => pathname.startsWith(`${wires[candidate].basePath}/`)) ?? null;
  const wire = others[pathname] ?? (vendor === null ? null : wires[vendor]);
  const path = pathname.slice(wire?.basePath.length ?? 0);
  const request = { path, query: new URLSearchParams(search), headers, body: parseJson(body) };
  const call = {
    ...{ vendor, method, path: url, headers, body, json: request.body },
    model: wire?.findModel(request) ?? null,
    apiKey: wire?.findKey(request) ?? null,
    ...{ ask: null, refusal: null, receivedAt: performance.now(), headAt: null, endedAt: null, bytesWritten: 0 },
    outcome: "open" as const,
  };
  return { call, wire, request };
}

async function readBody(incoming: IncomingMessage): Promise<Buffer | null> {
  if (Number(incoming.headers["content-length"] ?? 0) > bodyBytesMax) incoming.destroy();
  try {
    return await buffer(incoming);
  } catch {
    // Tests cut requests on purpose; the sender sees it too.
    return null;
  }
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    // The vendor refuses it later, with its own message.
    return undefined;
  }
}

/** Records how the call ends. The signal fires when the client has disconnected. */
function follow(call: FakeCall, response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    call.endedAt = performance.now();
    if (call.outcome === "open") call.outcome = response.writableFinished ? "finished" : "aborted";
    gone.abort();
  });
  return gone.signal;
}

function answerCall(
  call: FakeCall,
  parts: Pick<Received, "wire" | "request"> & {
    options: FakeUpstreamsOptions;
    book: ScriptBook;
    calls: readonly FakeCall[];
  },
): { answer: ComposedAnswer; behaviour: Behaviour } {
  const { wire, request, options, book, calls } = parts;
  if (wire === null) return { answer: nothingHere, behaviour: {} };
  try {
    if (call.method === "GET" && request.path === "/models") {
      checkKey(call, wire, options.keys ?? "any");
      return { answer: modelList, behaviour: {} };
    }
    checkAccess(call, wire, { path: request.path, keys: options.keys ?? "any" });
    call.ask = wire.parseAsk(request);
    const { prompt } = call.ask;
    const found = book.takeScripted(call) ?? readFaultWords(prompt) ?? book.findStanding(call);
    const askedBefore = calls.filter(({ ask }) => ask?.prompt === prompt).length - 1;
    const behaviour = askedBefore < (found.burst ?? 0) ? { status: 500 } : addCount(found, options.countPrompt?.(call));
    return { answer: composeAnswer(wire, call.ask, { behaviour, callNumber: call.number }), behaviour };
  } catch (error) {
    if (!(error instanceof VendorRefusal)) throw error;
    call.refusal = error.message;
    return { answer: composeRefusal(wire, error, call.number), behaviour: {} };
  }
}

function addCount(behaviour: Behaviour, usage: Behaviour["usage"]): Behaviour {
  return usage === undefined || usage === null || behaviour.usage !== undefined ? behaviour : { ...behaviour, usage };
}

const nothingHere: ComposedAnswer = {
  status: 404,
  headers: { server: canary, "content-type": "text/plain" },
  writes: [{ bytes: Buffer.from(`${canary}: there is nothing here`), hasPiece: false }],
};

/** Callers use only its status. */
const modelList: ComposedAnswer = {
  status: 200,
  headers: { server: canary, "content-type": "application/json" },
  writes: [{ bytes: Buffer.from('{"object":"list","data":[]}'), hasPiece: false }],
};

function checkAccess(
  { method, headers, apiKey, json }: FakeCall,
  wire: VendorWire,
  { path, keys }: { path: string; keys: NonNullable<FakeUpstreamsOptions["keys"]> },
): void {
  const refuse = (status: number, message: string): never => {
    throw new VendorRefusal(message, { status });
  };
  if (!wire.isChatPath(path)) refuse(404, `Invalid URL (${method} ${path})`);
  if (method !== "POST") refuse(405, `Not allowed to ${method} on ${path}`);
  checkKey({ apiKey }, wire, keys);
  if (headers["content-type"]?.startsWith("application/json") !== true) refuse(415, "Unsupported content type");
  if (json === undefined) refuse(400, "We could not parse the JSON body of your request.");
}

function checkKey(
  { apiKey }: Pick<FakeCall, "apiKey">,
  wire: VendorWire,
  keys: NonNullable<FakeUpstreamsOptions["keys"]>,
): void {
  const isKnown = typeof keys === "string" || (apiKey !== null && keys.includes(apiKey));
  const isGood = keys === "none-needed" || (apiKey !== null && isKnown);
  if (!isGood) throw new VendorRefusal(wire.keyRefusal.message, { status: wire.keyRefusal.status });
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
}
