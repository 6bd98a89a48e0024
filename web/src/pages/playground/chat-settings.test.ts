import { expect, test } from "vitest";
import { readSettings, usualSettings } from "./chat-settings.ts";

const model = {
  capabilities: ["chat", "streaming", "tools", "reasoning"] as ("chat" | "streaming" | "tools" | "reasoning")[],
  limits: { max_output_tokens: 100 },
};

test("empty settings are not sent", () => {
  expect(readSettings(usualSettings, model)).toEqual({ options: {}, problems: {} });
});

test("typed numbers are parsed, with a decimal comma too", () => {
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
] as const)("%s explains the valid values: %j", (name, change, words) => {
  const { options, problems } = readSettings({ ...usualSettings, ...change }, model);
  expect(problems[name]).toContain(words);
  expect(options[name]).toBeUndefined();
});

test("the example tool is sent when tools are on and the model supports them", () => {
  const settings = { ...usualSettings, hasTools: true, effort: "high" };
  expect(readSettings(settings, model).options.tools).toMatchObject([{ function: { name: "get_weather" } }]);
  expect(readSettings(settings, { ...model, capabilities: ["chat"] }).options).toEqual({});
});
