import { describe, expect, test } from "vitest";
import { uncountableUsage } from "../contract.ts";
import {
  googleAnswer,
  googleBlocked,
  googleCallParts,
  googleError,
  googleUsage,
  writeData,
} from "./fixtures/google-answers.ts";
import {
  readDeltas,
  readMessage,
  sendEvents,
  sendJson,
  startChat,
  startVendor,
  weatherTool,
} from "./fixtures/vendor-stage.ts";

const googleCount = {
  inputTokens: 105,
  outputTokens: 50,
  cachedInputTokens: 60,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  reasoningTokens: 30,
  inputAudioTokens: 10,
  outputAudioTokens: 0,
};

describe("Google", () => {
  const upstreamModel = "gemini-3-pro";

  test("gets the request in its own format, system messages first, tool results together", async () => {
    const vendor = await startVendor("google", [sendJson(googleAnswer([{ text: "Hi" }], "STOP"))]);
    const calls = ["a", "b"].map((id) => ({
      id,
      type: "function" as const,
      function: { name: `tool_${id}`, arguments: "" },
    }));
    await startChat(vendor.chat, {
      upstreamModel,
      seed: 7,
      frequency_penalty: 0.5,
      response_format: { type: "json_object" },
      messages: [
        { role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }] },
        { role: "developer", content: "Be brief." },
        { role: "assistant", content: null, tool_calls: calls },
        { role: "tool", tool_call_id: "a", content: "1" },
        { role: "tool", tool_call_id: "b", content: [{ type: "text", text: "2" }] },
      ],
    }).over;
    const [request] = vendor.requests;
    expect(request?.path).toBe("/v1/models/gemini-3-pro:generateContent");
    expect(request?.headers["x-goog-api-key"]).toBe("sk-canary");
    const body = vendor.readBody();
    expect(body.systemInstruction).toEqual({ parts: [{ text: "Be brief." }] });
    expect(body.generationConfig).toEqual({
      maxOutputTokens: 5000,
      seed: 7,
      frequencyPenalty: 0.5,
      responseMimeType: "application/json",
    });
    expect(body.contents.map(({ role, parts }: { role: string; parts: unknown[] }) => [role, parts.length])).toEqual([
      ["user", 1],
      ["model", 2],
      ["user", 2],
    ]);
    expect(body.contents[0].parts[0]).toEqual({ inlineData: { mimeType: "audio/wav", data: "AAAA" } });
    expect(body.contents[2].parts[1].functionResponse.response.content).toBe("2");
  });

  test("complete and streamed answers are the same, with usage and nothing that reveals the vendor", async () => {
    const vendor = await startVendor("google", [
      sendJson(googleAnswer(googleCallParts, "STOP")),
      sendEvents([
        writeData(googleAnswer([{ text: "The user wants the weather.", thought: true }])),
        writeData(googleAnswer(googleCallParts.slice(1), "STOP")),
      ]),
    ]);
    const whole = await startChat(vendor.chat, { upstreamModel }).over;
    const streamed = await startChat(vendor.chat, { upstreamModel, stream: true }).over;
    expect(readMessage(whole)).toMatchObject({
      content: null,
      reasoning_content: "The user wants the weather.",
      tool_calls: [{ function: { name: "get_weather", arguments: '{"city":"Bern"}' } }],
    });
    expect(streamed.pieces.map(({ text }) => text).join("")).toBe(whole.answer?.text);
    expect(JSON.parse(streamed.pieces.at(-1)?.choices ?? "")[0].finish_reason).toBe("tool_calls");
    expect([whole.answer?.usage, streamed.usage, streamed.pieces[0]?.usage]).toEqual([
      googleCount,
      googleCount,
      googleCount,
    ]);
    expect(JSON.stringify([whole, streamed])).not.toContain("canary");
  });

  test("gets back the signature of a call, or its own placeholder for a lost one", async () => {
    const answers = Array.from({ length: 3 }, () => sendJson(googleAnswer(googleCallParts, "STOP")));
    const vendor = await startVendor("google", answers);
    const { tool_calls } = readMessage(await startChat(vendor.chat, { upstreamModel }).over) as {
      tool_calls: { id: string }[];
    };
    const [{ id } = { id: "" }] = tool_calls;
    for (const callId of [id, "call_of_another_upstream"]) {
      const call = { id: callId, type: "function" as const, function: { name: "get_weather", arguments: "{}" } };
      const messages = [
        { role: "user" as const, content: "Weather?" },
        { role: "assistant" as const, content: null, tool_calls: [call] },
        { role: "tool" as const, tool_call_id: callId, content: "Sunny" },
      ];
      await startChat(vendor.chat, { upstreamModel, messages, tools: [weatherTool] }).over;
    }
    const signatures = [1, 2].map((index) => vendor.readBody(index).contents[1].parts[0].thoughtSignature);
    expect(signatures).toEqual(["c2lnbmF0dXJlIGNhbmFyeQ==", "skip_thought_signature_validator"]);
  });

  test("a rejected prompt is a filtered answer, with the prompt's tokens", async () => {
    const vendor = await startVendor("google", [sendJson(googleBlocked), sendEvents([writeData(googleBlocked)])]);
    const whole = await startChat(vendor.chat, { upstreamModel }).over;
    const streamed = await startChat(vendor.chat, { upstreamModel, stream: true }).over;
    expect(JSON.parse(whole.answer?.choices ?? "")).toMatchObject([
      { message: { content: "" }, finish_reason: "content_filter" },
    ]);
    expect(JSON.parse(streamed.pieces.at(-1)?.choices ?? "")).toMatchObject([
      { delta: {}, finish_reason: "content_filter" },
    ]);
    for (const usage of [whole.answer?.usage, streamed.usage])
      expect(usage).toMatchObject({ inputTokens: 100, outputTokens: 0 });
    expect(JSON.stringify([whole, streamed])).not.toContain("canary");
  });

  test("an error in the middle of a stream is reported, although its package ignores it", async () => {
    const vendor = await startVendor("google", [
      sendEvents([writeData(googleAnswer([{ text: "Hello" }])), writeData(googleError(503, "UNAVAILABLE"))]),
    ]);
    const heard = await startChat(vendor.chat, { upstreamModel, stream: true }).over;
    expect([heard.error?.kind, heard.pieces.at(-1)?.text]).toEqual(["overloaded", "Hello"]);
  });

  test("a stream without a finish reason is a bad answer, although its package invents one", async () => {
    const vendor = await startVendor("google", [sendEvents([writeData(googleAnswer([{ text: "Hello" }]))])]);
    const heard = await startChat(vendor.chat, { upstreamModel, stream: true }).over;
    expect([heard.error?.kind, heard.events.at(-1)]).toEqual(["bad-answer", "error"]);
  });

  test("an exhausted quota has a retry time", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "37s" }];
    const vendor = await startVendor("google", [sendJson(googleError(429, "RESOURCE_EXHAUSTED", details), 429)]);
    const heard = await startChat(vendor.chat, { upstreamModel }).over;
    expect([heard.error?.kind, heard.error?.retryAfterMs]).toEqual(["rate-limited", 37_000]);
  });

  test("an answer that always wants to be continued ends as a bad answer", async () => {
    const { candidates, ...rest } = googleAnswer([{ text: "more" }], "CONTINUATION");
    const endless = { ...rest, candidates: [{ ...(candidates as object[])[0], continuationToken: "canary" }] };
    const vendor = await startVendor(
      "google",
      Array.from({ length: 50 }, () => sendJson(endless)),
    );
    const heard = await startChat(vendor.chat, { upstreamModel }).over;
    expect(heard.error?.kind).toBe("bad-answer");
    expect(vendor.requests).toHaveLength(8);
  });

  test("a total that is not a count makes usage uncountable", async () => {
    const lie = {
      ...googleAnswer([{ text: "Hi" }], "STOP"),
      usageMetadata: { ...googleUsage, promptTokenCount: -5, candidatesTokenCount: 1e30, cachedContentTokenCount: 1e9 },
    };
    const vendor = await startVendor("google", [sendJson(lie)]);
    const heard = await startChat(vendor.chat, { upstreamModel }).over;
    expect(heard.answer).toMatchObject({ text: "Hi", usage: uncountableUsage });
  });

  const image = { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } };
  const shown = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };

  test("an answer with only an image reaches the caller, complete and streamed, with usage", async () => {
    const answer = googleAnswer([image], "STOP");
    const vendor = await startVendor("google", [sendJson(answer), sendEvents([writeData(answer)])]);
    const whole = await startChat(vendor.chat, { upstreamModel }).over;
    expect(whole.answer).toMatchObject({ text: "", isContent: true, usage: googleCount });
    expect(readMessage(whole)).toMatchObject({ content: "", images: [shown] });
    const streamed = await startChat(vendor.chat, { upstreamModel, stream: true }).over;
    expect(readDeltas(streamed)).toContainEqual({ images: [{ index: 0, ...shown }] });
    expect(streamed.pieces.some(({ isContent }) => isContent === true)).toBe(true);
    expect(streamed.usage).toEqual(googleCount);
  });

  test("an answer that its package rejects is parsed without the rejected parts", async () => {
    const { usageMetadata: _, ...bare } = googleAnswer([{ text: "Hello" }], "STOP");
    const usageMetadata = { ...googleUsage, candidatesTokensDetails: [{ modality: "TEXT" }] };
    const vendor = await startVendor("google", [
      sendJson({ ...bare, usageMetadata }),
      sendEvents([
        writeData({ ...googleAnswer([{ text: "Hel" }]), usageMetadata }),
        writeData({ ...googleAnswer([{ text: "lo" }], "STOP"), usageMetadata }),
      ]),
    ]);
    const whole = await startChat(vendor.chat, { upstreamModel }).over;
    expect(whole.error).toBeNull();
    expect(whole.answer).toMatchObject({ text: "Hello", usage: googleCount });
    const streamed = await startChat(vendor.chat, { upstreamModel, stream: true }).over;
    expect(streamed.error).toBeNull();
    expect(streamed.pieces.map(({ text }) => text).join("")).toBe("Hello");
    expect(JSON.parse(streamed.pieces.at(-1)?.choices ?? "")).toMatchObject([{ finish_reason: "stop" }]);
    expect(streamed.usage).toEqual(googleCount);
    expect(vendor.requests).toHaveLength(2);
  });

  test("an answer that cannot be parsed says nothing about the next one", async () => {
    const vendor = await startVendor("google", [sendJson([]), sendEvents([writeData([])])]);
    for (const stream of [false, true]) {
      const { error } = await startChat(vendor.chat, { upstreamModel, stream }).over;
      expect([error?.kind, error?.isIsolated]).toEqual(["bad-answer", true]);
    }
  });
});
