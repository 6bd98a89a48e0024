import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { APIError } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nano } from "../../src/lib/money.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { pixel, writeClientCatalog } from "../harness/chat/client-catalog.ts";

const siteUrl = "http://localhost:4242";

let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  chat = await openChatGateway({ catalog: writeClientCatalog });
  caller = await chat.createCaller({ cash: "1000" });
});
afterAll(() => chat[Symbol.asyncDispose]());

const hello = [{ role: "user" as const, content: "Hello" }];
const question = { model: "open", messages: hello };

function openClient(path: string, { key }: { key: string } = caller): OpenAI {
  return new OpenAI({ apiKey: key, baseURL: chat.gateway.siteUrl + path, fetch: chat.fetch, maxRetries: 0 });
}

function openAnthropic(path: string): Anthropic {
  return new Anthropic({
    apiKey: caller.key,
    baseURL: chat.gateway.siteUrl + path,
    fetch: chat.fetch,
    maxRetries: 0,
  });
}

async function catchError(promise: Promise<unknown>): Promise<APIError | InstanceType<typeof Anthropic.APIError>> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof APIError || error instanceof Anthropic.APIError) return error;
  throw new Error(`expected an error of the API, not ${String(error)}`);
}

describe("a wrong base URL names the right one", () => {
  test.each(["", "/v1/v1", "/api/v1", "/api", "/openai/v1", "/v1/chat/completions"])("OpenAI SDK, %j", async (path) => {
    const error = await catchError(openClient(path).chat.completions.create(question));
    expect(error).toMatchObject({ status: 404, code: "not_found", type: "invalid_request_error" });
    expect(error.message).toContain(
      `Set your client's base URL to ${siteUrl}/v1: the endpoint is \`/v1/chat/completions\`.`,
    );
  });

  test("OpenAI SDK, another endpoint", async () => {
    const error = await catchError(openClient("/v1/v1").models.retrieve("open"));
    expect(error.message).toContain("the endpoint is `/v1/models/open`.");
  });

  test.each(["/v1", "/v1/messages", "/anthropic"])("Anthropic SDK, %j: in Anthropic's form", async (path) => {
    const error = await catchError(openAnthropic(path).messages.create({ ...question, max_tokens: 10 }));
    expect(error).toMatchObject({
      status: 404,
      error: { type: "error", error: { type: "not_found_error", code: "not_found" } },
    });
    expect(error.message).toContain(
      `Set your client's base URL to ${siteUrl} (without \`/v1\`): the endpoint is \`/v1/messages\`.`,
    );
  });

  test.each(["/v1/chat/completions/", "//v1/chat/completions", "/v1//chat/completions"])(
    "an extra slash: %s",
    async (path) => {
      const response = await chat.fetch(chat.gateway.siteUrl + path, { method: "POST" });
      const { error } = (await response.json()) as { error: { message: string; code: string } };
      expect([response.status, error.code]).toEqual([404, "not_found"]);
      expect(error.message).toBe(
        "There is nothing at this path. Remove the extra slash: the endpoint is `/v1/chat/completions`.",
      );
    },
  );

  test("a path of the site is not a client's", async () => {
    const response = await chat.fetch(`${chat.gateway.siteUrl}/console/api/v1/models`);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toBe("There is nothing at this path.");
  });
});

describe("a mistyped model gets the nearest names that the key can use", () => {
  test("with any key", async () => {
    const error = await catchError(openClient("/v1").chat.completions.create({ ...question, model: "sandbox-caht" }));
    expect(error).toMatchObject({ status: 404, code: "model_unavailable", param: "model" });
    expect(error.message).toMatch(
      /There is no model `sandbox-caht`\. The nearest names are `sandbox-chat`, `.+`, `.+`\./,
    );
  });

  test("with a vendor's prefix", async () => {
    const error = await catchError(openClient("/v1").chat.completions.create({ ...question, model: "vendor/google" }));
    expect(error.message).toContain("The nearest names are `google`, ");
  });

  test("with a key for one model, that one only", async () => {
    const narrow = await chat.createCaller({ modelIds: ["google"] });
    const error = await catchError(openClient("/v1", narrow).chat.completions.create({ ...question, model: "opne" }));
    expect(error.message).toContain("There is no model `opne`. The nearest names are `google`. `GET /v1/models`");
  });

  test("in Anthropic's form", async () => {
    const error = await catchError(
      openAnthropic("").messages.create({ model: "anthropci", max_tokens: 10, messages: hello }),
    );
    expect(error).toMatchObject({ status: 404, error: { error: { type: "not_found_error" } } });
    expect(error.message).toContain("The nearest names are `anthropic`, ");
  });
});

describe("an unknown field gets the field that was meant", () => {
  test.each<[field: string, meant: string]>([
    ["temprature", "temperature"],
    ["maxTokens", "max_tokens"],
    ["max_output_tokens", "max_tokens"],
    ["stop_sequences", "stop"],
    ["system", "messages"],
  ])("chat, %s", async (field, meant) => {
    const error = await catchError(openClient("/v1").chat.completions.create({ ...question, [field]: 1 }));
    expect(error).toMatchObject({ status: 400, code: "unknown_parameter", param: field });
    expect(error.message).toContain(`\`${field}\` is not a field of this endpoint. Did you mean \`${meant}\`?`);
  });

  test("in a message", async () => {
    const messages = [{ ...hello[0], nmae: "Ann" }] as unknown as typeof hello;
    const error = await catchError(openClient("/v1").chat.completions.create({ ...question, messages }));
    expect(error).toMatchObject({ param: "messages[0].nmae" });
    expect(error.message).toContain("Did you mean `name`?");
  });

  test.each<[field: string, meant: string]>([
    ["max_tokens", "max_output_tokens"],
    ["max_output_token", "max_output_tokens"],
    ["messages", "input"],
  ])("Responses, %s", async (field, meant) => {
    const error = await catchError(openClient("/v1").responses.create({ model: "open", input: "Hi", [field]: 1 }));
    expect(error).toMatchObject({ status: 400, code: "unknown_parameter", param: field });
    expect(error.message).toContain(`Did you mean \`${meant}\`?`);
  });

  test.each<[field: string, meant: string]>([
    ["max_completion_tokens", "max_tokens"],
    ["stop", "stop_sequences"],
    ["toolChoice", "tool_choice"],
  ])("Messages, %s", async (field, meant) => {
    const error = await catchError(openAnthropic("").messages.create({ ...question, max_tokens: 10, [field]: 1 }));
    expect(error).toMatchObject({ status: 400, error: { error: { type: "invalid_request_error" } } });
    expect(error.message).toContain(`Did you mean \`${meant}\`?`);
  });

  test("an unlike name gets no suggestion", async () => {
    const error = await catchError(openClient("/v1").chat.completions.create({ ...question, ["x".repeat(5000)]: 1 }));
    expect(error.message).toMatch(/is not a field of this endpoint\.$/);
  });

  test("a query parameter too", async () => {
    const response = await chat.gateway.get("/models?typ=chat", caller.key);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toBe("`typ` is not a query parameter of this endpoint. Did you mean `type`?");
  });
});

describe("without balance", () => {
  const missing = /Add \d+\.\d+ USD at http:\/\/localhost:4242\/console\/billing to continue\.$/;

  test("the error has the missing amount and the page to add it", async () => {
    const poor = await chat.createCaller({ cash: "0.01" });
    const error = await catchError(openClient("/v1", poor).chat.completions.create(question));
    expect(error).toMatchObject({ status: 402, code: "insufficient_balance" });
    expect(error.message).toMatch(missing);
  });

  test("a large request is refused before it is read, with the same page", async () => {
    const empty = await chat.createCaller({ cash: "0" });
    const messages = [{ role: "user" as const, content: "x".repeat(200_000) }];
    const error = await catchError(openClient("/v1", empty).chat.completions.create({ ...question, messages }));
    expect(error.message).toContain("Add credit at http://localhost:4242/console/billing to continue.");
  });

  test("a key's budget names the page of keys", async () => {
    const bound = await chat.createCaller({ budget: { amount: nano(1n), period: "total" } });
    const error = await catchError(openClient("/v1", bound).chat.completions.create(question));
    expect(error).toMatchObject({ status: 402, code: "key_budget_exceeded" });
    expect(error.message).toMatch(/Raise it by \d+\.\d+ USD at http:\/\/localhost:4242\/console\/keys to continue\.$/);
  });
});

describe("an image in base64 instead of a URL", () => {
  const remedy = "Put `data:image/png;base64,` before it to make it a data URL.";
  // Longer than any URL.
  const long = pixel.replaceAll("=", "").padEnd(20_000, "A");

  test.each([pixel, long])("chat", async (url) => {
    const content = [{ type: "image_url" as const, image_url: { url } }];
    const error = await catchError(
      openClient("/v1").chat.completions.create({ ...question, messages: [{ role: "user", content }] }),
    );
    expect(error).toMatchObject({ status: 400, code: "invalid_url", param: "messages[0].content[0].image_url.url" });
    expect(error.message).toContain(remedy);
  });

  test("Responses", async () => {
    const content = [{ type: "input_image" as const, image_url: pixel, detail: "auto" as const }];
    const error = await catchError(
      openClient("/v1").responses.create({ model: "open", input: [{ role: "user", content }] }),
    );
    expect(error).toMatchObject({ status: 400, code: "invalid_url", param: "input[0].content[0].image_url" });
    expect(error.message).toContain(remedy);
  });
});
