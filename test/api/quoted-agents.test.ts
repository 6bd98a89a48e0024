import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { listKeys, writeKeyedCatalog } from "../harness/chat/keyed-catalog.ts";

let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  Object.assign(process.env, listKeys());
  chat = await openChatGateway({ catalog: writeKeyedCatalog });
  caller = await chat.createCaller({ cash: "100" });
});
afterAll(() => chat[Symbol.asyncDispose]());

const parameters = {
  type: "object",
  properties: { path: { type: "string", description: "Where to look. ".repeat(9) } },
};
const tools = Array.from({ length: 40 }, (_, index) => ({
  type: "function",
  function: { name: `read_${index}`, description: "Reads a file.", parameters },
}));

// Such a body is outlined, not parsed.
test("an agent's large request is quoted, and costs at most its quote", async () => {
  const body = { model: "one-open", messages: [{ role: "user", content: "Hello" }], tools, max_tokens: 50 };
  expect(JSON.stringify(body).length).toBeGreaterThan(8000);
  const ask = (path: string, content: unknown, headers = {}) =>
    fetch(`${chat.gateway.baseUrl}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(content),
    });
  const quoted = await ask("/quote", { path: "/chat/completions", request: body });
  const quote = (await quoted.json()) as { id: string; max_charge: string };
  expect(quoted.status, JSON.stringify(quote)).toBe(200);
  const answered = await ask("/chat/completions", body, { "x-quote-id": quote.id });
  const answer = (await answered.json()) as { usage: { charge: string } };
  expect(answered.status, JSON.stringify(answer)).toBe(200);
  expect(Number(answer.usage.charge)).toBeGreaterThan(0);
  expect(Number(answer.usage.charge)).toBeLessThanOrEqual(Number(quote.max_charge));
  const other = await ask("/chat/completions", { ...body, tools: tools.slice(1) }, { "x-quote-id": quote.id });
  expect(await other.json()).toMatchObject({ error: { code: "quote_mismatch" } });
});
