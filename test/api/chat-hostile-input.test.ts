// @module-tag slow
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anySpoiledRequest } from "../harness/chat/chat-arbitraries.ts";
import {
  ask,
  expectPassed,
  expectRefusal,
  type Fields,
  hello,
  schemaFormat,
  tool,
  writeInputCatalog,
} from "../harness/chat/chat-asks.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";

let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeInputCatalog, extraFields: ["top_k", "min_p", "think"] });
  caller = await chat.createCaller();
});
afterAll(() => chat[Symbol.asyncDispose]());

const invalid = "invalid_parameter";
const unknown = "unknown_parameter";

describe("deeply nested input", () => {
  const depth = 64 * 1024;
  const nestLists = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
  const nestObjects = (levels: number): string => `${'{"a":'.repeat(levels / 4)}1${"}".repeat(levels / 4)}`;
  // The largest body allowed: deep enough to overflow a recursive parser.
  const lists = nestLists(depth);
  const objects = nestObjects(depth);
  /** The request with the nested text in place of the word. */
  const nest = (fields: Fields, nested: string): string => JSON.stringify(ask(fields)).replace('"NEST"', () => nested);
  const assistant = (fields: Fields) => [hello, { role: "assistant", content: "Hi", ...fields }, hello];

  test.each<readonly [string, Fields, string, string, string]>([
    ["in metadata", { metadata: { a: "NEST" } }, lists, invalid, "metadata.a"],
    ["in a tool", { tools: [tool("a", { parameters: "NEST" })] }, objects, invalid, "tools"],
    ["in an unknown field", { foo: "NEST" }, lists, unknown, "foo"],
    ["in a schema", { response_format: schemaFormat("NEST") }, objects, invalid, "response_format"],
    ["in a function", { functions: [{ name: "a", parameters: "NEST" }] }, objects, invalid, "functions"],
    [
      "in a message's content",
      { messages: [{ role: "user", content: "NEST" }] },
      lists,
      invalid,
      "messages[0].content[0]",
    ],
    ["in the metadata itself", { metadata: "NEST" }, objects, invalid, "metadata.a"],
    ["in messages themselves", { messages: "NEST" }, lists, invalid, "messages[0]"],
    [
      "in allowed tools",
      { tools: [tool("a")], tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: ["NEST"] } } },
      objects,
      invalid,
      "tool_choice",
    ],
    ["in cache options", { prompt_cache_options: "NEST" }, objects, invalid, "prompt_cache_options"],
    ["in moderation", { moderation: "NEST" }, objects, invalid, "moderation"],
    ["in a vendor's field", { model: "vendor", think: "NEST" }, lists, invalid, "think"],
  ])("%s is rejected, and the next call is answered at once", async (_name, fields, nested, code, param) => {
    await expectRefusal({ chat, by: caller }, nest(fields, nested), { code, param, message: /./ });
    const startedAt = performance.now();
    await chat.gateway.get("/models", caller.key);
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });

  test.each<readonly [string, Fields, string, string, string]>([
    ["in the audio of an answer", { messages: assistant({ audio: "NEST" }) }, objects, invalid, "messages"],
    [
      "in the annotations of an answer",
      { messages: assistant({ annotations: ["NEST"] }) },
      objects,
      invalid,
      "messages",
    ],
    ["in metadata under an odd name", { metadata: { "a\nb": "NEST" } }, lists, invalid, "metadata.a\nb"],
    ["in a bias under an odd name", { logit_bias: { "a\nb": "NEST" } }, lists, invalid, "logit_bias.a\nb"],
    [
      "in the cache breakpoint of a part",
      { messages: [{ role: "user", content: [{ type: "text", text: "Hi", prompt_cache_breakpoint: "NEST" }] }] },
      objects,
      invalid,
      "messages",
    ],
  ])("%s is rejected", async (_name, fields, nested, code, param) => {
    await expectRefusal({ chat, by: caller }, nest(fields, nested), { code, param, message: /./ });
  });
});

describe("a conversation continues with an earlier answer sent back unchanged", () => {
  const echoed = {
    role: "assistant",
    content: "Hi.",
    refusal: null,
    annotations: [],
    audio: null,
    function_call: null,
  };
  const call = { id: "call_1", type: "function", function: { name: "add", arguments: '{"a":1}' } };

  test("through the real SDK, with a tool and its result", async () => {
    const own = await chat.createCaller();
    const tools = [{ type: "function" as const, function: { name: "add", parameters: { type: "object" } } }];
    const question = { role: "user" as const, content: "What is 1 + 1?" };
    for (const model of ["open", "anthropic", "google", "packaged"]) {
      chat.upstream.script({ toolCalls: [{ name: "add", fragments: ["{}"] }] });
      const first = await own.client.chat.completions.create({ model, tools, messages: [question] });
      const message = first.choices[0]?.message;
      if (message === undefined) throw new Error("There is no answer.");
      const results = (message.tool_calls ?? []).map(({ id }) => ({
        role: "tool" as const,
        tool_call_id: id,
        content: "2",
      }));
      expect(results).toHaveLength(1);
      const second = await own.client.chat.completions.create({
        model,
        tools,
        messages: [question, message, ...results],
      });
      expect(second.choices[0]?.finish_reason).toBe("stop");
    }
    expect(chat.upstream.refusals()).toEqual([]);
  });

  test("with every field that OpenAI has ever sent", async () => {
    const messages = [hello, echoed, hello];
    // Fields that mean nothing to a model are left out.
    const said = { role: "assistant", content: "Hi.", refusal: null };
    expect(await expectPassed(chat, ask({ messages }))).toMatchObject({ messages: [hello, said, hello] });
    const withCall = [
      hello,
      { ...echoed, content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: "2" },
    ];
    const called = { ...said, content: null, tool_calls: [call] };
    expect(await expectPassed(chat, ask({ messages: withCall }))).toMatchObject({
      messages: [hello, called, withCall[2]],
    });
  });

  test.each(["anthropic", "google", "packaged"])(
    "with every field that OpenAI has ever sent, to %s too",
    async (model) => {
      await expectPassed(chat, ask({ model, messages: [hello, echoed, hello] }));
    },
  );
});

describe("a request with random damage", () => {
  test("gets an error or an answer, and only answers are charged", async () => {
    const own = await chat.createCaller({ cash: "1000" });
    // Each run sends one request, all from one caller, whose limit is 600 a minute.
    const runs = 300;
    let answers = 0;
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(anySpoiledRequest, async (request) => {
        const response = await own.post(request);
        const body = await response.text();
        seen.add(response.status);
        expect([200, 400, 403, 404], body).toContain(response.status);
        if (response.status === 200) answers += 1;
        else
          expect(JSON.parse(body)).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } });
      }),
      { numRuns: runs },
    );
    expect(seen).toContain(200);
    expect(seen).toContain(400);
    await own.settled();
    const charges = await own.listCharges();
    expect(charges.length).toBeLessThanOrEqual(answers);
    expect(await own.readBalance()).toMatchObject({ frozen: "0.00" });
  });
});
