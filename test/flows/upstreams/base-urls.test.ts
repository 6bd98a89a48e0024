import { createServer, request as openRequest } from "node:http";
import { type AddressInfo, isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { upstreamKeyName, writeCatalogOf, writePrice } from "../../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { describeCall, openMediaStage } from "../../harness/media/media-stage.ts";
import { canary, type FakeUpstreams, startFakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { voice } from "../../harness/upstreams/media-samples.ts";

type Fields = Record<string, unknown>;

const query = "api-version=2024-10-21&tier=a%2Fb";

/** An address of this machine that is reachable from its network, if it has one. */
const host =
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ address, internal }) => !internal && isIPv4(address))?.address ?? "127.0.0.1";

type Front = AsyncDisposable & { url: string; paths: string[] };

/** A proxy before the fakes, like a cloud's front end: it requires the query, and forwards everything. */
async function openFront(getBehind: () => URL): Promise<Front> {
  const paths: string[] = [];
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? "";
    paths.push(path);
    if (!path.includes(query)) {
      response.writeHead(404).end();
      return;
    }
    const rest = path.replace(`&${query}`, "").replace(`?${query}`, "");
    const { hostname, port } = getBehind();
    const { method, headers } = incoming;
    const outgoing = openRequest({ hostname, port, method, headers, path: rest }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((listening) => server.listen(0, host, listening));
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    paths,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function writeCatalog(upstream: FakeUpstreams): string {
  const common = { allow_http: true, api_keys: [`\${${upstreamKeyName}}`] };
  const at = (vendorUrl: string): string => `${front.url}${new URL(vendorUrl).pathname}?${query}`;
  const toOpen = { base_url: at(upstream.openAiUrl), ...common };
  const routeTo = (provider: string): Fields => ({
    routes: [{ provider, upstream_model: `${canary}-${provider}` }],
  });
  const embedding = { type: "embedding", capabilities: ["text_embedding"], limits: { context_window: 100 } };
  const perCall = { billing_type: "per_call", unit: "call", price: "0.10" };
  const chats = ["cloud-open", "cloud-claude", "cloud-google", "cloud-package"];
  return writeCatalogOf(upstream, {
    providers: [
      { id: "cloud-open", kind: "openai-compatible", ...toOpen, native_wires: ["responses"] },
      { id: "cloud-claude", kind: "anthropic", base_url: at(upstream.anthropicUrl), ...common },
      { id: "cloud-google", kind: "google", base_url: at(upstream.geminiUrl), ...common },
      { id: "cloud-package", kind: "ai-sdk", package: "@ai-sdk/openai-compatible", ...toOpen },
    ],
    models: [
      ...chats.map((id) => ({ id, ...routeTo(id) })),
      ...["open", "google", "package"].map((id) => ({ id: `vectors-${id}`, ...embedding, ...routeTo(`cloud-${id}`) })),
      {
        id: "voice",
        type: "speech",
        capabilities: ["text_to_speech"],
        limits: { voices: ["ash"] },
        ...routeTo(chats[0] ?? ""),
      },
      { id: "ear", type: "transcription", capabilities: ["transcription"], limits: {}, ...routeTo("cloud-open") },
      {
        id: "image",
        type: "image",
        capabilities: ["text_to_image"],
        limits: { sizes: ["64x64"] },
        ...routeTo("cloud-open"),
      },
    ],
    prices: [
      ...chats.map((model) => writePrice(model)),
      ...["vectors-open", "vectors-google", "vectors-package", "voice", "ear", "image"].map((model) => ({
        ...{ model, ...perCall },
      })),
    ],
  });
}

let behind: URL;
let front: Front;
let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  front = await openFront(() => behind);
  chat = await openChatGateway({
    catalog: (upstream) => {
      behind = new URL(upstream.url);
      return writeCatalog(upstream);
    },
  });
  caller = await chat.createCaller();
});
afterAll(async () => {
  await chat[Symbol.asyncDispose]();
  await front[Symbol.asyncDispose]();
});

const messages = [{ role: "user", content: "Hello" }];

function createForm(): FormData {
  const form = new FormData();
  form.append("model", "ear");
  form.append("file", new Blob([new Uint8Array(voice.bytes)]), "voice.mp3");
  return form;
}

const calls: [name: string, path: string, body: Fields | FormData, sent: string][] = [
  ["chat", "/chat/completions", { model: "cloud-open", messages }, "/chat/completions"],
  ["a stream", "/chat/completions", { model: "cloud-open", messages, stream: true }, "/chat/completions"],
  ["a native response", "/responses", { model: "cloud-open", input: "Hello" }, "/responses"],
  ["chat by Anthropic", "/chat/completions", { model: "cloud-claude", messages }, "/messages"],
  ["native messages", "/messages", { model: "cloud-claude", max_tokens: 10, messages }, "/messages"],
  ["chat by Google", "/chat/completions", { model: "cloud-google", messages }, ":generateContent"],
  ["a stream by Google", "/chat/completions", { model: "cloud-google", messages, stream: true }, "?alt=sse"],
  ["chat by a package", "/chat/completions", { model: "cloud-package", messages }, "/chat/completions"],
  ["embeddings", "/embeddings", { model: "vectors-open", input: "Hello" }, "/embeddings"],
  ["embeddings by Google", "/embeddings", { model: "vectors-google", input: "Hello" }, ":embedContent"],
  ["embeddings by a package", "/embeddings", { model: "vectors-package", input: "Hello" }, "/embeddings"],
  ["speech", "/audio/speech", { model: "voice", input: "Hello", voice: "ash" }, "/audio/speech"],
  ["a transcription", "/audio/transcriptions", createForm(), "/audio/transcriptions"],
  ["an image", "/images/generations", { model: "image", prompt: "A barn" }, "/images/generations"],
];

test.each(calls)("%s goes over a private network, with the address's query after the path", async (_name, ...call) => {
  const [path, body, sent] = call;
  const isForm = body instanceof FormData;
  const first = front.paths.length;
  const response = await chat.fetch(`${chat.gateway.baseUrl}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${caller.key}`,
      prefer: "wait=30",
      ...(isForm ? {} : { "content-type": "application/json" }),
    },
    body: isForm ? body : JSON.stringify(body),
  });
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  const asked = front.paths.slice(first);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatch(new RegExp(`${RegExp.escape(sent)}[?&]${RegExp.escape(query)}$`));
});

test("requests to fal's queue have the query too", async () => {
  await using fake = await startFakeUpstreams();
  await using other = await startFakeUpstreams();
  // Addresses on another origin are ignored, so the default ones are used.
  fake.media.script({ urlsOn: other.url });
  await using stage = await openMediaStage({ baseUrl: `${fake.falUrl}?${query}` });
  const submitted = await stage.fal.submit(describeCall());
  if (submitted.kind !== "accepted") throw new Error(`It was ${submitted.kind}.`);
  await stage.fal.poll(submitted.handle, describeCall());
  const [first, second] = fake.media.calls.map(({ path }) => path);
  expect(first).toMatch(new RegExp(`/fal-ai/flux/dev\\?${RegExp.escape(query)}$`));
  expect(second).toMatch(new RegExp(`/requests/[^/]+/status\\?${RegExp.escape(query)}$`));
});
