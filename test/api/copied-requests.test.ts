import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { upstreamKeyName, writeCatalogOf } from "../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { canary, type FakeUpstreams } from "../harness/upstreams/fake-upstreams.ts";

/** Each model has two upstreams of the same kind. */
function writeCatalog(upstream: FakeUpstreams): string {
  const api_keys = [`\${${upstreamKeyName}}`];
  const open = { kind: "openai-compatible", base_url: upstream.openAiUrl, api_keys };
  const claude = { kind: "anthropic", base_url: upstream.anthropicUrl, api_keys };
  const kinds = { chat: open, messages: claude, responses: { ...open, native_wires: ["responses"] } };
  const pairs = Object.entries(kinds).map(([id, provider]) => ({
    providers: [1, 2].map((number) => ({ id: `${id}-${number}`, ...provider })),
    model: {
      id,
      routes: [1, 2].map((number) => ({
        ...{ provider: `${id}-${number}`, upstream_model: `${canary}-${number}`, priority: number },
      })),
    },
  }));
  return writeCatalogOf(upstream, {
    providers: pairs.flatMap(({ providers }) => providers),
    models: pairs.map(({ model }) => model),
  });
}

let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeCatalog });
  caller = await chat.createCaller({ cash: "100000" });
});
afterAll(() => chat[Symbol.asyncDispose]());

type Wire = {
  path: string;
  cap: string;
  /** The fields with the conversation and the tools, as text. Numbers and escapes are written as no library does. */
  write(filler: string): string;
  /** One tool with a field twice. */
  twiceTyped: string;
};

const schema = '{ "type":"object", "properties":{"p\\u0061th":{"type":"number","maximum":1.50}} }';

const wires = {
  chat: {
    path: "/chat/completions",
    cap: "max_tokens",
    write: (filler) =>
      `"messages" : [ {"role":"user","content":"model \\u00e9 ${filler}"} ],
       "tools":[{"type":"function","function":{"name":"read","parameters":${schema}}}]`,
    twiceTyped: '{"type":"custom","type":"function","function":{"name":"read"}}',
  },
  messages: {
    path: "/messages",
    cap: "max_tokens",
    write: (filler) =>
      `"messages" : [ {"role":"user","content":[{"type":"text","text":"model \\u00e9 ${filler}"}]} ],
       "tools":[{"name":"read","input_schema":${schema}}]`,
    twiceTyped: '{"type":"web_search_20250305","type":"custom","name":"read","input_schema":{"type":"object"}}',
  },
  responses: {
    path: "/responses",
    cap: "max_output_tokens",
    write: (filler) =>
      `"input" : [ {"role":"user","content":"model \\u00e9 ${filler}"} ],
       "tools":[{"type":"function","name":"read","parameters":${schema},"strict":false}]`,
    twiceTyped: '{"type":"web_search","type":"function","name":"read","parameters":{"type":"object"},"strict":false}',
  },
} as const satisfies Record<string, Wire>;
type WireName = keyof typeof wires;

async function post(wire: WireName, body: string): Promise<Response> {
  return await chat.fetch(`${chat.gateway.baseUrl}${wires[wire].path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
    body,
  });
}

/** What the upstream got last. */
function lastSent(): { text: string; json: Record<string, unknown> } {
  const { body } = chat.upstream.requests.at(-1) ?? { body: Buffer.alloc(0) };
  const text = body.toString("utf8");
  return { text, json: JSON.parse(text) as Record<string, unknown> };
}

async function send(wire: WireName, body: string): Promise<ReturnType<typeof lastSent>> {
  const response = await post(wire, body);
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  return lastSent();
}

/** A small body is written by the gateway, larger ones are copied. They arrive in one chunk or in several. */
const sizes = { small: 10, copied: 70_000, large: 500_000 };

describe.each(Object.keys(wires) as WireName[])("by %s", (wire) => {
  const { cap, write, twiceTyped } = wires[wire];
  const long = write("x".repeat(sizes.copied));

  test.each(["copied", "large"] as const)(
    "an upstream gets the caller's bytes, except what we replace: %s",
    async (size) => {
      const filler = "x".repeat(sizes[size]);
      const before = `{ "model":"${wire}", ${write(filler)} , "temperature" : 0.50 ,`;
      const sent = await send(wire, `${before} "${cap}":7, "stream":true }`);
      expect(sent.text).toContain(before.slice(before.indexOf(",")));
      expect(sent.json).toMatchObject({ model: `${canary}-1`, stream: true });
      expect(sent.text.match(/"model":/g)).toHaveLength(1);
    },
  );

  test("it gets the same as from a small body", async () => {
    const sent: unknown[] = [];
    for (const size of ["small", "copied"] as const) {
      const filler = "x".repeat(sizes[size]);
      const { json } = await send(wire, `{"${cap}":7,${write(filler)},"model":"${wire}"}`);
      sent.push(JSON.parse(JSON.stringify(json).replace(filler, "")));
    }
    expect(sent[1]).toEqual(sent[0]);
  });

  test("a field that occurs twice is sent once", async () => {
    const twice = await send(wire, `{"model":"other","${cap}":7,${long},"model":"${wire}"}`);
    expect(twice.json.model).toBe(`${canary}-1`);
    expect(twice.text.match(/"model":/g)).toHaveLength(1);
    const escaped = await send(wire, `{"mod\\u0065l":"${wire}","${cap}":7,${long}}`);
    expect(escaped.json.model).toBe(`${canary}-1`);
    expect(escaped.text).not.toContain("mod\\u0065l");
    const inner = await send(wire, `{"model":"${wire}","${cap}":7,${long},"tools":[${twiceTyped}]}`);
    expect(inner.text).not.toContain("web_search");
    expect(inner.text).not.toContain('"type":"custom","type"');
  });

  test("fields that are null are not sent", async () => {
    const sent = await send(wire, `{"model":"${wire}","${cap}":7,${long},"temperature":null,"metadata":null}`);
    expect(sent.json.metadata ?? "absent").toBe("absent");
  });

  test("another upstream gets the whole request too", async () => {
    chat.upstream.scriptFor({ model: `${canary}-1` }, { status: 529 });
    const first = chat.upstream.requests.length;
    const sent = await send(wire, `{"model":"${wire}","${cap}":7,${long}}`);
    expect(chat.upstream.requests.length).toBe(first + 2);
    const [before] = chat.upstream.requests.slice(first);
    expect(sent.json).toEqual({ ...(before?.json as object), model: `${canary}-2` });
  });
});
