// @module-tag slow
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { type VendorModel, vendorModels, writeClientCatalog } from "../harness/chat/client-catalog.ts";
import { askChat, type Heard, writeQuestion } from "../harness/chat/hear-chat.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { type Behaviour, canary, findCanary } from "../harness/upstreams/fake-upstreams.ts";

const hourMs = 60 * 60 * 1000;

let clock: TestClock;
let chat: ChatGateway;
beforeAll(async () => {
  clock = createTestClock();
  chat = await openChatGateway({ catalog: writeClientCatalog, clock });
});
// Each test starts without the failures of the previous one.
beforeEach(() => clock.advance(hourMs));
afterAll(() => chat[Symbol.asyncDispose]());

const forms = [{}, { stream: true, stream_options: { include_usage: true } }];

/** Sends a new caller's request, plain and streamed, to a vendor with this behaviour. */
async function hearBoth(model: string, behaviour: Behaviour, fields: object = {}) {
  const heard: (Heard & { paid: string[] })[] = [];
  for (const form of forms) {
    clock.advance(hourMs);
    const caller = await chat.createCaller({ cash: "100" });
    chat.upstream.script(behaviour);
    const answer = await askChat(caller, writeQuestion(model, { ...fields, ...form }));
    expect(chat.upstream.scriptsLeft()).toBe(0);
    await caller.settled();
    heard.push({ ...answer, paid: (await caller.listCharges()).map(({ paid }) => paid) });
  }
  return heard;
}

describe("the finish reason is one of OpenAI's", () => {
  const cases: [VendorModel, string, string][] = [
    ["open", "stop", "stop"],
    ["open", "length", "length"],
    ["open", "content_filter", "content_filter"],
    ["open", `${canary}_reason`, "stop"],
    ["anthropic", "end_turn", "stop"],
    ["anthropic", "stop_sequence", "stop"],
    ["anthropic", "pause_turn", "stop"],
    ["anthropic", "max_tokens", "length"],
    ["anthropic", "model_context_window_exceeded", "length"],
    ["anthropic", "refusal", "content_filter"],
    ["anthropic", `${canary}_reason`, "stop"],
    ["google", "STOP", "stop"],
    ["google", "MAX_TOKENS", "length"],
    ...["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR"].map(
      (word): [VendorModel, string, string] => ["google", word, "content_filter"],
    ),
    ["google", "OTHER", "stop"],
    ["google", "MALFORMED_FUNCTION_CALL", "stop"],
    ["google", `${canary.toUpperCase()}_REASON`, "stop"],
    ["packaged", "stop", "stop"],
    ["packaged", "length", "length"],
    ["packaged", "content_filter", "content_filter"],
    ["packaged", `${canary}_reason`, "stop"],
  ];
  test.each(cases)("%s: %s is %s", async (model, finishReason, told) => {
    for (const heard of await hearBoth(model, { text: "Some text.", finishReason })) {
      expect([heard.status, heard.text, heard.finishReasons]).toEqual([200, "Some text.", [told]]);
    }
  });

  test.each(vendorModels)("%s: an answer with tool calls ends with the reason tool_calls", async (model) => {
    const toolCalls = [{ name: "weather", fragments: ['{"city":', '"Paris"}'] }];
    const tool = { type: "function", function: { name: "weather", parameters: { type: "object" } } };
    for (const heard of await hearBoth(model, { toolCalls }, { tools: [tool] })) {
      expect(heard.finishReasons).toEqual(["tool_calls"]);
    }
  });
});

test.each(["anthropic", "google", "packaged"])("%s: the vendor's own tool call ids are not exposed", async (model) => {
  const toolCalls = [{ id: `toolu_${canary}_1`, name: "weather", fragments: ["{}"] }];
  const tool = { type: "function", function: { name: "weather", parameters: { type: "object" } } };
  for (const { bodies } of await hearBoth(model, { toolCalls }, { tools: [tool] })) {
    expect(JSON.stringify(bodies)).toMatch(/"id":"call_[0-9a-f]{24}/);
    expect(findCanary(bodies)).toBeNull();
  }
});

describe("the vendor's token counts are reported and charged", () => {
  const counts = { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, reasoningTokens: 5 };
  test.each(vendorModels)("%s", async (model) => {
    const behaviour = { usage: { ...counts, cacheWriteTokens: model === "google" ? 0 : 10 } };
    for (const { usage, paid } of await hearBoth(model, behaviour)) {
      expect(usage).toEqual({
        prompt_tokens: 100,
        completion_tokens: 20,
        total_tokens: 120,
        prompt_tokens_details: {
          cached_tokens: 40,
          // The common interface of packages for OpenAI-compatible vendors does not report it.
          cache_write_tokens: model === "open" || model === "anthropic" ? 10 : 0,
          audio_tokens: 0,
        },
        completion_tokens_details: {
          reasoning_tokens: 5,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
        charge: "0.12",
        cache_saving: "0.02",
      });
      expect(paid).toEqual(["0.12"]);
    }
  });
});

describe("an answer that the vendor blocks is filtered, not failed, and costs the reported usage", () => {
  test.each(vendorModels)("%s", async (model) => {
    for (const heard of await hearBoth(model, { isBlocked: true, usage: { inputTokens: 100, outputTokens: 0 } })) {
      expect([heard.status, heard.text, heard.finishReasons, heard.error]).toEqual([200, "", ["content_filter"], null]);
      expect([heard.usage?.charge, heard.paid]).toEqual(["0.10", ["0.10"]]);
    }
  });
});

describe("the vendor's own fields are not exposed", () => {
  test.each(vendorModels)("%s", async (model) => {
    const [whole, streamed] = await hearBoth(model, { hasVendorFields: true, text: "Some text.", thinking: "Hm." });
    const [answer = {}] = whole?.bodies ?? [];
    expect(Object.keys(answer).sort()).toEqual(["choices", "created", "id", "model", "object", "usage"]);
    expect(Object.keys(answer.choices?.[0] ?? {}).sort()).toEqual(["finish_reason", "index", "logprobs", "message"]);
    expect(Object.keys(answer.choices?.[0]?.message ?? {}).sort()).toEqual([
      "content",
      "reasoning_content",
      "refusal",
      "role",
    ]);
    for (const chunk of streamed?.bodies ?? []) {
      expect(Object.keys(chunk).sort()).toEqual(["choices", "created", "id", "model", "object", "usage"]);
      for (const choice of chunk.choices ?? []) {
        const known = ["delta", "finish_reason", "index", "logprobs"];
        expect(Object.keys(choice).filter((key) => !known.includes(key))).toEqual([]);
        const parts = ["role", "content", "refusal", "reasoning_content"];
        expect(Object.keys(choice.delta ?? {}).filter((key) => !parts.includes(key))).toEqual([]);
      }
    }
  });
});

type Told = readonly [status: number, code: string];
const rejected: Told = [400, "invalid_parameter"];
const tooLong: Told = [400, "context_length_exceeded"];
const refused: Told = [400, "content_policy_violation"];
const unavailable: Told = [503, "upstream_unavailable"];
const timedOut: Told = [503, "upstream_timeout"];

/** Every response of a vendor that is not an answer: none is charged, and none is shown to the caller. */
async function expectTold(model: string, behaviour: Behaviour, [status, code]: Told): Promise<Heard[]> {
  const both = await hearBoth(model, behaviour);
  for (const heard of both) {
    expect([heard.status, heard.error?.code, heard.paid]).toEqual([status, code, []]);
    expect(heard.error?.message).not.toMatch(/upstream|vendor|http|anthropic|gemini|google|openai/i);
    expect(heard.headers.get("retry-after") !== null).toBe(status === 503);
  }
  return both;
}

describe.each(vendorModels)("an error of %s becomes one of ours", (model) => {
  test.each<[number, Told]>([
    [400, rejected],
    [401, unavailable],
    [402, unavailable],
    [403, unavailable],
    [408, timedOut],
    [429, unavailable],
    [500, unavailable],
    [502, unavailable],
    [503, unavailable],
    [529, unavailable],
  ])("status %d", async (status, told) => {
    await expectTold(model, { status }, told);
  });

  test("an HTML page", async () => {
    const body = `<html><title>502 Bad Gateway</title>${canary}</html>`;
    await expectTold(model, { status: 502, contentType: "text/html", body }, unavailable);
  });

  test("a redirect, which is not followed", async () => {
    const callsBefore = chat.upstream.requests.length;
    await expectTold(model, { redirectTo: `${chat.upstream.url}/${canary}` }, unavailable);
    expect(chat.upstream.requests.length - callsBefore).toBe(2);
  });

  test("a connection that ends or is reset before any response", async () => {
    await expectTold(model, { cut: "before-head" }, unavailable);
    await expectTold(model, { isReset: true }, unavailable);
  });

  test("the vendor's Retry-After is passed on", async () => {
    const behaviour = { status: 429, headers: { "retry-after": "7" }, retryDelay: "7s" };
    for (const { headers } of await expectTold(model, behaviour, unavailable)) {
      expect(headers.get("retry-after")).toBe("7");
    }
  });
});

describe("vendor-specific error messages", () => {
  const context = { code: "context_length_exceeded", message: "This model's maximum context length is 8 tokens." };
  test.each<[VendorModel, number, NonNullable<Behaviour["error"]>, Told]>([
    ["open", 400, context, tooLong],
    ["packaged", 400, context, tooLong],
    ["anthropic", 400, { message: "prompt is too long: 250000 tokens > 200000 maximum" }, tooLong],
    ["google", 400, { message: "The input token count exceeds the maximum number of tokens allowed." }, tooLong],
    ["open", 400, { code: "content_filter", message: "Filtered." }, refused],
    ["packaged", 400, { code: "content_filter", message: "Filtered." }, refused],
    ["anthropic", 400, { message: "Output blocked by content filtering policy" }, refused],
    ["open", 429, { code: "insufficient_quota", message: "You exceeded your current quota." }, unavailable],
    ["packaged", 429, { code: "insufficient_quota", message: "You exceeded your current quota." }, unavailable],
    ["anthropic", 400, { message: "Your credit balance is too low to access the API." }, unavailable],
    ["google", 400, { message: "API key not valid. Please pass a valid API key." }, unavailable],
    ["anthropic", 413, {}, tooLong],
    ["anthropic", 404, {}, unavailable],
    ["google", 404, {}, unavailable],
    ["open", 404, { code: "model_not_found", message: "The model does not exist." }, unavailable],
    ["packaged", 404, { code: "model_not_found", message: "The model does not exist." }, unavailable],
    ["open", 422, {}, rejected],
    ["anthropic", 504, {}, timedOut],
    ["google", 504, {}, timedOut],
    ["google", 400, { type: "FAILED_PRECONDITION", message: "User location is not supported." }, unavailable],
  ])("%s, %d: %j", async (model, status, error, told) => {
    await expectTold(model, { status, error }, told);
  });

  // Azure's error for a deployment name that the operator mistyped.
  test("open: a missing model is an internal error, in every wording", async () => {
    const error = { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." };
    await expectTold("open", { status: 404, error }, unavailable);
  });

  test.each<[VendorModel, NonNullable<Behaviour["error"]>, string]>([
    ["open", { message: "Bad.", param: "temperature" }, "temperature"],
    ["anthropic", { message: "top_p: too large" }, "top_p"],
  ])("%s: the error names the field at fault if the caller sent it: %j", async (model, error, param) => {
    // The canary comes before the message; a real vendor starts with the field.
    const body =
      model === "anthropic"
        ? { body: JSON.stringify({ type: "error", error: { type: "invalid_request_error", ...error } }) }
        : {};
    for (const heard of await expectTold(model, { status: 400, error, ...body }, rejected)) {
      expect(heard.error?.param).toBe(param);
    }
  });

  test("a field that only the vendor has is not named", async () => {
    for (const heard of await expectTold("open", { status: 400, error: { param: `${canary}.engine` } }, rejected)) {
      expect(heard.error?.param).toBeNull();
    }
  });
});

describe.each(vendorModels)("a malformed answer of %s", (model) => {
  test("counts as a failed call when it is not streamed", async () => {
    for (const behaviour of [{ isMalformed: true }, { body: "{}" }, { body: "[]" }, { body: "null" }, { body: "" }]) {
      clock.advance(hourMs);
      const caller = await chat.createCaller();
      chat.upstream.script(behaviour);
      const heard = await askChat(caller, writeQuestion(model));
      expect([heard.status, heard.error?.code]).toEqual([503, "upstream_unavailable"]);
      expect(await caller.listCharges()).toEqual([]);
    }
  });

  test("ends a broken stream with an error, and the received part is charged", async () => {
    const cut: Behaviour = { cut: { afterPieces: 2 }, pieces: ["one", " two", " three"] };
    for (const behaviour of [cut, { hasNoFinish: true, hasNoDone: true, pieces: ["one", " two"] }]) {
      clock.advance(hourMs);
      const caller = await chat.createCaller();
      chat.upstream.script(behaviour);
      const heard = await askChat(caller, writeQuestion(model, { stream: true }));
      expect([heard.status, heard.text, heard.isDone]).toEqual([200, "one two", false]);
      expect(heard.error?.code).toBe("upstream_unavailable");
      await caller.settled();
      const [charge] = await caller.listCharges();
      expect(charge?.items.counted_output_tokens).toBe(2);
    }
  });
});
