import { type OpenAI, toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeCatalogOf } from "../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { pixelUrl } from "../harness/chat/client-catalog.ts";
import { canary } from "../harness/upstreams/fake-upstreams.ts";

let chat: ChatGateway;
let caller: ChatCaller;
let client: OpenAI;
beforeAll(async () => {
  chat = await openChatGateway({
    catalog: (upstream) => {
      const routes = ["open", "anthropic", "google"].map((id) => ({
        ...{ id, extra_parameters: ["files"], routes: [{ provider: id, upstream_model: `${canary}-${id}` }] },
      }));
      const blind = { id: "blind", capabilities: ["chat", "streaming"] };
      const [open] = routes;
      return writeCatalogOf(upstream, { models: [...routes, { ...blind, routes: open?.routes }] });
    },
  });
  caller = await chat.createCaller({ cash: "10000" });
  client = caller.client;
});
afterAll(async () => {
  expect(chat.upstream.refusals()).toEqual([]);
  await chat[Symbol.asyncDispose]();
});

const model = "open";

describe("counting input tokens", () => {
  test("counts what is charged without a usage report, free of charge", async () => {
    const own = await chat.createCaller();
    const input = "Tell me about sluices, locks and weirs, please.";
    const counted = await own.client.responses.inputTokens.count({ model, input, instructions: "Be short." });
    expect(counted).toMatchObject({ object: "response.input_tokens", input_tokens: expect.any(Number) });
    expect(await own.listCharges()).toEqual([]);
    chat.upstream.script({ usage: null });
    const response = await own.client.responses.create({ model, input, instructions: "Be short." });
    expect(response.usage?.input_tokens).toBe(counted.input_tokens);
  });

  test("includes tools and the conversation that the request continues", async () => {
    const { id } = await client.responses.create({ model, input: "A first message of some length." });
    const { input_tokens: alone } = await client.responses.inputTokens.count({ model, input: "Go on" });
    const continued = await client.responses.inputTokens.count({ model, input: "Go on", previous_response_id: id });
    expect(continued.input_tokens).toBeGreaterThan(alone);
    const tools = [{ type: "function" as const, name: "weather", parameters: { type: "object" }, strict: false }];
    const tooled = await client.responses.inputTokens.count({ model, input: "Go on", tools });
    expect(tooled.input_tokens).toBeGreaterThan(alone);
  });

  test("rejects what it cannot count, and unknown fields and models", async () => {
    const count = (body: object) => client.responses.inputTokens.count(body as { model: string });
    await expect(count({ model, input: "Hi", tools: [{ type: "web_search" }] })).rejects.toMatchObject({
      code: "unsupported_capability",
    });
    await expect(count({ model, input: "Hi", personality: "friendly" })).rejects.toMatchObject({
      ...{ status: 400, param: "personality" },
    });
    await expect(count({ model: "nothing", input: "Hi" })).rejects.toMatchObject({ status: 404, param: "model" });
    await expect(count({ model })).rejects.toMatchObject({ param: "input" });
  });
});

describe.each(["open", "anthropic", "google"])("compacting a conversation with %s", (id) => {
  test("returns the user's messages and a summary that continues the conversation", async () => {
    const own = await chat.createCaller();
    const input: OpenAI.Responses.ResponseInput = [
      { role: "user", content: "My name is Ada." },
      { type: "function_call", call_id: "c1", name: "save", arguments: '{"name":"Ada"}' },
      { type: "function_call_output", call_id: "c1", output: "saved" },
      { role: "assistant", content: "Hello Ada." },
    ];
    chat.upstream.script({ text: "The user is Ada; her name was saved." });
    const compacted = await own.client.responses.compact({ model: id, input, instructions: "Be exact." });
    expect(compacted).toMatchObject({ object: "response.compaction", usage: { total_tokens: expect.any(Number) } });
    expect(compacted.output).toMatchObject([
      { type: "message", role: "user", content: [{ type: "input_text", text: "My name is Ada." }] },
      { type: "compaction", encrypted_content: expect.any(String) },
    ]);
    expect(await own.listCharges()).toHaveLength(1);
    const asked = chat.upstream.requests.at(-1)?.ask;
    expect(asked?.prompt).toContain('"name":"save"');
    const next = [
      ...(compacted.output as OpenAI.Responses.ResponseInput),
      { role: "user" as const, content: "Who am I?" },
    ];
    await own.client.responses.create({ model: id, input: next });
    expect(String(chat.upstream.requests.at(-1)?.body)).toContain("her name was saved");
  });
});

describe("compacting", () => {
  test("continues a stored response, and runs once for an Idempotency-Key", async () => {
    const own = await chat.createCaller();
    const { id } = await own.client.responses.create({ model, input: "Remember the number 4711." });
    const asked = { model, previous_response_id: id };
    const headers = { "idempotency-key": "compact-once" };
    const first = await own.client.responses.compact(asked, { headers });
    expect(await own.client.responses.compact(asked, { headers })).toEqual(first);
    expect(first.output[0]).toMatchObject({ content: [{ text: "Remember the number 4711." }] });
    expect(await own.listCharges()).toHaveLength(2);
  });

  test("rejects a vendor's own compaction, unknown fields and missing responses", async () => {
    const input = [{ type: "compaction" as const, encrypted_content: "gAAAA" }];
    await expect(client.responses.create({ model, input })).rejects.toMatchObject({
      ...{ code: "unsupported_capability", param: "input[0].encrypted_content" },
    });
    const image = { context_compression: "enabled" as const };
    await expect(client.responses.compact({ model, input: "Hi", image })).rejects.toMatchObject({ param: "image" });
    await expect(client.responses.compact({ model, previous_response_id: "resp_0" })).rejects.toMatchObject({
      status: 404,
    });
  });
});

const pdf = Buffer.from("%PDF-1.4\n1 0 obj << >> endobj\ntrailer << >>\n%%EOF\n");
const pixel = Buffer.from(pixelUrl.slice(pixelUrl.indexOf(",") + 1), "base64");

describe.each(["open", "anthropic", "google"])("uploaded files with %s", (id) => {
  test("an image and a PDF are sent by their ids, and again when the response is continued", async () => {
    const image = await client.files.create({ purpose: "vision", file: await toFile(pixel, "pixel.png") });
    const file = await client.files.create({ purpose: "user_data", file: await toFile(pdf, "report.pdf") });
    const content: OpenAI.Responses.ResponseInputContent[] = [
      { type: "input_text", text: "What is this?" },
      { type: "input_image", file_id: image.id, detail: "auto" },
      { type: "input_file", file_id: file.id },
    ];
    const response = await client.responses.create({ model: id, input: [{ role: "user", content }] });
    expect(response.status).toBe("completed");
    const sent = String(chat.upstream.requests.at(-1)?.body);
    expect(sent).toContain(pdf.toString("base64"));
    expect(sent).toContain(pixel.toString("base64"));
    const { data } = await client.responses.inputItems.list(response.id);
    expect(JSON.stringify(data)).toContain(file.id);
    expect(JSON.stringify(data)).not.toContain(pdf.toString("base64"));
    await client.responses.create({ model: id, input: "And now?", previous_response_id: response.id });
    expect(String(chat.upstream.requests.at(-1)?.body)).toContain(pdf.toString("base64"));
  });

  test("an image and a PDF in the output of a tool are sent by their ids", async () => {
    const image = await client.files.create({ purpose: "vision", file: await toFile(pixel, "pixel.png") });
    const file = await client.files.create({ purpose: "user_data", file: await toFile(pdf, "report.pdf") });
    const output: OpenAI.Responses.ResponseFunctionCallOutputItemList = [
      { type: "input_text", text: "Two files" },
      { type: "input_image", file_id: image.id, detail: "auto" },
      { type: "input_file", file_id: file.id },
    ];
    const input: OpenAI.Responses.ResponseInput = [
      { role: "user", content: "Look" },
      { type: "function_call", call_id: "c1", name: "view", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output },
    ];
    await client.responses.create({ model: id, input });
    const sent = String(chat.upstream.requests.at(-1)?.body);
    for (const text of ["Two files", pixel.toString("base64"), pdf.toString("base64")]) expect(sent).toContain(text);
  });
});

describe("uploaded files", () => {
  const ask = (own: ChatCaller, asked: string, part: object) =>
    own.client.responses.create({ model: asked, input: [{ role: "user", content: [part as never] }] });

  test("are rejected before anything is on hold if the model or the part does not take them", async () => {
    const own = await chat.createCaller();
    const image = await own.client.files.create({ purpose: "vision", file: await toFile(pixel, "pixel.png") });
    const file = await own.client.files.create({ purpose: "user_data", file: await toFile(pdf, "report.pdf") });
    const bad = { status: 400 };
    await expect(ask(own, "blind", { type: "input_image", file_id: image.id })).rejects.toMatchObject(bad);
    await expect(ask(own, "blind", { type: "input_file", file_id: file.id })).rejects.toMatchObject(bad);
    const param = "input[0].content[0].file_id";
    const wrong = ask(own, model, { type: "input_image", file_id: file.id });
    await expect(wrong).rejects.toMatchObject({ ...bad, code: "invalid_file", param });
    expect(await own.listHolds()).toEqual([]);
  });

  test("of other accounts, and a vendor's own, do not exist", async () => {
    const own = await chat.createCaller();
    const file = await client.files.create({ purpose: "user_data", file: await toFile(pdf, "report.pdf") });
    for (const id of [file.id, "file-abc123"]) {
      const asked = ask(own, model, { type: "input_file", file_id: id });
      await expect(asked).rejects.toMatchObject({ status: 404, code: "file_not_found" });
    }
  });
});
