import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { APICallError, generateText, isStepCount, jsonSchema, Output, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { citySchema, clientModels, offerTool, pixel, writeClientCatalog } from "../harness/chat/client-catalog.ts";

let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeClientCatalog });
  caller = await chat.createCaller({ cash: "10000" });
});
afterAll(async () => {
  expect(chat.upstream.refusals()).toEqual([]);
  await chat[Symbol.asyncDispose]();
});

const question = "Please call weather and traffic for Paris";

/** The Vercel AI SDK, configured as its guide for compatible providers describes. */
function openVercelModel(id: string) {
  const provider = createOpenAICompatible({
    name: "sluice",
    baseURL: chat.gateway.baseUrl,
    apiKey: caller.key,
    includeUsage: true,
    supportsStructuredOutputs: true,
    fetch: chat.fetch,
  });
  return provider(id);
}

function offerVercelTools(asked: string[]) {
  const offer = (name: string) =>
    tool({
      description: `Answers with the ${name} of a city`,
      inputSchema: jsonSchema<{ city: string }>(citySchema),
      execute: async ({ city }) => {
        asked.push(`${name} of ${typeof city}`);
        return `${name} is fine`;
      },
    });
  return { weather: offer("weather"), traffic: offer("traffic") };
}

describe.each(clientModels)("Vercel AI SDK, %s", (id) => {
  test("a text, with its usage", async () => {
    const { text, usage, finishReason, response } = await generateText({
      model: openVercelModel(id),
      instructions: "Be brief.",
      prompt: "Hello",
      maxRetries: 0,
    });
    expect(text).toContain("Hello");
    expect(finishReason).toBe("stop");
    expect(usage).toMatchObject({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) });
    expect(usage.totalTokens).toBe((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0));
    expect(usage.outputTokens).toBeGreaterThan(0);
    expect(response.modelId).toBe(id);
    expect(response.id).toMatch(/^chatcmpl-/);
  });

  test("a streamed text, with its usage", async () => {
    const stream = streamText({ model: openVercelModel(id), prompt: "Hello", maxRetries: 0 });
    let text = "";
    for await (const piece of stream.textStream) text += piece;
    expect(text).toContain("Hello");
    expect(await stream.finishReason).toBe("stop");
    const { usage } = await generateText({ model: openVercelModel(id), prompt: "Hello", maxRetries: 0 });
    const { inputTokens, outputTokens } = await stream.usage;
    expect({ inputTokens, outputTokens }).toEqual({
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
    });
  });

  test("a tool loop, plain and streamed", async () => {
    const asked: string[] = [];
    const options = {
      model: openVercelModel(id),
      prompt: question,
      tools: offerVercelTools(asked),
      stopWhen: isStepCount(3),
      maxRetries: 0,
    };
    const { text, steps } = await generateText(options);
    expect(text).toContain("traffic is fine");
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
    const stream = streamText(options);
    expect(await stream.text).toContain("traffic is fine");
    expect(asked.sort()).toEqual(
      ["traffic of string", "traffic of string", "weather of string", "weather of string"].sort(),
    );
  });

  test("an object by a schema, plain and streamed", async () => {
    const output = Output.object({ schema: jsonSchema<{ city: string }>(citySchema), name: "place" });
    const options = { model: openVercelModel(id), prompt: "Which city?", output, maxRetries: 0 };
    const whole = await generateText(options);
    expect(whole.output).toEqual({ city: expect.any(String) });
    expect(await streamText(options).output).toEqual(whole.output);
  });

  test("an inline image is accepted", async () => {
    const { text } = await generateText({
      model: openVercelModel(id),
      maxRetries: 0,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Hello, what is this?" },
            { type: "file", mediaType: "image/png", data: pixel },
          ],
        },
      ],
    });
    expect(text).toContain("what is this");
  });
});

test("Vercel AI SDK: an error keeps its status and its text", async () => {
  const failing = generateText({ model: openVercelModel("none"), prompt: "Hello", maxRetries: 0 });
  const error = await failing.catch((reason: unknown) => reason);
  if (!APICallError.isInstance(error)) throw new Error("another error was expected");
  expect([error.statusCode, error.isRetryable]).toEqual([404, false]);
  expect(error.message).toContain("model");
});

test("Vercel AI SDK: reasoning and cached tokens are reported", async () => {
  const usage = { cachedInputTokens: 2 };
  chat.upstream.script({ thinking: "Let me think.", text: "Done.", usage });
  const {
    reasoningText,
    usage: told,
    text,
  } = await generateText({
    model: openVercelModel("open"),
    prompt: "Hello",
    reasoning: "high",
    maxRetries: 0,
  });
  expect([reasoningText, text]).toEqual(["Let me think.", "Done."]);
  expect(told.inputTokenDetails.cacheReadTokens).toBe(2);
  expect(told.outputTokenDetails.reasoningTokens).toBe(3);
});

function openLangChainModel(model: string, more: object = {}) {
  return new ChatOpenAI({
    model,
    apiKey: caller.key,
    configuration: { baseURL: chat.gateway.baseUrl, fetch: chat.fetch },
    maxRetries: 0,
    ...more,
  });
}

function readUsage({ usage_metadata: usage }: { usage_metadata?: unknown }) {
  const counts = (usage ?? {}) as Partial<Record<`${"input" | "output" | "total"}_tokens`, number>>;
  return { input: counts.input_tokens ?? 0, output: counts.output_tokens ?? 0, total: counts.total_tokens ?? 0 };
}

describe.each(clientModels)("LangChain, %s", (id) => {
  test("a text, with its usage", async () => {
    const message = await openLangChainModel(id, { temperature: 1 }).invoke([
      ["system", "Be brief."],
      ["human", "Hello"],
    ]);
    expect(message.text).toContain("Hello");
    const { input, output, total } = readUsage(message);
    expect([input > 0, output > 0, total]).toEqual([true, true, input + output]);
    expect(message.response_metadata).toMatchObject({ finish_reason: "stop", model_name: id });
  });

  test("a streamed text, with its usage", async () => {
    const pieces = [];
    for await (const piece of await openLangChainModel(id).stream("Hello")) pieces.push(piece);
    expect(pieces.map(({ text }) => text).join("")).toContain("Hello");
    expect(pieces.filter((piece) => readUsage(piece).total > 0)).toHaveLength(1);
  });

  test("tools are called, their results are sent back, and the model uses them", async () => {
    const model = openLangChainModel(id).bindTools([offerTool("weather"), offerTool("traffic")]);
    const first = await model.invoke(question);
    expect(first.tool_calls?.map(({ name, args }) => [name, typeof args.city])).toEqual([
      ["weather", "string"],
      ["traffic", "string"],
    ]);
    const results = (first.tool_calls ?? []).map(({ id: callId = "", name }) => ({
      role: "tool",
      tool_call_id: callId,
      content: `${name} is fine`,
    }));
    const second = await model.invoke([{ role: "user", content: question }, first, ...results]);
    expect(second.text).toContain("traffic is fine");
  });

  test("streamed tool calls are sent back unchanged with their results", async () => {
    const model = openLangChainModel(id).bindTools([offerTool("weather"), offerTool("traffic")]);
    let whole = null;
    for await (const piece of await model.stream(question)) whole = whole === null ? piece : whole.concat(piece);
    expect(whole?.tool_calls?.map(({ name }) => name)).toEqual(["weather", "traffic"]);
    const results = (whole?.tool_calls ?? []).map(({ id: callId = "", name }) => ({
      role: "tool",
      tool_call_id: callId,
      content: `${name} is fine`,
    }));
    if (whole === null) throw new Error("nothing came");
    const second = await model.invoke([{ role: "user", content: question }, whole, ...results]);
    expect(second.text).toContain("traffic is fine");
  });

  test.each(["jsonSchema", "functionCalling"] as const)("an object by a schema, method %s", async (method) => {
    const model = openLangChainModel(id).withStructuredOutput({ title: "place", ...citySchema }, { method });
    expect(await model.invoke("Which city?")).toEqual({ city: expect.any(String) });
  });
});

test("LangChain: an error keeps its status and its code", async () => {
  await expect(openLangChainModel("none").invoke("Hello")).rejects.toMatchObject({
    status: 404,
    code: "model_unavailable",
  });
});
