// @module-tag extended
import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { upstreamKeyName, writeCatalogOf } from "../../harness/chat/chat-catalog.ts";
import { openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { createDataDirectory } from "../../harness/gateway-process.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";
import { canary } from "../../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const runProgram = promisify(execFile);

let folder: string;
let database: TestDatabase;
let fitting: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-packages-"));
  database = await createTestDatabase();
  fitting = await pack("acme-models", { version: "4.2.0", interfaceVersion: "v4" });
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

/** A provider package as vendors publish them, packed by npm: nothing is downloaded. */
async function pack(name: string, { version, interfaceVersion }: { version: string; interfaceVersion: string }) {
  const source = join(folder, `${name}-${version}-source`);
  mkdirSync(source);
  const manifest = {
    ...{ name, version, type: "module", exports: { ".": { import: "./index.js" } } },
    scripts: { postinstall: "node -e \"require('fs').writeFileSync('../../ran-a-script', '')\"" },
  };
  writeFileSync(join(source, "package.json"), JSON.stringify(manifest));
  writeFileSync(
    join(source, "index.js"),
    `export const createModels = ({ baseURL, apiKey, fetch }) => ({
      languageModel: (modelId) => ({
        specificationVersion: "${interfaceVersion}",
        provider: "acme",
        modelId,
        supportedUrls: {},
        async doGenerate() {
          const body = JSON.stringify({ model: modelId, max_tokens: 10, messages: [{ role: "user", content: "Hello" }] });
          const headers = { authorization: "Bearer " + apiKey, "content-type": "application/json" };
          const answer = await fetch(baseURL + "/chat/completions", { method: "POST", headers, body });
          const { choices } = await answer.json();
          return {
            content: [{ type: "text", text: choices[0].message.content }],
            finishReason: { unified: "stop", raw: "stop" },
            usage: { inputTokens: { total: 5 }, outputTokens: { total: 3 } },
            warnings: [],
          };
        },
      }),
    });`,
  );
  const { stdout } = await runProgram("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], {
    cwd: source,
  });
  return join(folder, stdout.trim());
}

const api_keys = [`\${${upstreamKeyName}}`];

function openPlace() {
  const data = createDataDirectory();
  const environment = { SLUICE_DATA_DIR: data.path, DATABASE_URL: database.url };
  return {
    packages: join(data.path, "packages"),
    run: (...words: string[]) => runCommandHere(words, { environment }),
    [Symbol.dispose]: () => data[Symbol.dispose](),
  };
}

const acme = `currency: USD
providers:
  - { id: acme, kind: ai-sdk, package: acme-models, base_url: "https://acme.example.com/v1" }
models:
  - id: acme-large
    name: Acme
    type: chat
    capabilities: [chat]
    routes: [{ provider: acme, upstream_model: large }]
prices:
  - { model: acme-large, billing_type: token, unit: 1K tokens, input_price: "1", output_price: "2" }
`;

test("a package is installed beside the project with its own lock file, and catalog check finds it from then on", async () => {
  using place = openPlace();
  const file = join(folder, "catalog.yaml");
  writeFileSync(file, acme);
  const before = await place.run("catalog", "check", file);
  expect(before.exitCode).toBe(1);
  expect(before.stdout).toContain("The package acme-models is not installed.");
  expect(before.stdout).toContain("upstream install acme-models");

  const installed = await place.run("upstream", "install", fitting, "--json");
  expect(installed.stderr).toBe("");
  expect(JSON.parse(installed.stdout)).toEqual({ package: "acme-models", version: "4.2.0", folder: place.packages });
  expect(await place.run("catalog", "check", file)).toMatchObject({ exitCode: 0 });

  const lock = JSON.parse(readFileSync(join(place.packages, "package-lock.json"), "utf8"));
  expect(lock.packages["node_modules/acme-models"]).toMatchObject({
    version: "4.2.0",
    integrity: expect.stringMatching(/^sha512-/),
  });
  expect(existsSync(join(place.packages, "ran-a-script"))).toBe(false);

  const other = await pack("other-models", { version: "1.0.0", interfaceVersion: "v4" });
  expect(await place.run("upstream", "install", other)).toMatchObject({ exitCode: 0 });
  expect(readdirSync(join(place.packages, "node_modules")).sort()).toEqual([
    ".package-lock.json",
    "acme-models",
    "other-models",
  ]);

  const healthy = JSON.parse((await place.run("doctor", "--json")).stdout) as {
    checks: { check: string; ok: boolean }[];
  };
  expect(healthy.checks.find(({ check }) => check === "upstreams")).toMatchObject({ ok: true });
  chmodSync(place.packages, 0o777);
  expect((await place.run("doctor")).stdout).toContain(`chmod go-w ${place.packages}`);
});

test("running gateways serve a newly installed package once a catalog names it", async () => {
  using place = openPlace();
  await using chat = await openChatGateway({ settings: { packages_dir: place.packages } });
  const caller = await chat.createCaller();
  const ask = async () => await caller.post({ model: "acme-large", messages: [{ role: "user", content: "Hello" }] });
  const catalog = writeCatalogOf(chat.upstream, {
    providers: [{ id: "acme", kind: "ai-sdk", package: "acme-models", base_url: chat.upstream.openAiUrl, api_keys }],
    models: [{ id: "acme-large", routes: [{ provider: "acme", upstream_model: `${canary}-acme` }] }],
  });
  // The catalog was checked elsewhere, as on a gateway whose data directory was replaced.
  await chat.applyCatalog(catalog);
  expect((await ask()).status).toBe(503);
  const listLogs = (text: string) => chat.gateway.logs.filter(({ msg }) => msg === text);
  expect(listLogs("upstream out of service")).toMatchObject([
    { upstream: "acme", reason: "The package acme-models is not installed." },
  ]);
  expect(await place.run("upstream", "install", fitting)).toMatchObject({ exitCode: 0 });
  await waitUntil("the route to be back", () => listLogs("upstream fault resolved").length === 1);
  const answer = await ask();
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain("Hello");
});

test("a package for another version of the interface is refused, and the installed one stays", async () => {
  using place = openPlace();
  expect(await place.run("upstream", "install", fitting)).toMatchObject({ exitCode: 0 });
  const lock = readFileSync(join(place.packages, "package-lock.json"), "utf8");
  const older = await pack("acme-models", { version: "2.0.0", interfaceVersion: "v2" });
  const refused = await place.run("upstream", "install", older);
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("The package acme-models speaks version v2 of the AI SDK's interface, not v4.");
  expect(readFileSync(join(place.packages, "package-lock.json"), "utf8")).toBe(lock);
  expect(readdirSync(join(place.packages, ".."))).toEqual(["packages"]);
});

test.each([
  "git+https://example.com/a.git",
  "https://example.com/a",
  "../somewhere",
  "@ai-sdk/mistral@latest",
  "a@^1.0.0",
])("%s cannot be installed", async (spec) => {
  using place = openPlace();
  const refused = await place.run("upstream", "install", spec);
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("is not a package name or .tgz file");
  expect(existsSync(place.packages)).toBe(false);
});
