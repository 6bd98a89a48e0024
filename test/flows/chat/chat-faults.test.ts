import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { ChatMeter } from "../../../src/features/chat/meter-chat.ts";
import { ChatPresenter } from "../../../src/features/chat/present-chat.ts";
import { CompletionPresenter } from "../../../src/features/completions/present-completion.ts";
import { MessagePresenter } from "../../../src/features/messages/present-message.ts";
import { ResponsePresenter } from "../../../src/features/responses/present-response.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { askChat, writeQuestion } from "../../harness/chat/hear-chat.ts";

let chat: ChatGateway;
beforeAll(async () => {
  chat = await openChatGateway();
});
afterAll(() => chat[Symbol.asyncDispose]());
afterEach(() => void vi.restoreAllMocks());

type Thrower = Record<string, (...args: never[]) => unknown>;
const throwers: Record<string, { prototype: object; path: string; body: Record<string, unknown> }> = {
  ChatMeter: {
    prototype: ChatMeter.prototype,
    path: "/chat/completions",
    body: { model: "open", messages: [{ role: "user", content: "Hello" }] },
  },
  ChatPresenter: {
    prototype: ChatPresenter.prototype,
    path: "/chat/completions",
    body: { model: "open", messages: [{ role: "user", content: "Hello" }] },
  },
  CompletionPresenter: {
    prototype: CompletionPresenter.prototype,
    path: "/completions",
    body: { model: "open", prompt: "Hello", max_tokens: 50 },
  },
  MessagePresenter: {
    prototype: MessagePresenter.prototype,
    path: "/messages",
    body: { model: "open", max_tokens: 50, messages: [{ role: "user", content: "Hello" }] },
  },
  ResponsePresenter: {
    prototype: ResponsePresenter.prototype,
    path: "/responses",
    body: { model: "open", input: "Hello" },
  },
};

const cases = Object.entries(throwers).flatMap(([name, { prototype }]) =>
  Object.getOwnPropertyNames(prototype)
    .filter((method) => method !== "constructor" && isFunction(prototype, method))
    .map((method) => ({ name, method })),
);

function isFunction(prototype: object, method: string): boolean {
  return typeof Object.getOwnPropertyDescriptor(prototype, method)?.value === "function";
}

/** Sends one request and reads the answer to its end, however it ends. */
async function callOnce(caller: ChatCaller, name: string, { stream, key }: { stream: boolean; key: string | null }) {
  const { path, body } = throwers[name] ?? { path: "", body: {} };
  const headers = {
    authorization: `Bearer ${caller.key}`,
    "content-type": "application/json",
    ...(key === null ? {} : { "idempotency-key": key }),
  };
  const response = await chat.fetch(`${chat.gateway.baseUrl}${path}`, {
    ...{ method: "POST", headers, body: JSON.stringify({ ...body, stream }) },
  });
  await response.text().catch(() => null);
  return response.status;
}

test.each(cases)("a call in which $name throws at $method ends, and so does its hold", async ({ name, method }) => {
  const caller = await chat.createCaller({ cash: "100.00" });
  const { prototype } = throwers[name] ?? { prototype: {} };
  vi.spyOn(prototype as Thrower, method).mockImplementation(() => {
    throw new Error(`${name}.${method} throws`);
  });
  const callsBefore = chat.upstream.requests.length;
  for (const stream of [false, true]) {
    for (const key of [null, `once-${stream}`]) await callOnce(caller, name, { stream, key });
  }
  await caller.settled();
  const holds = await caller.listHolds();
  expect(holds.every(({ state }) => state === "settled" || state === "released")).toBe(true);
  // Upstream usage is charged once; a retry with the same key neither runs nor costs again.
  const used = chat.upstream.requests.length - callsBefore;
  const charges = (await caller.listCharges()).length;
  vi.restoreAllMocks();
  for (const stream of [false, true]) await callOnce(caller, name, { stream, key: `once-${stream}` });
  await caller.settled();
  expect(charges).toBe(used);
  if (used > 0) expect(chat.upstream.requests.length - callsBefore).toBe(used);
  expect((await askChat(caller, writeQuestion("open"))).status).toBe(200);
});
