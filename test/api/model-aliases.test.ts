import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeCatalogOf } from "../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { canary } from "../harness/upstreams/fake-upstreams.ts";

const alias = "claude-sonnet-5";
const id = "talk";

let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  chat = await openChatGateway({
    catalog: (upstream) =>
      writeCatalogOf(upstream, {
        models: [
          { id, aliases: [alias, "gpt-5-codex"], routes: [{ provider: "anthropic", upstream_model: `${canary}-a` }] },
          { id: "other", routes: [{ provider: "open", upstream_model: `${canary}-o` }] },
        ],
      }),
  });
  caller = await chat.createCaller({ cash: "10000" });
});
afterAll(() => chat[Symbol.asyncDispose]());

test("every chat API takes an alias, and answers and charges with the model's id", async () => {
  const { client } = caller;
  const messages = [{ role: "user" as const, content: "Hello" }];
  expect((await client.chat.completions.create({ model: alias, messages })).model).toBe(id);
  expect((await client.responses.create({ model: "gpt-5-codex", input: "Hello" })).model).toBe(id);
  expect((await client.completions.create({ model: alias, prompt: "Hello" })).model).toBe(id);
  const { baseUrl } = chat.gateway;
  const anthropic = new Anthropic({ apiKey: caller.key, baseURL: baseUrl.replace("/v1", ""), fetch: chat.fetch });
  expect((await anthropic.messages.create({ model: alias, max_tokens: 10, messages })).model).toBe(id);
  const events = await Array.fromAsync(
    await anthropic.messages.create({ model: alias, max_tokens: 10, messages, stream: true }),
  );
  expect(events[0]).toMatchObject({ type: "message_start", message: { model: id } });
  expect(await anthropic.messages.countTokens({ model: alias, messages })).toHaveProperty("input_tokens");
  const usage = await chat.gateway.get("/usage?group_by=model", caller.key);
  const text = await usage.text();
  expect(text).toContain(`"${id}"`);
  expect(text).not.toContain(alias);
});

test("the model is found by its alias, and listed once with its aliases", async () => {
  const { client } = caller;
  expect(await client.models.retrieve(alias)).toMatchObject({ id, aliases: [alias, "gpt-5-codex"] });
  const listed = await Array.fromAsync(client.models.list());
  expect(listed.map((model) => model.id)).toEqual([id, "other"]);
  expect(listed[1]).not.toHaveProperty("aliases");
});

test.each([[id], [alias]])("a key that is restricted to %s may use both names, and no other model", async (name) => {
  const { key } = await chat.createCaller({ modelIds: [name] });
  const ask = async (model: string) => (await chat.gateway.get(`/models/${model}`, key)).status;
  expect([await ask(id), await ask(alias), await ask("other")]).toEqual([200, 200, 403]);
});
