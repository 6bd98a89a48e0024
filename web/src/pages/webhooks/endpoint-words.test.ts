import { expect, test } from "vitest";
import { describeDisabled, describeEndpointState, describeSuccess } from "./endpoint-words.ts";

const endpoint = {
  object: "webhook_endpoint" as const,
  id: "whe_1",
  url: "https://example.com/",
  event_types: [],
  enabled: true,
  created: 1,
};

test("an endpoint is enabled, failing or disabled with its reason", () => {
  expect(describeEndpointState(endpoint).name).toBe("Enabled");
  expect(describeDisabled(endpoint)).toBeNull();
  expect(describeEndpointState({ ...endpoint, failing_since: "2026-11-15T00:00:00Z" }).name).toBe("Failing");
  const gone = { ...endpoint, enabled: false, disabled_reason: "gone" as const, failing_since: "2026-11-15T00:00:00Z" };
  expect(describeEndpointState(gone).name).toBe("Disabled");
  expect(describeDisabled(gone)).toMatch(/410/);
});

test.each([
  [[], "Nothing sent yet"],
  [["pending", "dropped"], "Nothing sent yet"],
  [["succeeded", "succeeded", "pending"], "All of 2"],
  [["succeeded", "failed", "dropped"], "1 of 2"],
] as const)("of %j it is said: %s", (statuses, words) => {
  expect(describeSuccess(statuses.map((status) => ({ status })))).toBe(words);
});
