import { expect, test } from "vitest";
import type { NativeRequest, NativeWire } from "../contract.ts";
import { findNativeObstacle } from "./find-native-obstacle.ts";

function ask(wire: NativeWire, body: Record<string, unknown>): NativeRequest {
  return { wire, body, headers: {}, obstacle: null, envelope: { id: "x", model: "m" } };
}

test("what clients send by default passes", () => {
  const messages = { model: "m", max_tokens: 5, messages: [], thinking: {}, context_management: {}, output_config: {} };
  const tools = [{ name: "a" }, { type: "custom" }, { type: "bash_20250124" }, { type: "text_editor_20250728" }];
  expect(findNativeObstacle(ask("messages", { ...messages, tools }))).toBeNull();
  const responses = { model: "m", input: "Hi", store: true, reasoning: {}, include: [], tools: [{ type: "function" }] };
  expect(findNativeObstacle(ask("responses", responses))).toBeNull();
});

test.for<[NativeWire, string]>([
  ["messages", "container"],
  ["messages", "speed"],
  ["messages", "mcp_servers"],
  ["messages", "of_tomorrow"],
  ["responses", "prompt"],
  ["responses", "of_tomorrow"],
])("in %s the field %s passes only if the route names it", ([wire, field]) => {
  const request = ask(wire, { [field]: "yes" });
  expect(findNativeObstacle(request)).toMatchObject({ param: field });
  expect(findNativeObstacle(request, ["other"])).toMatchObject({ param: field });
  expect(findNativeObstacle(request, [field])).toBeNull();
  for (const neutral of [null, [], "standard"]) expect(findNativeObstacle(ask(wire, { [field]: neutral }))).toBeNull();
});

test.for<[NativeWire, string, string]>([
  ["messages", "web_search_20250305", "web_search"],
  ["messages", "code_execution_20260120", "code_execution"],
  ["messages", "mcp_toolset", "mcp_toolset"],
  ["responses", "web_search_2025_08_26", "web_search"],
  ["responses", "image_generation", "image_generation"],
])("in %s the tool %s, which the vendor runs, passes only if the route names it", ([wire, type, name]) => {
  const request = ask(wire, { tools: [{ type: "custom", name: "own" }, { type }] });
  expect(findNativeObstacle(request)).toMatchObject({ param: "tools[1]" });
  expect(findNativeObstacle(request, [name])).toBeNull();
});
