import { expect, test } from "vitest";
import { readSettings, usualSettings } from "./chat-settings.ts";

const model = {
  capabilities: ["chat", "streaming", "tools", "reasoning"] as ("chat" | "streaming" | "tools" | "reasoning")[],
  limits: { max_output_tokens: 100 },
};

test("what is left empty is left to the model", () => {
  expect(readSettings(usualSettings, model)).toEqual({ options: {}, problems: {} });
});

test("what is typed becomes numbers, with a comma too", () => {
  const settings = { ...usualSettings, temperature: "0,5", topP: " 1 ", tokensMax: "100", effort: "low" };
  expect(readSettings(settings, model).options).toEqual({
    temperature: 0.5,
    top_p: 1,
    max_completion_tokens: 100,
    reasoning_effort: "low",
  });
});

test.each([
  ["temperature", { temperature: "2.1" }, "from 0 to 2"],
  ["temperature", { temperature: "warm" }, "from 0 to 2"],
  ["top_p", { topP: "-0.1" }, "from 0 to 1"],
  ["max_completion_tokens", { tokensMax: "101" }, "from 1 to 100"],
  ["max_completion_tokens", { tokensMax: "1.5" }, "whole number"],
  ["tools", { hasTools: true, toolsText: "{" }, "not JSON"],
  ["tools", { hasTools: true, toolsText: "[]" }, "at least one"],
] as const)("%s is told what would be right: %j", (name, change, words) => {
  const { options, problems } = readSettings({ ...usualSettings, ...change }, model);
  expect(problems[name]).toContain(words);
  expect(options[name]).toBeUndefined();
});

test("the ready example of a tool is sent when tools are on, to models that have them", () => {
  const settings = { ...usualSettings, hasTools: true, effort: "high" };
  expect(readSettings(settings, model).options.tools).toMatchObject([{ function: { name: "get_weather" } }]);
  expect(readSettings(settings, { ...model, capabilities: ["chat"] }).options).toEqual({});
});
