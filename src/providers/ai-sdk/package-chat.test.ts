import { describe, expect, test } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { createPackageChat } from "./create-ai-sdk-chat.ts";
import { writeData } from "./fixtures/google-answers.ts";
import { readMessage, sendEvents, sendJson, startChat, startVendor } from "./fixtures/vendor-stage.ts";

describe("any other package", () => {
  const answer = {
    id: "chatcmpl-canary",
    object: "chat.completion",
    model: "canary",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 9, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } },
  };

  test("is found by its name, loaded by the first call, and called with its own options", async () => {
    const vendor = await startVendor("compatible", [sendJson(answer)]);
    const schema = { type: "object", properties: {} };
    const heard = await startChat(vendor.chat, {
      upstreamModel: "m1",
      reasoning_effort: "low",
      response_format: { type: "json_schema", json_schema: { name: "x", schema } },
    }).over;
    expect(vendor.requests[0]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: "Bearer sk-canary" },
    });
    expect(vendor.readBody()).toMatchObject({
      model: "m1",
      max_tokens: 5000,
      reasoning_effort: "low",
      response_format: { json_schema: { schema } },
    });
    expect(readMessage(heard)).toMatchObject({ content: "Hi" });
    expect(heard.answer?.usage).toMatchObject({ inputTokens: 9, outputTokens: 3, cachedInputTokens: 4 });
    expect(JSON.stringify(heard)).not.toContain("canary");
  });

  test("streams, reports usage, and its errors are classified", async () => {
    const chunk = (choice: object, more = {}) =>
      writeData({ id: "canary", model: "canary", choices: [choice], ...more });
    const call = {
      index: 0,
      id: "call_canary",
      type: "function",
      function: { name: "get_weather", arguments: '{"a"' },
    };
    const vendor = await startVendor("compatible", [
      sendEvents([
        chunk({ index: 0, delta: { role: "assistant", content: "Hi" } }),
        chunk({ index: 0, delta: { tool_calls: [call] } }),
        chunk({ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: ":1}" } }] } }),
        chunk(
          { index: 0, delta: {}, finish_reason: "tool_calls" },
          { usage: { prompt_tokens: 9, completion_tokens: 3 } },
        ),
        "data: [DONE]\n\n",
      ]),
      sendEvents([writeData({ error: { message: "canary", type: "insufficient_quota" } })]),
    ]);
    const heard = await startChat(vendor.chat, { stream: true }).over;
    expect(vendor.readBody().stream_options).toEqual({ include_usage: true });
    expect(heard.pieces.map(({ text }) => text).join("|")).toBe('|Hi|get_weather|{"a"|:1}|');
    expect(heard.usage).toMatchObject({ inputTokens: 9, outputTokens: 3 });
    expect(JSON.stringify(heard)).not.toContain("canary");
    expect((await startChat(vendor.chat, { stream: true }).over).error?.kind).toBe("out-of-credit");
  });

  test("counts that it omits are found in the vendor's own usage", async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12, num_cached_tokens: 5 };
    const end = { id: "canary", model: "canary", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage };
    const vendor = await startVendor("compatible", [
      sendJson({ ...answer, usage }),
      sendEvents([
        writeData({ ...end, choices: [{ index: 0, delta: { content: "Hi" } }], usage: null }),
        writeData(end),
        "data: [DONE]\n\n",
      ]),
    ]);
    const counted = { inputTokens: 9, outputTokens: 3, cachedInputTokens: 5 };
    expect((await startChat(vendor.chat, {}).over).answer?.usage).toMatchObject(counted);
    expect((await startChat(vendor.chat, { stream: true }).over).usage).toMatchObject(counted);
  });

  test.for(["@ai-sdk/not-installed", "../create-ai-sdk-chat.ts", "node:fs"])(
    "that is missing is reported to the operator: %s",
    (packageName) => {
      const options = { baseUrl: undefined, headers: {}, clock: systemClock, fetchImage: () => Promise.reject() };
      expect(() => createPackageChat({ ...options, packagesFolder: null, packageName })).toThrow(
        /not installed|not a package name/,
      );
    },
  );

  test("that is not a provider fails its calls with the reason", async () => {
    const vendor = await startVendor("anthropic", []);
    const chat = createPackageChat({
      packageName: "undici",
      packagesFolder: null,
      baseUrl: vendor.serverUrl,
      headers: {},
      clock: systemClock,
      fetchImage: () => Promise.reject(),
    });
    const heard = await startChat(chat).over;
    await chat.close();
    expect(heard.error).toMatchObject({ kind: "misconfigured", message: expect.stringContaining("undici") });
  });
});
