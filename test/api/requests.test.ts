import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { writeQuestion } from "../harness/chat/hear-chat.ts";
import { waitUntil } from "../harness/wait-until.ts";

type Fields = Record<string, unknown>;
type Logged = Fields & { id: string };

let chat: ChatGateway;
beforeAll(async () => {
  chat = await openChatGateway();
});
afterAll(() => chat[Symbol.asyncDispose]());

/** What the log says of a call, once it is written. */
async function findLogged(caller: Pick<ChatCaller, "key">, id: string | null): Promise<Logged> {
  expect(id).toMatch(/^req_/);
  return await waitUntil("the request to be logged", async () => {
    const response = await chat.gateway.get(`/requests/${id}`, caller.key);
    return response.status === 200 ? ((await response.json()) as Logged) : null;
  });
}

/** What every logged call of a chat has, unless a test says otherwise. */
function describeChat(caller: ChatCaller, id: string | null): Fields {
  return {
    ...{ object: "request", id, key_id: caller.keyId, wire: "chat", model: "open" },
    ...{ method: "POST", route: "/v1/chat/completions", client_request_id: null, replayed: false, task_id: null },
    created: expect.any(Number),
    created_at: expect.stringMatching(/^20\d\d-.*\.\d{3}Z$/),
    latency_ms: expect.any(Number),
    user_agent: expect.any(String),
    ...{ time_to_first_token_ms: null, tokens: null, charge: null, charge_id: null },
  };
}

const usage = { inputTokens: 40, cachedInputTokens: 10, outputTokens: 20, reasoningTokens: 5 };
const usedTokens = {
  ...{ input: 40, cached_input: 10, cache_writes: 0, audio_input: 0 },
  ...{ output: 20, reasoning: 5, audio_output: 0 },
};

test("an answered call is logged with its tokens, its charge and who sent it, whole and streamed", async () => {
  const caller = await chat.createCaller();
  chat.upstream.script({ text: "Hi", usage }, { text: "Hi", usage });
  const headers = { "x-client-request-id": "trace-1", "user-agent": `test/1 ${"x".repeat(300)}` };
  const whole = await caller.post(writeQuestion("open"), { headers });
  await whole.text();
  const streamed = await caller.post(writeQuestion("open", { stream: true }));
  await streamed.text();
  const [wholeId, streamedId] = [whole, streamed].map((response) => response.headers.get("x-request-id"));
  const [streamCharge, wholeCharge] = (await chat.gateway.get("/charges", caller.key).then((r) => r.json())).data;
  const answered = { status: 200, error_code: null, ending: "answered", tokens: usedTokens };
  expect(await findLogged(caller, wholeId ?? null)).toEqual({
    ...describeChat(caller, wholeId ?? null),
    ...answered,
    ...{ client_request_id: "trace-1", user_agent: headers["user-agent"].slice(0, 256) },
    ...{ charge: wholeCharge.charge, charge_id: wholeCharge.id },
  });
  expect(await findLogged(caller, streamedId ?? null)).toEqual({
    ...describeChat(caller, streamedId ?? null),
    ...answered,
    time_to_first_token_ms: expect.any(Number),
    ...{ charge: streamCharge.charge, charge_id: streamCharge.id },
  });
});
