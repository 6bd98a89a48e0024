import { expect } from "vitest";
import { canary, type FakeUpstreams } from "../upstreams/fake-upstreams.ts";
import { writeCatalogOf, writePrice } from "./chat-catalog.ts";
import type { ChatCaller, ChatGateway } from "./chat-gateway.ts";

export type Fields = Record<string, unknown>;

const everyExtra = ["audio", "files", "modalities", "prediction", "service_tier", "store", "web_search_options"];
const open = [{ provider: "open", upstream_model: `${canary}-open` }];

export function writeInputCatalog(upstream: FakeUpstreams): string {
  const models: Fields[] = [
    { id: "open", routes: open },
    { id: "anthropic", routes: [{ provider: "anthropic", upstream_model: `${canary}-claude` }] },
    { id: "google", routes: [{ provider: "google", upstream_model: `${canary}-gemini` }] },
    { id: "packaged", routes: [{ provider: "packaged", upstream_model: `${canary}-packaged` }] },
    { id: "plain", capabilities: ["chat"], routes: open },
    { id: "generous", extra_parameters: everyExtra, routes: open },
    { id: "short", limits: { max_prompt_length: 20, max_output_tokens: 1000 }, routes: open },
    { id: "narrow", limits: { context_window: 10 }, routes: open },
    {
      id: "vendor",
      routes: [
        { provider: "open", upstream_model: `${canary}-first`, passthrough: ["top_k", "min_p"] },
        { provider: "open", upstream_model: `${canary}-second`, passthrough: ["think"] },
        { provider: "open", upstream_model: `${canary}-third` },
      ],
    },
    { id: "picture", type: "image", capabilities: ["text_to_image"], limits: {}, routes: open },
  ];
  const prices = models.map(({ id }) =>
    id === "picture" ? { model: id, billing_type: "per_call", unit: "image", price: "1" } : writePrice(String(id)),
  );
  return writeCatalogOf(upstream, { models, prices });
}

export const hello = { role: "user", content: "Hello" };

/** A valid request with these fields replaced; `undefined` removes a field. */
export function ask(fields: Fields = {}): Fields {
  return { model: "open", messages: [hello], ...fields };
}

export function askWithPart(...parts: unknown[]): Fields {
  return ask({ messages: [{ role: "user", content: parts }] });
}

export function askWithCall(fields: Fields): Fields {
  const call = { id: "call_1", type: "function", function: { name: "add", arguments: "{}" }, ...fields };
  return ask({ messages: [hello, { role: "assistant", tool_calls: [call] }] });
}

export const callPlace = "messages[1].tool_calls[0]";

export const image = (url: unknown) => ({ type: "image_url", image_url: { url } });
export const tool = (name?: unknown, more: Fields = {}) => ({ type: "function", function: { name, ...more } });
export const schemaFormat = (schema: unknown) => ({ type: "json_schema", json_schema: { name: "answer", schema } });

export type Refusal = { status?: number; code: string; param: string | null; message: RegExp };

/** Expects this API error, and no side effects: no upstream call, no charge, no hold. */
export async function expectRefusal(
  { chat, by, headers = {} }: { chat: ChatGateway; by: ChatCaller; headers?: Record<string, string> },
  body: unknown,
  { status = 400, code, param, message }: Refusal,
): Promise<void> {
  const callsBefore = chat.upstream.requests.length;
  const response = await by.post(body, { headers });
  const answer = (await response.json()) as { error: Fields };
  expect([response.status, answer.error], JSON.stringify(answer)).toEqual([
    status,
    { message: expect.stringMatching(message), type: expect.any(String), param, code },
  ]);
  expect(response.headers.get("x-request-id")).toMatch(/^req_/);
  expect(chat.upstream.requests.length).toBe(callsBefore);
  expect(await by.listHolds()).toEqual([]);
  expect(await by.listCharges()).toEqual([]);
}

/** Sends a valid request and returns what the upstream received. */
export async function expectPassed(chat: ChatGateway, body: Fields): Promise<Fields> {
  const own = await chat.createCaller({ cash: "1000" });
  const callsBefore = chat.upstream.requests.length;
  const response = await own.post(body);
  expect(response.status, await response.clone().text()).toBe(200);
  await response.text();
  const [call, ...others] = chat.upstream.requests.slice(callsBefore);
  expect(others).toEqual([]);
  expect(call?.refusal).toBeNull();
  return { ...(call?.json as Fields) };
}
