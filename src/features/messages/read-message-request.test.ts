import { describe, expect, test } from "vitest";
import { AppError } from "../../platform/errors/app-error.ts";
import { translateError } from "../chat/index.ts";
import { type MessageModel, readMessageRequest } from "./read-message-request.ts";
import { unsignedThinkingMark } from "./thinking-mark.ts";

const model: MessageModel = { isReasoning: true, outputTokensMax: 1000, takesField: (field) => field === "top_a" };
const hello = { role: "user", content: "Hello" };
const asked = { model: "m", max_tokens: 50, messages: [hello] };
const read = (fields: object, of: MessageModel | null = model) => readMessageRequest({ ...asked, ...fields }, of);
const mark = { cache_control: { type: "ephemeral", ttl: "1h" } };
const tool = { name: "x", input_schema: { type: "object" } };
const png = { type: "base64", media_type: "image/png", data: "AAAA" };

describe("a conversation in the chat format", () => {
  test("has every block type in its place, with its cache marks", () => {
    const { request, obstacle, body } = read({
      system: [
        { type: "text", text: "Be brief." },
        { type: "text", text: "Be kind.", ...mark },
      ],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Look", ...mark },
            { type: "image", source: png },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm", signature: unsignedThinkingMark },
            { type: "text", text: "I call " },
            { type: "text", text: "two." },
            { type: "tool_use", id: "a", name: "one", input: { x: 1 } },
            { type: "tool_use", id: "b", name: "two", input: {}, ...mark },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: [{ type: "image", source: png }], ...mark },
            { type: "tool_result", tool_use_id: "b", content: "out of order", is_error: true },
            { type: "text", text: "So?" },
          ],
        },
        { role: "system", content: "Now be long." },
        { role: "assistant", content: [{ type: "redacted_thinking", data: "x" }] },
      ],
    });
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    expect(obstacle).toBeNull();
    expect(request.messages).toEqual([
      {
        role: "system",
        content: [
          { type: "text", text: "Be brief." },
          { type: "text", text: "Be kind.", ...mark },
        ],
      },
      { role: "user", content: [{ type: "text", text: "Look", ...mark }, image] },
      {
        role: "assistant",
        content: "I call two.",
        reasoning_content: "Hm",
        tool_calls: [
          { id: "a", type: "function", function: { name: "one", arguments: '{"x":1}' } },
          { id: "b", type: "function", function: { name: "two", arguments: "{}" } },
        ],
        ...mark,
      },
      { role: "tool", tool_call_id: "a", content: "The result is attached below.", ...mark },
      { role: "tool", tool_call_id: "b", content: "The tool failed.\nout of order" },
      { role: "user", content: [image, { type: "text", text: "So?" }] },
      { role: "system", content: "Now be long." },
      {
        role: "assistant",
        content: "",
        reasoning_details: [{ type: "reasoning.encrypted", data: "x", format: "anthropic-claude-v1" }],
      },
    ]);
    // A vendor would reject thinking blocks that it has not signed.
    expect(JSON.stringify(body)).not.toContain(unsignedThinkingMark);
    expect(JSON.stringify(body)).toContain("redacted_thinking");
  });

  test("has documents as files or text", () => {
    const documents = [
      { type: "document", title: "A", source: { type: "base64", media_type: "application/pdf", data: "AAAA" } },
      { type: "document", title: "B", source: { type: "text", media_type: "text/plain", data: "text" } },
      { type: "document", source: { type: "content", content: "inner" } },
      { type: "search_result", title: "C", source: "https://c", content: [{ type: "text", text: "found" }] },
    ];
    expect(read({ messages: [{ role: "user", content: documents }] }).request.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "file", file: { file_data: "data:application/pdf;base64,AAAA", filename: "A" } },
          { type: "text", text: "B\ntext" },
          { type: "text", text: "inner" },
          { type: "text", text: "C\nhttps://c\nfound" },
        ],
      },
    ]);
  });
});

describe("fields", () => {
  test.each<[name: string, fields: object, expected: object]>([
    ["max_tokens, up to the model's", { max_tokens: 5000 }, { max_tokens: 1000 }],
    [
      "sampling",
      { temperature: 0.5, top_p: 0.25, stop_sequences: ["X"] },
      { temperature: 0.5, top_p: 0.25, stop: ["X"] },
    ],
    ["the user", { metadata: { user_id: "u" } }, { user: "u" }],
    ["a tier", { service_tier: "standard_only" }, { service_tier: "default" }],
    [
      "any tool, one at a time",
      { tool_choice: { type: "any", disable_parallel_tool_use: true } },
      { tool_choice: "required", parallel_tool_calls: false },
    ],
    [
      "one tool",
      { tool_choice: { type: "tool", name: "x" } },
      { tool_choice: { type: "function", function: { name: "x" } } },
    ],
    ["a small budget", { thinking: { type: "enabled", budget_tokens: 2048 } }, { reasoning_effort: "low" }],
    ["a large budget", { thinking: { type: "enabled", budget_tokens: 31_999 } }, { reasoning_effort: "high" }],
    ["no thinking", { thinking: { type: "disabled" } }, { reasoning_effort: "none" }],
    ["an effort", { thinking: { type: "adaptive" }, output_config: { effort: "max" } }, { reasoning_effort: "max" }],
    [
      "a format",
      { output_config: { format: { type: "json_schema", schema: { type: "object" } } } },
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "output", schema: { type: "object" }, strict: true },
        },
      },
    ],
    [
      "a mark for all of it",
      { cache_control: { type: "ephemeral" } },
      { messages: [{ ...hello, cache_control: { type: "ephemeral" } }] },
    ],
    ["a field that a route names", { top_a: 1 }, { top_a: 1 }],
  ])("%s", (_name, fields, expected) => {
    const { request, obstacle } = read(fields);
    expect(request).toEqual({ model: "m", max_tokens: 50, messages: [hello], ...expected });
    expect(obstacle).toBeNull();
  });

  test.each<[param: string, fields: object]>([
    ["top_k", { top_k: 5 }],
    ["speed", { speed: "fast" }],
    ["mcp_servers", { mcp_servers: [{ type: "url" }] }],
    ["tools[0]", { tools: [{ type: "web_search_20260318", name: "web_search" }] }],
    ["tools[0].allowed_callers", { tools: [{ ...tool, allowed_callers: ["code_execution_20260521"] }] }],
    ["messages[0].content[0]", { messages: [{ role: "user", content: [{ type: "container_upload", file_id: "f" }] }] }],
  ])("%s needs an upstream with Anthropic's API", (param, fields) => {
    expect(read(fields).obstacle?.param).toBe(param);
  });

  test("a deferred tool is offered once a search has found it", () => {
    const tools = [tool, { ...tool, name: "y", defer_loading: true }, { ...tool, name: "z", defer_loading: true }];
    const found = { type: "tool_reference", tool_name: "z" };
    const use = { type: "tool_use", id: "a", name: "x", input: {} };
    const { request, obstacle } = read({
      tools,
      messages: [
        { role: "assistant", content: [use] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: [found] }] },
      ],
    });
    expect(obstacle).toBeNull();
    expect(request.tools?.map((one) => one.type === "function" && one.function.name)).toEqual(["x", "z"]);
    expect(request.messages.at(-1)).toMatchObject({ content: "The tool z can be used from now on." });
    expect(read({ tools: tools.slice(1) }).request.tools).toBeUndefined();
  });

  test("a model that does not reason gets no thinking options, in either format", () => {
    const fields = { thinking: { type: "adaptive" }, output_config: { effort: "high", format: null } };
    const { request, body } = read(fields, { ...model, isReasoning: false });
    expect(request.reasoning_effort).toBeUndefined();
    expect(body).toEqual({ ...asked, output_config: { format: null } });
  });

  test("a vendor is not sent defaults, or fields that only it could interpret", () => {
    const { body, obstacle } = read({
      speed: "standard",
      mcp_servers: [],
      diagnostics: { previous_message_id: "msg_1" },
    });
    expect(obstacle).toBeNull();
    expect(JSON.parse(JSON.stringify(body))).toEqual(asked);
  });

  test("references to files and URLs count towards the input size", () => {
    const { referencedBytes } = read({ tools: [{ type: "web_search_20260318", name: "web_search" }] });
    expect(referencedBytes).toBeGreaterThan(0);
  });

  test("a body nested too deep is rejected", () => {
    let deep: unknown = {};
    for (let level = 0; level < 70; level += 1) deep = { deep };
    const use = { type: "tool_use", id: "a", name: "x", input: deep };
    const fields = { messages: [{ role: "assistant", content: [use] }] };
    expect(() => read(fields)).toThrow(/nested more than 64 levels deep/);
  });
});

describe("paths in the caller's request", () => {
  const { places } = read({
    system: "Be brief.",
    tools: [
      { name: "hidden", input_schema: {}, defer_loading: true },
      { name: "x", input_schema: {} },
    ],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "" },
          { type: "image", source: png },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "x" },
          { type: "tool_use", id: "a", name: "x", input: {} },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] },
    ],
  });

  test.each([
    ["messages[0]", "system"],
    ["messages[0].content", "system"],
    ["messages[1].content", "messages[0].content"],
    ["messages[1].content[0].image_url.url", "messages[0].content[1].source"],
    ["messages[2].tool_calls[0].function.arguments", "messages[1].content[1].input"],
    ["messages[3].tool_call_id", "messages[2].content[0].tool_use_id"],
    ["tools[0].function.name", "tools[1].name"],
    ["tools[0].function.parameters", "tools[1].input_schema"],
    ["tool_choice.function.name", "tool_choice.name"],
    ["response_format.json_schema.schema", "output_config.format.schema"],
    ["stop", "stop_sequences"],
    ["max_completion_tokens", "max_tokens"],
    ["temperature", "temperature"],
  ])("%s is %s", (param, place) => {
    const error = new AppError("invalid_parameter", `Change ${param}, not \`${param}\`.`, { param });
    const message = `Change ${place}, not \`${place}\`.`;
    expect(translateError(error, places)).toMatchObject({ param: place, message });
  });

  test("an error's message uses them too, and keeps its other words", () => {
    const param = "messages[2].content";
    const error = new AppError("missing_parameter", "`messages[2]` needs `content`: stop, user.", { param });
    expect(translateError(error, places)).toMatchObject({
      param: "messages[1].content",
      message: "`messages[1]` needs `content`: stop, user.",
    });
    const effort = new AppError("invalid_parameter", "Wrong.", { param: "reasoning_effort" });
    expect(translateError(effort, places)).toMatchObject({ param: "thinking" });
    const { places: others } = read({ output_config: { effort: "max" } });
    expect(translateError(effort, others)).toMatchObject({ param: "output_config.effort" });
  });
});
