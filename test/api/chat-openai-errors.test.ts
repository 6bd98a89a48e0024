import OpenAI, {
  APIConnectionTimeoutError,
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { writeClientCatalog } from "../harness/chat/client-catalog.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";

const hourMs = 60 * 60 * 1000;
const hello: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Hello" }];
const question = { model: "open", messages: hello };

let clock: TestClock;
let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  clock = createTestClock();
  chat = await openChatGateway({ catalog: writeClientCatalog, clock });
  caller = await chat.createCaller({ cash: "1000" });
});
// Each test starts without the failures of the previous one.
beforeEach(() => clock.advance(hourMs));
afterAll(() => chat[Symbol.asyncDispose]());

type Seen = { status: number; headers: Headers; at: number };

/** The SDK with its default of two retries; `onResponse` receives every response before the SDK does. */
function createRetryingClient(
  { key }: ChatCaller,
  { maxRetries = 2, onResponse = () => {} }: { maxRetries?: number; onResponse?: (seen: Seen) => void } = {},
) {
  const answers: Seen[] = [];
  const client = new OpenAI({
    apiKey: key,
    baseURL: chat.gateway.baseUrl,
    maxRetries,
    fetch: async (input, init) => {
      const { status, headers, ...rest } = await keep(chat.fetch(input, init));
      const seen = { status, headers, at: performance.now() };
      answers.push(seen);
      onResponse(seen);
      return rest.response;
    },
  });
  return { client, answers, statuses: () => answers.map(({ status }) => status) };
}

async function keep(arriving: Promise<Response>) {
  const response = await arriving;
  return { response, status: response.status, headers: response.headers };
}

async function catchError(promise: Promise<unknown>): Promise<APIError> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof APIError) return error;
  throw new Error(`expected an error of the API, not ${String(error)}`);
}

test("every kind of error becomes the SDK's own error class, with code, field and request id", async () => {
  const stranger = new OpenAI({
    apiKey: "sk-slc-nobody",
    baseURL: chat.gateway.baseUrl,
    maxRetries: 0,
    fetch: chat.fetch,
  });
  const narrow = await chat.createCaller({ modelIds: ["google"] });
  const slow = await chat.createCaller({ limits: { concurrentRequests: 1 } });
  const poor = await chat.createCaller({ cash: "0.01" });
  const gate = chat.upstream.gate();
  chat.upstream.script({ beforeHead: gate });
  const running = slow.client.chat.completions.create(question);
  await gate.reached();
  const headers = { "idempotency-key": "one" };
  await caller.client.chat.completions.create(question, { headers });
  chat.upstream.script({ status: 500 });
  const ask = ({ client }: { client: OpenAI }, more: object = {}, options: object = {}) =>
    catchError(client.chat.completions.create({ ...question, ...more }, options));
  const errors: [APIError, new (...given: never[]) => APIError, number, string, string | null, string][] = [
    [await ask({ client: stranger }), AuthenticationError, 401, "invalid_api_key", null, "authentication_error"],
    [await ask(poor), APIError, 402, "insufficient_balance", null, "insufficient_quota"],
    [await ask(narrow), PermissionDeniedError, 403, "key_not_permitted", "model", "permission_error"],
    [await ask(caller, { model: "none" }), NotFoundError, 404, "model_unavailable", "model", "model_unavailable"],
    [await ask(caller, { n: 0 }), BadRequestError, 400, "invalid_parameter", "n", "invalid_request_error"],
    [
      await ask(caller, { model: "anthropic", n: 2 }),
      BadRequestError,
      400,
      "unsupported_capability",
      "n",
      "invalid_request_error",
    ],
    [
      await ask(caller, { n: 2 }, { headers }),
      UnprocessableEntityError,
      422,
      "idempotency_key_reused",
      "Idempotency-Key",
      "invalid_request_error",
    ],
    [await ask(slow), RateLimitError, 429, "concurrency_limit_exceeded", null, "rate_limit_error"],
    [await ask(caller), InternalServerError, 503, "upstream_unavailable", null, "api_error"],
  ];
  gate.open();
  await running;
  for (const [error, kind, status, code, param, type] of errors) {
    expect(error).toBeInstanceOf(kind);
    expect([error.status, error.code, error.param, error.type]).toEqual([status, code, param, type]);
    expect(error.requestID).toMatch(/^req_/);
    expect(error.message).toMatch(/^\d{3} [A-Z`].*\.$/);
  }
});

test("the SDK retries a model that is down, and gets its answer", async () => {
  const own = await chat.createCaller();
  const { client, answers, statuses } = createRetryingClient(own);
  const callsBefore = chat.upstream.requests.length;
  chat.upstream.script({ status: 503 }, { status: 503 });
  const answer = await client.chat.completions.create(question);
  expect(answer.choices[0]?.message.content).toContain("Hello");
  expect(statuses()).toEqual([503, 503, 200]);
  expect(answers.slice(0, 2).map(({ headers }) => headers.get("retry-after"))).toEqual(["1", "1"]);
  expect(chat.upstream.requests.length - callsBefore).toBe(3);
  expect(await own.listCharges()).toHaveLength(1);
});

test("the SDK retries a stream that fails before its headers, as it retries a plain response", async () => {
  const own = await chat.createCaller();
  const { client, statuses } = createRetryingClient(own);
  chat.upstream.script({ status: 503 });
  let text = "";
  for await (const { choices } of await client.chat.completions.create({ ...question, stream: true })) {
    text += choices[0]?.delta.content ?? "";
  }
  expect([text, statuses()]).toEqual(["Echo: Hello", [503, 200]]);
});

test("the SDK waits for the Retry-After of a rate limit, and then succeeds", async () => {
  const own = await chat.createCaller({ limits: { requestsPerMinute: 120 } });
  const { client, answers, statuses } = createRetryingClient(own, {
    onResponse({ status, headers }) {
      if (status === 429) clock.advance(Number(headers.get("retry-after-ms")));
    },
  });
  for (let number = 0; number < 120; number += 1) expect((await own.post("{}")).status).toBe(400);
  const answer = await client.chat.completions.create(question);
  expect(answer.choices[0]?.message.content).toContain("Hello");
  expect(statuses()).toEqual([429, 200]);
  const [refused, taken] = answers;
  expect(refused?.headers.get("retry-after-ms")).toBe("500");
  // Timers may fire slightly early by the clock that this test reads.
  expect((taken?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThan(490);
});

test("errors that a retry cannot fix are not retried", async () => {
  const poor = createRetryingClient(await chat.createCaller({ cash: "0.01" }));
  const error = await catchError(poor.client.chat.completions.create(question));
  expect([error.status, poor.statuses()]).toEqual([402, [402]]);
  expect(poor.answers[0]?.headers.get("x-should-retry")).toBe("false");
  const wrong = createRetryingClient(caller);
  await catchError(wrong.client.chat.completions.create({ ...question, n: 0 }));
  chat.upstream.script({ status: 400, error: { param: "temperature" } });
  await catchError(wrong.client.chat.completions.create({ ...question, temperature: 1 }));
  expect(wrong.statuses()).toEqual([400, 400]);
});

test("the SDK retries a call in progress with its idempotency key, gets the answer, and pays once", async () => {
  const own = await chat.createCaller();
  const gate = chat.upstream.gate();
  const { client, statuses, answers } = createRetryingClient(own, {
    maxRetries: 8,
    onResponse({ status }) {
      if (status === 409) gate.open();
    },
  });
  const callsBefore = chat.upstream.requests.length;
  chat.upstream.script({ beforeHead: gate });
  const headers = { "idempotency-key": "answer-once" };
  const first = own.client.chat.completions.create(question, { headers });
  await gate.reached();
  const conflict = await catchError(own.client.chat.completions.create(question, { headers }));
  expect(conflict).toBeInstanceOf(ConflictError);
  expect([conflict.code, conflict.headers?.get("retry-after")]).toEqual(["idempotency_in_progress", "1"]);
  const again = await client.chat.completions.create(question, { headers });
  expect(statuses().slice(0, 1)).toEqual([409]);
  expect(answers.at(-1)?.headers.get("idempotent-replayed")).toBe("true");
  expect(again.id).toBe((await first).id);
  expect(chat.upstream.requests.length - callsBefore).toBe(1);
  expect(await own.listCharges()).toHaveLength(1);
});

test("a client that gives up on a stream pays once the upstream accepts, which is then aborted", async () => {
  const own = await chat.createCaller();
  const gate = chat.upstream.gate();
  const abortedBefore = chat.upstream.abortedCalls().length;
  chat.upstream.script({ beforeHead: gate, beforePiece: chat.upstream.gate() });
  const waiting = own.client.chat.completions.create({ ...question, stream: true }, { timeout: 2000 });
  await expect(waiting).rejects.toBeInstanceOf(APIConnectionTimeoutError);
  gate.open();
  await chat.upstream.aborted(abortedBefore + 1);
  await own.settled();
  expect(await own.listCharges()).toMatchObject([{ items: { hung_up: 1 } }]);
});

test("a client that gave up and retries with its key gets the answer it paid for", async () => {
  const own = await chat.createCaller();
  const gate = chat.upstream.gate();
  const callsBefore = chat.upstream.requests.length;
  chat.upstream.script({ beforeHead: gate, text: "Paid once." });
  const headers = { "idempotency-key": "patience" };
  const waiting = own.client.chat.completions.create(question, { headers, timeout: 2000 });
  await expect(waiting).rejects.toBeInstanceOf(APIConnectionTimeoutError);
  gate.open();
  const { client } = createRetryingClient(own, { maxRetries: 8 });
  const answer = await client.chat.completions.create(question, { headers });
  expect(answer.choices[0]?.message.content).toBe("Paid once.");
  expect(chat.upstream.requests.length - callsBefore).toBe(1);
  expect(await own.listCharges()).toHaveLength(1);
});

test.each(["open", "anthropic", "google", "packaged"])(
  "%s: a stream that breaks becomes the SDK's error after the received part, which is charged",
  async (model) => {
    const own = await chat.createCaller();
    const { client, statuses } = createRetryingClient(own);
    chat.upstream.script({ errorAfterPieces: 2, pieces: ["one", " two", " three"] });
    const stream = await client.chat.completions.create({ ...question, model, stream: true });
    let text = "";
    const error = await catchError(
      (async () => {
        for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
      })(),
    );
    expect([text, error.code, statuses()]).toEqual(["one two", "upstream_unavailable", [200]]);
    await own.settled();
    const [charge] = await own.listCharges();
    expect(charge?.items.counted_output_tokens).toBe(2);
  },
);

test("the sandbox fails on request, in the ways that clients have to handle", async () => {
  const ask = (content: string) =>
    catchError(caller.client.chat.completions.create({ model: "sandbox-chat", messages: [{ role: "user", content }] }));
  const [busy, refused, long, down, late] = [
    await ask("Hello [[429]]"),
    await ask("Hello [[fail:content_policy]]"),
    await ask("Hello [[fail:too_long]]"),
    await ask("Hello [[503]]"),
    await ask("Hello [[timeout]]"),
  ];
  expect([busy.status, busy.headers?.get("retry-after")]).toEqual([503, "2"]);
  expect([refused.status, refused.code]).toEqual([400, "content_policy_violation"]);
  expect([long.status, long.code, long.param]).toEqual([400, "context_length_exceeded", "messages"]);
  expect([down.status, down.code]).toEqual([503, "upstream_unavailable"]);
  expect([late.status, late.code]).toEqual([503, "upstream_timeout"]);
});
