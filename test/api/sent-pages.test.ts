import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builds, isBuilt } from "../../scripts/builds.mjs";
import { repositoryDir } from "../harness/repository-files.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

type Operation = { operationId: string; summary: string; description?: string };

const docsDir = join(repositoryDir, "docs/api");
const document: { paths: Record<string, Record<string, Operation>> } = JSON.parse(
  readFileSync(join(docsDir, "openapi.json"), "utf8"),
);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.values(methods).map((operation) => ({ ...operation, path })),
);
const chapters = readdirSync(docsDir).filter((name) => name.endsWith(".md"));

const siteUrl = "https://ai.example.com";
const settings = {
  ...{ site_url: siteUrl, base_url: "https://api.example.com/v1", sign_up: "open" as const },
  ...{ brand_name: "Acme <AI>", announcement: "Closed on Sunday." },
};

let gateway: TestGateway;
beforeAll(async () => {
  if (!isBuilt(builds.web)) execFileSync(process.execPath, [builds.web.script], { stdio: "ignore" });
  gateway = await startGateway({ settings });
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** The text of a page as a client without scripts reads it. */
async function readSent(path: string): Promise<{ heading: string; words: string; markup: string }> {
  const response = await fetch(`${gateway.siteUrl}${path}`, { headers: { accept: "text/html" } });
  expect(response.status).toBe(200);
  const [, markup = ""] = (await response.text()).split('<div id="site">');
  const [heading = "", ...others] = [...markup.matchAll(/<h1[^>]*>(.*?)<\/h1>/gs)].map(([, text = ""]) => text);
  expect(others).toEqual([]);
  return { heading: readWords(heading), words: readWords(markup), markup };
}

function readWords(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&amp;", "&");
}

/** A line of a document without its markup. */
function readLine(line: string): string {
  return line
    .replace(/^#+ /, "")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "");
}

/** With the service's own addresses, in one line. */
function writeAddresses(paragraph: string): string {
  return paragraph
    .replaceAll("http://localhost:4242/v1", settings.base_url)
    .replaceAll("http://localhost:4242", siteUrl)
    .replaceAll("\n", " ");
}

describe("before any script has loaded", () => {
  test.for(chapters)("the chapter %s has its heading, its parts and its text", async (name) => {
    const source = readFileSync(join(docsDir, name), "utf8").replaceAll(/^```.*?^```/gms, "");
    const [title = "", ...parts] = source.split("\n").filter((line) => line.startsWith("#"));
    const paragraphs = source.split(/\n{2,}/).filter((paragraph) => /^[A-Z]/.test(paragraph));
    const { heading, words } = await readSent(`/docs/guide/${name.replace(".md", "")}`);
    expect(heading).toBe(readLine(title));
    for (const part of parts) expect(words).toContain(readLine(part));
    for (const paragraph of paragraphs) expect(words).toContain(readLine(writeAddresses(paragraph.trim())));
    expect(paragraphs.length).toBeGreaterThan(0);
  });

  test.for(operations)("the operation $operationId has its heading, its path and its text", async (operation) => {
    const slug = operation.operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const { heading, words } = await readSent(`/docs/reference/${slug}`);
    expect(heading).toBe(operation.summary);
    expect(words).toContain(`/v1${operation.path}`);
    expect(words).toContain(readLine((operation.description ?? "").split("\n")[0] ?? ""));
    for (const part of ["Responses", "Errors"]) expect(words).toContain(part);
  });

  test("the guide starts with its first chapter, and an area has its operations", async () => {
    expect((await readSent("/docs/guide")).heading).toBe("Quick start");
    const { heading, words } = await readSent("/docs/reference/models");
    expect(heading).toBe("Models");
    expect(words).toContain("List models");
  });

  test.for(["/docs", "/docs/guide/browser-authorization", "/docs/reference/create-chat-completion", "/sign-up"])(
    "%s has the operator's name and announcement, and the service's own addresses",
    async (path) => {
      const { words, markup } = await readSent(path);
      expect(words).toContain("Acme <AI>");
      expect(words).toContain("Closed on Sunday.");
      expect(/%[a-z-]+%/.exec(markup)).toBeNull();
      if (!path.includes("/guide/") && path !== "/sign-up") expect(words).toContain(settings.base_url);
      if (path.includes("/guide/")) expect(words).toContain(`const siteUrl = "${siteUrl}";`);
    },
  );

  test("sign-up has its title, and reserves space for its form instead of rendering fields", async () => {
    const { heading, markup } = await readSent("/sign-up");
    expect(heading).toBe("Create an account");
    expect(markup).not.toMatch(/<input[^>]*name="(email|password)"/);
  });

  test("an unknown chapter, operation or area has no content", async () => {
    expect((await readSent("/docs/guide/nothing")).words.trim()).toBe("");
    expect((await readSent("/docs/reference/nothing")).words.trim()).toBe("");
  });
});
