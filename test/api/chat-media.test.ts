import { afterAll, beforeAll, expect, test } from "vitest";
import { writeCatalogOf } from "../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { type VendorModel, vendorModels } from "../harness/chat/client-catalog.ts";
import { canary } from "../harness/upstreams/fake-upstreams.ts";

let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  chat = await openChatGateway({
    catalog: (upstream) => {
      const models = vendorModels.map((id) => ({
        id,
        extra_parameters: ["audio", "files"],
        limits: { context_window: 1_000_000, max_output_tokens: 1000 },
        routes: [{ provider: id, upstream_model: `${canary}-${id}` }],
      }));
      return writeCatalogOf(upstream, { models });
    },
  });
  caller = await chat.createCaller({ cash: "10000" });
});
afterAll(async () => {
  expect(chat.upstream.refusals()).toEqual([]);
  await chat[Symbol.asyncDispose]();
});

type Fields = Record<string, unknown>;
type Kind = "image" | "audio" | "document";
type WritePart = (base64: string) => Fields;

const parts: Record<Kind, WritePart> = {
  image: (data) => ({ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }),
  audio: (data) => ({ type: "input_audio", input_audio: { data, format: "wav" } }),
  document: (data) => ({
    type: "file",
    file: { file_data: `data:application/pdf;base64,${data}`, filename: "report.pdf" },
  }),
};

const writeGemini = (mimeType: string) => (data: string) => ({ inlineData: { mimeType, data } });
const writeAnthropic = (type: string, mediaType: string) => (data: string) => ({
  type,
  source: { type: "base64", media_type: mediaType, data },
});

/** How each vendor writes the kinds that it takes. */
const vendorParts: Record<VendorModel, Partial<Record<Kind, WritePart>>> = {
  open: parts,
  anthropic: {
    image: writeAnthropic("image", "image/png"),
    document: (data) => ({ ...writeAnthropic("document", "application/pdf")(data), title: "report.pdf" }),
  },
  google: {
    image: writeGemini("image/png"),
    audio: writeGemini("audio/wav"),
    document: writeGemini("application/pdf"),
  },
  packaged: parts,
};

const short = Buffer.from("short media").toString("base64");
/** Packages do not see media of this length. Its bytes do not repeat, so that a shift would show. */
const long = Buffer.from(Array.from({ length: 240_000 }, (_, index) => (index * index) % 1_000_003)).toString("base64");

const cases = vendorModels.flatMap((model) =>
  Object.entries(vendorParts[model]).map(([kind, write]) => ({ model, kind: kind as Kind, write })),
);

test.each(cases)("$model gets $kind media unchanged, short and long", async ({ model, kind, write }) => {
  const text = { type: "text", text: "Compare them: é" };
  const content = [parts[kind](long), text, parts[kind](short)];
  const response = await caller.post({ model, messages: [{ role: "user", content }] });
  expect(response.status, await response.text()).toBe(200);
  const { messages, contents } = (chat.upstream.requests.at(-1)?.json ?? {}) as Fields;
  const [message] = (messages ?? contents) as Fields[];
  expect(message?.content ?? message?.parts).toEqual([
    write(long),
    expect.objectContaining({ text: "Compare them: é" }),
    write(short),
  ]);
});
