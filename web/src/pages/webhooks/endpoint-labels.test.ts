import { expect, test } from "vitest";
import { describeDisabled, describeEndpointStatus, describeSuccess } from "./endpoint-labels.ts";

const endpoint = {
  object: "webhook_endpoint" as const,
  id: "whe_1",
  url: "https://example.com/",
  event_types: [],
  enabled: true,
  created: 1,
};

test("an endpoint is enabled, failing or disabled with its reason", () => {
  expect(describeEndpointStatus(endpoint).name).toBe("Enabled");
  expect(describeDisabled(endpoint)).toBeNull();
  expect(describeEndpointStatus({ ...endpoint, failing_since: "2026-11-15T00:00:00Z" }).name).toBe("Failing");
  const gone = { ...endpoint, enabled: false, disabled_reason: "gone" as const, failing_since: "2026-11-15T00:00:00Z" };
  expect(describeEndpointStatus(gone).name).toBe("Disabled");
  expect(describeDisabled(gone)).toMatch(/410/);
});

test.each([
  [[], "None yet"],
  [["pending", "dropped"], "None yet"],
  [["succeeded", "succeeded", "pending"], "2/2"],
  [["succeeded", "failed", "dropped"], "1/2"],
] as const)("%j is described as %s", (statuses, words) => {
  expect(describeSuccess(statuses.map((status) => ({ status })))).toBe(words);
});
