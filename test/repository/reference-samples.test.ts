import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { commandTable } from "../../packages/cli/src/command-table.ts";
import { parseMarkdown } from "../../web/src/pages/guide/parse-document.ts";
import { listDocsEntries, presentReference } from "../../web/src/pages/reference/build/present-reference.ts";
import { repositoryDir } from "../harness/repository-files.ts";

const read = (name: string): string => readFileSync(join(repositoryDir, "docs/api", name), "utf8");
const errorsPage = parseMarkdown(read("errors.md"));
const areas = presentReference(JSON.parse(read("openapi.json")), errorsPage);
const operations = areas.flatMap((area) => area.operations);

test("every operation has a sample in curl, Python and TypeScript, and the clients' own APIs use the clients", () => {
  expect(operations.length).toBeGreaterThan(60);
  for (const { id, samples } of operations) {
    const ids = samples.map((sample) => sample.id);
    expect(ids.slice(0, 3), id).toEqual(["curl", "python", "typescript"]);
  }
  const findSample = (id: string, language: string): string =>
    operations.find((operation) => operation.id === id)?.samples.find((sample) => sample.id === language)?.code ?? "";
  for (const id of [
    "createChatCompletion",
    "createCompletion",
    "createResponse",
    "createEmbedding",
    "createTranscription",
  ]) {
    expect(findSample(id, "python"), id).toContain("from openai import OpenAI");
    expect(findSample(id, "typescript"), id).toContain('from "openai"');
  }
  expect(findSample("createMessage", "python")).toContain("from anthropic import Anthropic");
  expect(findSample("countMessageTokens", "typescript")).toContain('from "@anthropic-ai/sdk"');
  expect(findSample("createChatCompletion", "cli")).toMatch(/^sluice chat /);
});

test("the samples call existing client methods and existing commands", () => {
  const clients = {
    OpenAI: new OpenAI({ apiKey: "none" }) as unknown,
    Anthropic: new Anthropic({ apiKey: "none" }) as unknown,
  };
  for (const { id, samples } of operations) {
    for (const { id: language, code } of samples) {
      if (language === "cli") {
        const names = commandTable.map(({ name }) => `sluice ${name}`);
        expect(
          names.some((name) => code.startsWith(name)),
          code,
        ).toBe(true);
      }
      if (language !== "typescript") continue;
      expect(() => stripTypeScriptTypes(code), id).not.toThrow();
      const [, client] = /new (OpenAI|Anthropic)\(/.exec(code) ?? [];
      if (client === undefined) continue;
      const [, path = ""] = /await client\.([\w.]+)\(/.exec(code) ?? [];
      const method = path
        .split(".")
        .reduce((held, name) => (held as Record<string, unknown>)[name], clients[client as keyof typeof clients]);
      expect(typeof method, `${id}: ${path}`).toBe("function");
    }
  }
});

test("no sample contains a placeholder, and each names the operation's own path", () => {
  for (const { id, path, samples } of operations) {
    const curl = samples[0].code;
    expect(curl, id).not.toMatch(/undefined|\{\w+_id\}/);
    const pattern = path.replaceAll(/[.]/g, "\\.").replaceAll(/\{\w+\}/g, "[\\w./-]+");
    expect(curl, id).toMatch(new RegExp(`/v1${pattern}`));
  }
});

test("every search entry leads to an existing operation, field or heading", () => {
  const chapters = [{ id: "errors", blocks: errorsPage }];
  const entries = listDocsEntries(areas, chapters);
  const slugs = new Set(operations.map(({ slug }) => `/docs/reference/${slug}`));
  for (const { to, kind } of entries) {
    if (kind === "operation" || kind === "field") expect(slugs, to).toContain(to.split("#")[0]);
  }
  expect(new Set(entries.map(({ kind }) => kind))).toEqual(new Set(["operation", "error", "field"]));
  expect(new Set([...slugs]).size).toBe(operations.length);
});
