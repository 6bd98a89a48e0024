import { expect, test } from "vitest";
import type { ChatRequest, ChatTool } from "../../../../src/providers/chat-request.ts";
import { checkBySchema } from "../../../../test/harness/schema-check.ts";
import { readPrompt } from "./sandbox-prompt.ts";
import { planCalls, type SandboxCall } from "./sandbox-tools.ts";

const weatherSchema = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer", minimum: 1, maximum: 7 } },
  required: ["city"],
  additionalProperties: false,
};
const weather: ChatTool = { type: "function", function: { name: "get_weather", parameters: weatherSchema } };
const stocks: ChatTool = {
  type: "function",
  function: { name: "lookup", description: "Finds the price of a share at the stock exchange" },
};
const notes: ChatTool = { type: "custom", custom: { name: "take_note" } };

function plan(question: string, rest: Partial<ChatRequest> = {}): SandboxCall[] {
  const request = { model: "sandbox", messages: [{ role: "user" as const, content: question }], ...rest };
  const calls = planCalls({ tools: [weather, stocks, notes], ...request }, readPrompt(request));
  if ("param" in calls) throw new Error(calls.message);
  return calls;
}

function names(question: string, rest: Partial<ChatRequest> = {}): string[] {
  return plan(question, rest).map(({ name }) => name);
}

test("a question that shares words with a tool's name or description calls it", () => {
  expect(names("How is the weather in Paris?")).toEqual(["get_weather"]);
  expect(names("What does a share cost, the price please?")).toEqual(["lookup"]);
  expect(names("What is the price?")).toEqual([]);
  expect(names("Hello")).toEqual([]);
});

test("a named tool is called, and shared words no longer count", () => {
  expect(names("Use lookup for the weather")).toEqual(["lookup"]);
  expect(names("Call getWeather or get_weather")).toEqual(["get_weather"]);
});

test("several named tools are called in parallel, unless that is disabled", () => {
  expect(names("Use take note and get weather")).toEqual(["get_weather", "take_note"]);
  expect(names("Use take note and get weather", { parallel_tool_calls: false })).toEqual(["get_weather"]);
});

test("context from an agent calls no tool", () => {
  const reminder = {
    type: "text" as const,
    text: "<system-reminder>\nget weather, get stock price\n</system-reminder>",
  };
  const said = { type: "text" as const, text: "What does a sluice do?" };
  const request: ChatRequest = { model: "sandbox", messages: [{ role: "user", content: [reminder, said] }] };
  expect(planCalls({ ...request, tools: [weather, stocks, notes] }, readPrompt(request))).toEqual([]);
});

test("the caller's tool choice is respected", () => {
  expect(names("How is the weather?", { tool_choice: "none" })).toEqual([]);
  expect(names("Hello", { tool_choice: "required" })).toEqual(["get_weather"]);
  expect(names("Hello", { tool_choice: { type: "function", function: { name: "lookup" } } })).toEqual(["lookup"]);
  expect(names("weather", { tool_choice: { type: "custom", custom: { name: "take_note" } } })).toEqual(["take_note"]);
});

test.each([
  { type: "function", function: { name: "lookup" } },
  { type: "function", name: "lookup" },
])("only allowed tools are called: %j", (tool) => {
  const allow = (mode: "auto" | "required"): Partial<ChatRequest> => ({
    tool_choice: { type: "allowed_tools", allowed_tools: { mode, tools: [tool] } },
  });
  expect(names("How is the weather?", allow("auto"))).toEqual([]);
  expect(names("How is the weather?", allow("required"))).toEqual(["lookup"]);
});

test("arguments are valid and taken from the prompt", () => {
  const [call] = plan("How is the weather in New York for 3 days?");
  const input: unknown = JSON.parse(call?.input ?? "");
  expect(checkBySchema(weatherSchema, input)).toBe(null);
  expect(input).toEqual({ city: "New York", days: 3 });
  expect(plan("take note: milk").map(({ type, input }) => ({ type, input }))).toEqual([
    { type: "custom", input: "take note: milk" },
  ]);
  expect(plan("lookup")[0]?.input).toBe("{}");
});

test("ids are deterministic, and differ between calls and turns", () => {
  const ids = plan("get weather, take note").map(({ id }) => id);
  expect(ids).toEqual(plan("get weather, take note").map(({ id }) => id));
  expect(new Set(ids).size).toBe(2);
  expect(ids[0]).toMatch(/^call_[0-9a-f]{24}$/);
  const later = plan("x", {
    messages: [
      { role: "user", content: "a" },
      { role: "user", content: "get weather, take note" },
    ],
  });
  expect(ids).not.toContain(later[0]?.id);
});

test("after a tool result, no tool is called", () => {
  const messages: ChatRequest["messages"] = [
    { role: "user", content: "weather" },
    { role: "tool", tool_call_id: "call_1", content: "sunny" },
  ];
  expect(names("", { messages, tool_choice: "required" })).toEqual([]);
});

test("an unsupported tool is an obstacle only if it would be called", () => {
  const strange: ChatTool = { type: "function", function: { name: "strange", parameters: { not: {} } } };
  const grammar: ChatTool = { type: "custom", custom: { name: "grammar", format: { type: "grammar" } } };
  const find = (content: string): unknown => {
    const request: ChatRequest = {
      model: "m",
      messages: [{ role: "user", content }],
      tools: [weather, strange, grammar],
    };
    return planCalls(request, readPrompt(request));
  };
  expect(find("hello")).toEqual([]);
  expect(find("strange")).toMatchObject({ param: "tools[1].function.parameters" });
  expect(find("grammar")).toMatchObject({ param: "tools[2].custom.format" });
});
