import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repositoryDir } from "../harness/repository-files.ts";
import { startGateway } from "../harness/test-gateway.ts";

type Operation = {
  operationId?: string;
  "x-stability"?: string;
  security?: unknown;
  responses: Record<string, unknown>;
};

test("the served OpenAPI document is the committed one, needs no key, and names the address it is served at", async () => {
  await using gateway = await startGateway({ settings: { base_url: "https://ai.example.com/v1" } });
  const served = await (await fetch(`${gateway.baseUrl}/openapi.json`)).json();
  const committed = JSON.parse(readFileSync(join(repositoryDir, "docs/api/openapi.json"), "utf8"));
  expect(served).toEqual({ ...committed, servers: [{ url: "https://ai.example.com/v1" }] });
});

test("every operation has a name, a stability, a key and its errors", () => {
  const { openapi, paths } = JSON.parse(readFileSync(join(repositoryDir, "docs/api/openapi.json"), "utf8"));
  expect(openapi).toBe("3.1.0");
  const operations = Object.values<Record<string, Operation>>(paths).flatMap((path) => Object.values(path));
  expect(operations.length).toBeGreaterThan(0);
  for (const operation of operations) {
    expect(operation.operationId).toMatch(/^[a-z]+[A-Za-z]+$/);
    expect(operation["x-stability"]).toMatch(/^(beta|preview)$/);
    expect(operation.security).toEqual([{ api_key: [] }]);
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["401", "500", "503"]));
    expect(Object.keys(operation.responses).join()).toMatch(/20[0-2]/);
  }
});
