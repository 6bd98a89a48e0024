import { readFileSync } from "node:fs";
import { join } from "node:path";
import { validate } from "@scalar/openapi-parser";
import { expect, test } from "vitest";
import { repositoryDir } from "../harness/repository-files.ts";
import { checkBySchema } from "../harness/schema-check.ts";
import { startGateway } from "../harness/test-gateway.ts";

type Content = Record<string, { schema: object; example?: unknown }>;

type Operation = {
  operationId?: string;
  parameters?: { in: string; name: string; example?: string; schema: object }[];
  requestBody?: { required?: boolean; content: Content };
  "x-stability"?: string;
  security?: unknown;
  responses: Record<string, { content?: Content }>;
};

test("the served OpenAPI document is the committed one, needs no key, and names its own server URL", async () => {
  await using gateway = await startGateway({ settings: { base_url: "https://ai.example.com/v1" } });
  const served = await (await fetch(`${gateway.baseUrl}/openapi.json`)).json();
  const committed = JSON.parse(readFileSync(join(repositoryDir, "docs/api/openapi.json"), "utf8"));
  expect(served).toEqual({ ...committed, servers: [{ url: "https://ai.example.com/v1" }] });
});

test.each(["openapi.json", "console-openapi.json"])("%s is valid OpenAPI 3.1", async (file) => {
  const document = JSON.parse(readFileSync(join(repositoryDir, "docs/api", file), "utf8"));
  expect(await validate(document)).toMatchObject({ valid: true, version: "3.1", errors: [] });
  // Internal extensions, or keywords of older OpenAPI versions.
  const left = [...JSON.stringify(document).matchAll(/"(x-answers|x-optional-body|nullable)":/g)];
  expect(left.map(([, name]) => name)).toEqual([]);
});

test("every content type besides JSON is described correctly, with its headers", () => {
  const { paths, webhooks } = JSON.parse(readFileSync(join(repositoryDir, "docs/api/openapi.json"), "utf8"));
  const listTypes = (path: string, method: string, status: number) =>
    Object.keys(paths[path][method].responses[status].content);
  const sounds = ["mpeg", "opus", "aac", "flac", "wav", "pcm"].map((name) => `audio/${name}`);
  expect(listTypes("/audio/speech", "post", 200)).toEqual([...sounds, "text/event-stream"]);
  expect(listTypes("/files/{file_id}/content", "get", 206)).toContain("image/*");
  expect(listTypes("/chat/completions", "post", 200)).toEqual(["application/json", "text/event-stream"]);
  expect(listTypes("/tasks/{task_id}/events", "get", 200)).toEqual(["text/event-stream"]);
  expect(listTypes("/ledger", "get", 200)).toEqual(["application/json", "text/csv"]);
  expect(paths["/tasks/{task_id}/cancel"].post.requestBody.required).toBe(false);
  expect(Object.keys(paths["/tasks/{task_id}"].get.responses[304].headers)).toContain("etag");
  expect(Object.keys(webhooks)).toEqual(["task.succeeded", "task.failed", "task.canceled", "task.expired"]);
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

test("every operation has an example of its request and of every text response, each valid by its schema", () => {
  const { paths, components } = JSON.parse(readFileSync(join(repositoryDir, "docs/api/openapi.json"), "utf8"));
  const operations = Object.values<Record<string, Operation>>(paths).flatMap((path) => Object.values(path));
  const faults = operations.flatMap((operation) =>
    [
      ...(operation.parameters ?? []).flatMap((parameter) => findParameterFault(parameter)),
      ...(operation.requestBody?.required === false ? [] : findContentFaults(operation.requestBody?.content ?? {})),
      ...Object.entries(operation.responses)
        .filter(([status]) => Number(status) < 400)
        .flatMap(([status, { content = {} }]) => findContentFaults(content).map((fault) => `${status} ${fault}`)),
    ].map((fault) => `${operation.operationId}: ${fault}`),
  );
  const errors = Object.entries<{ content: Content }>(components.responses);
  const errorFaults = errors.flatMap(([name, { content }]) =>
    findContentFaults(content).map((fault) => `${name}: ${fault}`),
  );
  expect([...faults, ...errorFaults]).toEqual([]);
  expect(errors.length).toBeGreaterThan(10);
});

test("a missing or invalid example is reported", () => {
  const schema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
  expect(findContentFaults({ "application/json": { schema } })).toEqual(["application/json has no example"]);
  expect(findContentFaults({ "application/json": { schema, example: { id: 1 } } })).toEqual([
    "application/json is untrue: data/id must be string",
  ]);
  expect(findContentFaults({ "audio/mpeg": { schema: {} } })).toEqual([]);
});

/** Binary content has no example. */
function findContentFaults(content: Content): string[] {
  return Object.entries(content)
    .filter(([type]) => /^(application\/json|multipart\/form-data|text\/[a-z-]+)$/.test(type))
    .flatMap(([type, { schema, example }]) => {
      if (example === undefined) return [`${type} has no example`];
      const untruth = checkBySchema(schema, example);
      return untruth === null ? [] : [`${type} is untrue: ${untruth}`];
    });
}

function findParameterFault({
  in: place,
  name,
  example,
  schema,
}: NonNullable<Operation["parameters"]>[number]): string[] {
  if (place === "path" && example === undefined) return [`the parameter ${name} has no example`];
  const isText = "type" in schema && schema.type === "string";
  const untruth = isText && example !== undefined ? checkBySchema(schema, example) : null;
  return untruth === null ? [] : [`the example of ${name} is untrue: ${untruth}`];
}
