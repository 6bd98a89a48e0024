import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { modelTypes } from "../../../src/features/catalog/index.ts";
import { writeCatalog } from "../../harness/catalog-source.ts";
import {
  type CommandOutcome,
  createDataDirectory,
  findFreePort,
  runCommand,
  startGatewayProcess,
} from "../../harness/gateway-process.ts";
import { createPreparedDirectory } from "../../harness/prepared-directory.ts";
import { repositoryDir } from "../../harness/repository-files.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import { createTestDatabase } from "../../harness/test-database.ts";
import { waitUntil } from "../../harness/wait-until.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-catalogs-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function writeFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

type Place = AsyncDisposable & { environment: Record<string, string> };

/** An empty database on the server that all tests share: commands need no server of their own. */
async function openPlace(): Promise<Place> {
  const data = createDataDirectory();
  const database = await createTestDatabase();
  return {
    environment: { SLUICE_DATA_DIR: data.path, DATABASE_URL: database.url },
    async [Symbol.asyncDispose]() {
      await database.close();
      data[Symbol.dispose]();
    },
  };
}

/** Runs a command and parses the JSON it prints. */
async function run(environment: Record<string, string>, ...words: string[]) {
  return readJson(await runCommandHere([...words, "--json"], { environment }));
}

/** The same in a separate process, whose environment may contain secrets. */
async function runProcess(environment: Record<string, string>, ...words: string[]) {
  return readJson(await runCommand([...words, "--json"], { environment }));
}

function readJson(outcome: CommandOutcome) {
  expect(outcome.stderr).toBe("");
  return JSON.parse(outcome.stdout);
}

test("a catalog is checked, compared, applied and exported, and running gateways serve it", async () => {
  using data = createPreparedDirectory();
  const environment = { SLUICE_DATA_DIR: data.path, SLUICE_PORT: await findFreePort() };
  await using _gateway = await startGatewayProcess({ environment });
  const key = readFileSync(join(data.path, "secrets", "demo-key"), "utf8").trim();
  const listModels = async (): Promise<string[]> => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`http://localhost:${environment.SLUICE_PORT}/v1/models`, { headers });
    return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
  };
  expect(await listModels()).toHaveLength(modelTypes.length);

  const file = writeFile("one.yaml", writeCatalog({ models: [{ id: "m" }], prices: [{ model: "m" }] }));
  expect(await run(environment, "catalog", "check", file)).toMatchObject({ ok: true });
  const { changes } = await run(environment, "catalog", "diff", file);
  expect(changes).toEqual(expect.arrayContaining(["+ provider canary-vendor", "+ model m", "- model sandbox-chat"]));
  expect(await listModels()).toHaveLength(modelTypes.length);

  expect(await runProcess(environment, "catalog", "apply", file)).toMatchObject({ ok: true, version: 2 });
  await waitUntil("the new catalog", async () => (await listModels()).join() === "m");
  expect(await run(environment, "catalog", "apply", file)).toMatchObject({ ok: true, version: 2, changes: [] });

  const { catalog } = await run(environment, "catalog", "export");
  const exported = writeFile("exported.yaml", catalog);
  expect(await run(environment, "catalog", "diff", exported)).toMatchObject({ ok: true, changes: [] });
});

test("a catalog with mistakes changes nothing, and each mistake is printed with its line and column", async () => {
  await using place = await openPlace();
  const { environment } = place;
  const sandbox = readFileSync(join(repositoryDir, "catalogs/sandbox.yaml"), "utf8");
  await run(environment, "catalog", "apply", join(repositoryDir, "catalogs/sandbox.yaml"));
  const wrong = sandbox
    .replace("provider: sandbox\n        upstream_model: chat", "provider: elsewhere\n        upstream_model: chat")
    .replace('price: "0.02"', 'price: "0.0200000000001"');
  const file = writeFile("wrong.yaml", wrong);
  const outcome = await runCommand(["catalog", "apply", file], { environment });
  expect(outcome.exitCode).toBe(1);
  const line = (text: string): number => wrong.split("\n").findIndex((each) => each.includes(text)) + 1;
  expect(outcome.stdout.trim().split("\n")).toEqual([
    `${file}:${line("provider: elsewhere")}:9  There is no provider elsewhere in this file. Add it under providers, or correct the name.`,
    expect.stringMatching(`^${file}:${line("0.0200000000001")}:5  "0.0200000000001" is not a price`),
  ]);
  expect(await run(environment, "catalog", "diff", join(repositoryDir, "catalogs/sandbox.yaml"))).toMatchObject({
    changes: [],
  });
});

test("a secret is referenced by name, never written, and must exist", async () => {
  await using place = await openPlace();
  const { environment } = place;
  const source = (reference: string): string =>
    writeCatalog({ models: [], prices: [] }).replace(
      "kind: openai-compatible",
      `kind: openai-compatible\n    api_keys: ["${reference}"]`,
    );
  const named = writeFile("named.yaml", source(`\${VENDOR_KEY}`));
  const withSecret = { ...environment, VENDOR_KEY: "swordfish" };
  expect(await runProcess(withSecret, "catalog", "apply", named)).toMatchObject({ ok: true });
  const absent = await runCommand(["catalog", "check", named], { environment });
  expect([absent.exitCode, absent.stdout]).toEqual([1, expect.stringContaining("The secret VENDOR_KEY is not set")]);
  const clear = await runCommand(["catalog", "check", writeFile("clear.yaml", source("swordfish"))], { environment });
  expect([clear.exitCode, clear.stdout]).toEqual([1, expect.stringContaining("Don't write a key here")]);
  const { catalog } = await runProcess(withSecret, "catalog", "export");
  expect(catalog).toContain(`\${VENDOR_KEY}`);
  expect(catalog).not.toContain("swordfish");
});

test("commands change plans, accounts and keys, and print the result", async () => {
  await using place = await openPlace();
  const { environment } = place;
  await run(environment, "catalog", "apply", join(repositoryDir, "catalogs/sandbox.yaml"));
  expect(await runProcess(environment, "plan", "create", "pro", "--requests-per-minute", "1000")).toMatchObject({
    id: "pro",
    limits: { requests_per_minute: 1000 },
  });
  await run(environment, "plan", "update", "pro", "--name", "Professional", "--tokens-per-minute", "5");
  expect(await run(environment, "plan", "list")).toMatchObject([
    { name: "Professional", limits: { requests_per_minute: 1000, tokens_per_minute: 5 } },
  ]);
  const { id } = await run(environment, "account", "create", "--email", "a@example.com", "--plan", "pro");
  expect(await run(environment, "account", "suspend", id)).toMatchObject({
    plan: "pro",
    suspended_at: expect.any(String),
  });
  expect(await run(environment, "account", "resume", id)).toMatchObject({ suspended_at: null });
  expect(await run(environment, "account", "update", id, "--plan", "none", "--tasks-in-flight", "3")).toMatchObject({
    plan: null,
    limits: { tasks_in_flight: 3 },
  });

  const restrictions = [
    "--models",
    "sandbox-chat, sandbox-image",
    "--endpoints",
    "models",
    "--addresses",
    "10.0.0.0/8",
  ];
  const spending = ["--budget", "12.5", "--budget-period", "month", "--expires", "2099-01-01T00:00:00Z"];
  const created = await run(environment, "key", "create", "--account", id, ...restrictions, ...spending);
  const expected = {
    models: ["sandbox-chat", "sandbox-image"],
    endpoints: ["models"],
    addresses: ["10.0.0.0/8"],
    budget: { amount: "12.50", period: "month" },
    expires_at: "2099-01-01T00:00:00.000Z",
  };
  expect(created).toMatchObject(expected);
  expect(await run(environment, "key", "show", created.id)).toMatchObject(expected);
  expect(
    await run(environment, "key", "update", created.id, "--models", "none", "--budget", "none", "--name", "new"),
  ).toMatchObject({ name: "new", models: null, budget: null, endpoints: ["models"] });
});

/** For commands that are refused. */
let refusing: Place;
beforeAll(async () => {
  refusing = await openPlace();
});
afterAll(() => refusing[Symbol.asyncDispose]());

test.each([
  [["key", "create", "--account", "acct_none", "--models", "gpt-99"], /There is no model gpt-99/],
  [["key", "create", "--account", "acct_none", "--endpoints", "everything"], /There is no endpoint everything/],
  [["key", "create", "--account", "acct_none", "--addresses", "10.0.0.0/99"], /is not an IP address or network/],
  [["key", "create", "--account", "acct_none", "--expires", "2020-01-01T00:00:00Z"], /must be in the future/],
  [["key", "create", "--account", "acct_none", "--expires", "tomorrow"], /a time with its offset/],
  [["key", "create", "--account", "acct_none", "--budget", "0.1234567890"], /at most nine places/],
  [["key", "create", "--account", "acct_none", "--requests-per-minute", "0"], /from 1 to/],
  [["plan", "create", "Big Plan"], /A plan's id/],
  [["plan", "update", "none"], /There is no plan none/],
  [["account", "create", "--email", "a@b.c", "--plan", "gold"], /There is no plan gold/],
  [["account", "suspend", "acct_none"], /There is no account acct_none/],
  [["catalog", "apply", "/nowhere.yaml"], /Cannot read/],
  [["catalog", "export"], /There is no catalog yet/],
])("%j is refused with a reason", async (words, reason) => {
  const outcome = await runCommandHere(words, { environment: refusing.environment });
  expect([outcome.exitCode, outcome.stderr]).toEqual([1, expect.stringMatching(reason)]);
});

test("catalog import shows the changes of a vendor's list, and writes the file only when asked", async () => {
  const catalog = writeCatalog({ models: [{ id: "own" }], prices: [{ model: "own" }] });
  const path = writeFile("import.yaml", `# ours\n${catalog}`);
  const large = { modalities: { output: ["text"] }, cost: { input: 0.5, output: 1.5 } };
  const list = writeFile("api.json", JSON.stringify({ acme: { models: { large, odd: { modalities: {} } } } }));
  const words = ["catalog", "import", "models.dev", list, "--catalog", path, "--provider", "canary-vendor"];
  const all = [...words, "--vendor", "acme", "--markup", "1.2"];
  const shown = await runCommandHere(all, { environment: {} });
  expect([shown.exitCode, shown.stdout]).toEqual([
    0,
    [
      "+ large: input_price 0.0006, output_price 0.0018 per 1K tokens",
      "- own: not in the list. Remove it, or its route, from the file.",
      "! 1 left out, because its output is not text: odd",
      "1 added, 0 changed, 1 gone, 1 left out. Nothing is written. Add --write.",
      "",
    ].join("\n"),
  ]);
  expect(readFileSync(path, "utf8")).toBe(`# ours\n${catalog}`);
  const written = await run({}, ...all, "--write");
  expect(written).toMatchObject({ ok: true, isWritten: true, left_out: [{ id: "odd" }] });
  expect(readFileSync(path, "utf8")).toContain("model: large\n");
  await using place = await openPlace();
  expect(await run(place.environment, "catalog", "check", path)).toMatchObject({ ok: true });
  for (const [change, message] of [
    [["--markup", "-1"], "--markup must be a decimal"],
    [["--type", "song"], "--type must be one of"],
  ] as const) {
    const { exitCode, stderr } = await runCommandHere([...words, ...change], { environment: {} });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
  }
  const { stderr } = await runCommandHere(["catalog", "import", "x", ...words.slice(3)], { environment: {} });
  expect(stderr).toContain("models.dev, litellm, openrouter, fal, replicate");
});
