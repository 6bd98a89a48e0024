import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { findCommand } from "../../../src/cli/commands.ts";
import { parseArguments } from "../../../src/cli/parse-arguments.ts";
import { bookCredit } from "../../../src/features/ledger/index.ts";
import { openEventInbox } from "../../../src/features/webhooks/index.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { nano } from "../../../src/lib/money.ts";
import { loadSettings } from "../../../src/platform/config/load-settings.ts";
import { settingNames } from "../../../src/platform/config/settings-table.ts";
import { dataParent } from "../../harness/data-parent.ts";
import { listBlocks, listCommands, splitWords } from "../../harness/doc-blocks.ts";
import { repositoryDir } from "../../harness/repository-files.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";
import { startGateway, type TestGateway } from "../../harness/test-gateway.ts";
import { type BedrockFake, startBedrockFake } from "../../harness/upstreams/bedrock-fake.ts";
import type { CloneName } from "../../harness/upstreams/dialect-wires.ts";
import { type FakeUpstreams, startFakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { voice } from "../../harness/upstreams/media-samples.ts";
import {
  startCloneFake,
  startQueueFake,
  startSpeechFake,
  type VendorFake,
} from "../../harness/upstreams/vendor-fake.ts";
import { startVertexFake, type VertexFake } from "../../harness/upstreams/vertex-fake.ts";
import { cloneWires } from "../../harness/upstreams/wires/clone-wires.ts";
import { queueWires } from "../../harness/upstreams/wires/queue-wires.ts";
import { speechWires } from "../../harness/upstreams/wires/speech-wires.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const run = promisify(execFile);

/** Commands that a test machine cannot run, and why. Their syntax is checked, and every `sluicectl` in them is parsed. */
const notRunHere: readonly [RegExp, string][] = [
  [/^(apt-get|useradd|install|systemctl|journalctl|mkdir|rm) /, "changes the machine"],
  [/^cd \/opt\/sluice /, "needs the installed folder"],
  [/^(docker|kubectl|helm|deploy\/make-secrets\.sh)\b/, "needs containers"],
  [/^export /, "sets a variable of the reader's shell"],
  [/^npm (start|test|run (demo|dev)|run -s build:cli .*)$/, "starts what other tests start"],
  [/^sluice /, "belongs to the users' command line, which docs/api/command-line.md describes"],
  [/^node_modules\/\.bin\/node scripts\//, "runs until it is stopped"],
  [/^SLUICE_DATA_DIR=\S+ (?:\S+=\S+ )*npm (start$|run -s sluice -- )/, "needs a second data directory"],
  [/^stripe /, "needs Stripe"],
];

/** Operator commands that need something a fresh sandbox does not have. They are parsed. */
const parsedOnly: readonly [RegExp, string][] = [
  [/^upstream install /, "downloads from npm"],
  [/ s3:\/\//, "needs a bucket"],
  [/^backup base/, "needs the embedded database"],
  [/^restore /, "needs an empty database: test/flows/database/backups.test.ts restores"],
  [/^payment (show|waive) /, "needs Stripe"],
  [/^ledger unfreeze /, "needs a frozen account"],
  [/^abuse lift-cap /, "needs an account that signed up on the site"],
  [/^abuse import-disposable /, "needs a downloaded list"],
  [/^account (close|export|erase) /, "test/api/person-erasure.test.ts runs them, and leaves no account"],
  [/^help$/, "is no command of the table"],
];

const operatingDir = join(repositoryDir, "docs/operating");
const pages = [
  ...readdirSync(operatingDir, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .toSorted()
    .map((name) => `docs/operating/${name}`),
  "README.md",
];

const read = (page: string): string => readFileSync(join(repositoryDir, page), "utf8");

/** The words of an operator command, however the document invokes it; `null` for any other program. */
function readOperatorWords(command: string): string[] | null {
  const [, rest] = /^(?:sluicectl|npm run -s sluice --) (.*)$/s.exec(command) ?? [];
  return rest === undefined ? null : splitWords(rest);
}

async function parseOperatorCommand(words: readonly string[]): Promise<void> {
  if (words[0] === "help") return;
  const command = await findCommand(words);
  expect(command, `There is no command ${words.join(" ")}`).not.toBeNull();
  if (command !== null) parseArguments(command, words.slice(command.name.split(" ").length));
}

let folder: string;
let database: TestDatabase;
let gateway: TestGateway;
let fakes: FakeUpstreams;
let bedrock: BedrockFake;
let vertex: VertexFake;
/** The vendors of media, by kind or, for OpenAI's clones, by the provider's id. */
const vendors = new Map<string, { fake: VendorFake<never, never>; baseUrl: string }>();
let environment: Record<string, string>;
let ids: Record<string, string>;
let apiKey: string;
const variables = new Set<string>();

beforeAll(async () => {
  folder = mkdtempSync(join(dataParent, "sluice-operating-"));
  mkdirSync(join(folder, "backups"));
  writeFileSync(join(folder, "api.json"), JSON.stringify({ mistral: { models: { "house-large": listedModel } } }));
  database = await createTestDatabase();
  fakes = await startFakeUpstreams({ keys: "none-needed" });
  bedrock = await startBedrockFake({
    apiKey: "a-key",
    region: "us-east-1",
    accessKeyId: "none",
    secretAccessKey: "none",
  });
  vertex = await startVertexFake(fakes, systemClock);
  writeFileSync(join(folder, "vertex-key.json"), vertex.keyFile);
  writeFileSync(join(folder, "meeting.mp3"), voice.bytes);
  await startVendors();
  const dataDir = join(folder, "data");
  environment = { SLUICE_DATA_DIR: dataDir, DATABASE_URL: database.url };
  gateway = await startGateway({ sharedDatabase: database, settings: { data_dir: dataDir, metrics_port: 0 } });
  await operate("catalog", "apply", join(repositoryDir, "catalogs/sandbox.yaml"));
  await prepareCustomer();
});
afterAll(async () => {
  for (const name of variables) delete process.env[name];
  await gateway[Symbol.asyncDispose]();
  for (const fake of [vertex, bedrock, fakes]) await fake[Symbol.asyncDispose]();
  for (const { fake } of vendors.values()) await fake[Symbol.asyncDispose]();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

async function startVendors(): Promise<void> {
  const add = (name: string, fake: VendorFake<never, never>, { base }: { base: string }) =>
    vendors.set(name, { fake, baseUrl: `${fake.origin}${base}` });
  for (const [kind, wire] of Object.entries(queueWires)) add(kind, await startQueueFake(wire, "a-key"), wire);
  for (const [kind, wire] of Object.entries(speechWires)) add(kind, await startSpeechFake(wire, "a-key"), wire);
  for (const [id, wire] of Object.entries(cloneWires)) add(id, await startCloneFake(wire, "a-key"), wire);
}

/** A customer with a call, a task, an event, codes and a file, for the placeholders in the documents. */
async function prepareCustomer(): Promise<void> {
  const caller = await gateway.createCaller();
  apiKey = caller.key;
  const { accountId } = caller;
  const credit = { accountId, actor: "test", reason: "test", reference: null };
  await bookCredit(gateway.parts, { ...credit, booking: { kind: "top-up", amount: nano(100_000_000_000n) } });
  await openEventInbox(gateway.database, accountId, gateway.parts.clock.now());
  await operate("user", "create", "--email", "grace@example.com");
  await operate("secret", "set", "OPENAI_KEY");
  await operate("webhook", "create", "--account", accountId, "--url", `${gateway.siteUrl}/healthz`);
  const call = await post("chat/completions", {
    model: "sandbox-chat",
    messages: [{ role: "user", content: "Hello" }],
  });
  const requestId = call.headers.get("x-request-id") ?? "";
  const { entries } = await operateJson("ledger", "show", accountId);
  const stuck = await post("images/generations", { model: "sandbox-image", prompt: "[[stuck]]" });
  await post("images/generations", { model: "sandbox-image", prompt: "[[fail:rejected]]" }, { prefer: "wait=30" });
  const listEvents = async () => {
    const { data } = (await (await gateway.get("/events", apiKey)).json()) as { data: { id: string }[] };
    return data;
  };
  await waitUntil("an event", async () => (await listEvents()).length > 0);
  writeFileSync(join(folder, "invoices.yaml"), "seller: {name: Seller, address: Street 1, country: DE}");
  await operate("invoice", "terms", "apply", join(folder, "invoices.yaml"));
  await operate("credit", "add", accountId, "1", "--reason", "paid");
  const [invoice] = await operateJson("invoice", "list");
  const codes = await operateJson("code", "create", "--amount", "1", "--count", "2");
  await waitUntil("the request log", async () => (await attempt("request", "show", requestId)).exitCode === 0);
  ids = {
    "<account id>": accountId,
    "<key id>": await createSpareKey(accountId),
    "<request id>": requestId,
    "<document id>": invoice.id,
    "<transaction id>": entries.find(({ kind }: { kind: string }) => kind === "charge").id,
    "<task id>": ((await stuck.json()) as { id: string }).id,
    "<event id>": (await listEvents())[0]?.id ?? "",
    "<incident id>": (await operateJson("incident", "open", "--title", "Slow", "--message", "Slow answers.")).id,
    "<code id>": codes[0].id,
    "<code>": codes[1].code,
  };
}

async function createSpareKey(accountId: string): Promise<string> {
  const { id } = await operateJson("key", "create", "--account", accountId, "--name", "spare");
  return id;
}

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(`${gateway.baseUrl}/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  expect(response.status).toBeLessThan(300);
  return response;
}

/** The reader pastes a key to `secret set`. */
async function attempt(...words: string[]) {
  return await runCommandHere(words, { environment, input: words[0] === "secret" ? "a-key\n" : "" });
}

async function operate(...words: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await attempt(...words);
  // A machine without a confined decoder fails a check of `doctor`; it still runs.
  const allowed = words[0] === "doctor" ? [0, 1] : [0];
  expect(allowed, `${words.join(" ")}\n${stdout}${stderr}`).toContain(exitCode);
  return stdout;
}

async function operateJson(...words: string[]) {
  return JSON.parse(await operate(...words, "--json"));
}

/** Maps the reader's files and paths to those of this machine. */
function place(word: string): string {
  const named = word.replace(/^\/etc\/sluice\/(catalog\.yaml|invoices\.yaml|vertex-key\.json)$/, join(folder, "$1"));
  return named
    .replace(/^\/mnt\/backups$/, join(folder, "backups"))
    .replace(/^\/tmp(?=\/(?:api\.json|invoice\.pdf)$)/, folder);
}

async function runOperator(words: readonly string[]): Promise<void> {
  const line = words.join(" ");
  const needed = Object.entries(ids).reduce((text, [name, id]) => text.replaceAll(name, id), JSON.stringify(words));
  const filled: string[] = JSON.parse(needed).map(place);
  await parseOperatorCommand(filled);
  if (parsedOnly.some(([pattern]) => pattern.test(line))) return;
  await operate(...filled);
  if (line.startsWith("catalog apply")) await followCatalog();
}

async function followCatalog(): Promise<void> {
  const { version } = await operateJson("catalog", "export");
  await waitUntil("the gateway serves the catalog", () => gateway.catalogVersion() === version);
}

async function runCurl(command: string, vendor: VendorFake<never, never> | undefined): Promise<void> {
  const here = command
    .replaceAll(/https:\/\/ai\.example\.com|http:\/\/localhost:4242/g, gateway.siteUrl)
    .replaceAll("http://127.0.0.1:9464", `http://127.0.0.1:${gateway.metricsPort}`)
    .replace(/^curl /, "curl --silent --show-error --fail-with-body ");
  const { stdout } = await run("bash", ["-euo", "pipefail", "-c", here], {
    ...{ cwd: folder, env: { ...process.env, API_KEY: apiKey } },
  });
  if (vendor !== undefined) {
    await waitUntil("a submission", () => vendor.requests.some(({ method }) => method === "POST"));
    expect(vendor.complaint()).toBeNull();
  }
  // A drama would keep the machine busy for a minute.
  const [, taskId] = /"id":"(task_\w+)".*"status":"(?:queued|processing)"/s.exec(stdout) ?? [];
  if (taskId === undefined) return;
  // Some vendors cannot cancel.
  if (vendor === undefined) await operate("task", "cancel", taskId);
  else await attempt("task", "cancel", taskId);
}

async function runDocumented(command: string, vendor: VendorFake<never, never> | undefined): Promise<void> {
  const words = readOperatorWords(placeholdersAsWords(command));
  if (words !== null) return await runOperator(words.map((word) => word.replaceAll("\u0000", " ")));
  if (command.startsWith("curl ")) return await runCurl(command, vendor);
  expect(
    notRunHere.some(([pattern]) => pattern.test(command)),
    `run, or excuse, this: ${command}`,
  ).toBe(true);
  await run("bash", ["-n", "-c", command.replaceAll(/<[a-z ]+>/g, "placeholder")]);
  const [, rest = ""] = /(?<=^|\s)(?:sluicectl|npm run -s sluice --) (.*?)(?:'|$| &&| \|\||;)/s.exec(command) ?? [];
  if (rest !== "") await parseOperatorCommand(splitWords(rest));
}

/** `<account id>` is one word. */
function placeholdersAsWords(command: string): string {
  return command.replaceAll(/<[a-z ]+>/g, (name) => name.replaceAll(" ", "\u0000"));
}

/** As a downloaded list of models has it. */
const listedModel = { modalities: { output: ["text"] }, cost: { input: 0.5, output: 1.5 } };

type Provider = {
  id: string;
  kind: string;
  base_url?: string;
  resource?: string;
  package?: string;
  dialect?: CloneName;
};
type Catalog = { providers: Provider[] };

/** Writes a page's catalog to where its commands expect it, with fakes instead of the vendors. */
function writeCatalog(catalog: Catalog): void {
  const urls: Record<string, string> = {
    anthropic: fakes.anthropicUrl,
    google: fakes.geminiUrl,
    fal: fakes.falUrl,
    "openai-compatible": fakes.openAiUrl,
    azure: fakes.openAiUrl,
    bedrock: bedrock.url,
    "bedrock-media": bedrock.url,
    vertex: `${vertex.url}/v1`,
  };
  const providers = catalog.providers.map((provider) => {
    const { kind, dialect } = provider;
    const url = findVendor(provider)?.baseUrl ?? (dialect === undefined ? urls[kind] : fakes.cloneUrl(dialect));
    // A fake has an address instead of a resource.
    const { resource: _, ...rest } = provider;
    return url === undefined ? provider : { ...rest, base_url: url };
  });
  const text = stringify({ ...catalog, providers });
  for (const [, name = ""] of text.matchAll(/\$\{(\w+)\}/g)) {
    process.env[name] = "a-key";
    variables.add(name);
  }
  writeFileSync(join(folder, "catalog.yaml"), text);
}

function findVendor({ id, kind }: Catalog["providers"][number]) {
  return vendors.get(kind) ?? (kind === "openai-compatible" ? vendors.get(id) : undefined);
}

describe.for(pages)("%s", (page) => {
  const blocks = listBlocks(read(page));

  test("has commands that work, in their order", async () => {
    writeFileSync(join(folder, "catalog.yaml"), read("catalogs/sandbox.yaml"));
    const version = gateway.catalogVersion();
    let needsPackage = false;
    let vendor: VendorFake<never, never> | undefined;
    for (const { language, text } of blocks) {
      if (language === "yaml" && /^currency: /m.test(text) && /^providers:/m.test(text)) {
        const catalog: Catalog = parse(text);
        needsPackage = catalog.providers.some(({ kind }) => kind === "ai-sdk");
        vendor = catalog.providers.map((provider) => findVendor(provider)?.fake).find((fake) => fake !== undefined);
        // A package of the AI SDK is not installed here: the block is checked as if it were.
        if (needsPackage) expect(await gateway.applyCatalog(text)).toMatchObject({ kind: "accepted" });
        else writeCatalog(catalog);
      }
      if (language === "yaml" && text.startsWith("seller:")) writeFileSync(join(folder, "invoices.yaml"), text);
      if (language !== "sh") continue;
      for (const command of listCommands(text)) {
        if (needsPackage && command.startsWith("curl ")) continue;
        await runDocumented(command, vendor);
      }
    }
    if (gateway.catalogVersion() !== version) {
      await operate("catalog", "apply", join(repositoryDir, "catalogs/sandbox.yaml"));
      await followCatalog();
    }
  });

  test("names operator commands and options that exist", async () => {
    const spans = [...read(page).matchAll(/`((?:docker|kubectl) [^`]*)?sluicectl ([^`]+)`/g)];
    for (const [, , words = ""] of spans) await parseOperatorCommand(splitWords(placeholdersAsWords(words)));
  });

  test("has settings that the gateway accepts", () => {
    for (const { language, text } of blocks) {
      if (language !== "yaml") continue;
      const settings: unknown = parse(text);
      if (typeof settings !== "object" || settings === null) continue;
      const names = Object.keys(settings);
      if (names.some((name) => !(settingNames as readonly string[]).includes(name))) continue;
      // A page may show part of a file: complete it with the public address.
      const whole = { site_url: "https://ai.example.com", ...settings };
      const directory = mkdtempSync(join(folder, "settings-"));
      writeFileSync(join(directory, "sluice.yaml"), stringify(whole));
      const secrets = { STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: "whsec_1", EXAMPLE_SECRET: "secret" };
      expect(() => loadSettings({ environment: secrets, directory }), names.join()).not.toThrow();
    }
  });
});
