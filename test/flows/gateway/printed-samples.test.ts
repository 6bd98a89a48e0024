// @module-tag extended
import { execFile } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bookCredit } from "../../../src/features/ledger/index.ts";
import { openEventInbox } from "../../../src/features/webhooks/index.ts";
import { nano } from "../../../src/lib/money.ts";
import {
  type SampleType,
  writeModelSamples,
  writeRequestSamples,
} from "../../../web/src/parts/samples/code-samples.ts";
import { writeTerminalSamples } from "../../../web/src/parts/samples/terminal-samples.ts";
import { chatWires, writeWireSamples } from "../../../web/src/parts/samples/wire-samples.ts";
import { drawPortrait } from "../../harness/media/portrait.ts";
import { repositoryDir } from "../../harness/repository-files.ts";
import { startGateway, type TestGateway } from "../../harness/test-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const run = promisify(execFile);
const types = [
  "chat",
  "image",
  "video",
  "avatar",
  "drama",
  "speech",
  "embedding",
  "transcription",
] as const satisfies readonly SampleType[];

let gateway: TestGateway;
let key: string;
let folder: string;

beforeAll(async () => {
  gateway = await startGateway();
  const catalog = readFileSync(join(repositoryDir, "catalogs/sandbox.yaml"), "utf8");
  // Small media are fast to create; the samples derive from the limits.
  const small = catalog.replace("durations: [5, 10]", "durations: [1]").replace("[1024x1024,", "[128x128,");
  const outcome = await gateway.applyCatalog(small);
  await waitUntil("the catalog", () => outcome.kind === "accepted" && gateway.catalogVersion() === outcome.version);
  const caller = await gateway.createCaller();
  key = caller.key;
  const credit = { accountId: caller.accountId, actor: "test", reason: "test", reference: null };
  await bookCredit(gateway.parts, { ...credit, booking: { kind: "top-up", amount: nano(20_000_000_000n) } });
  await openEventInbox(gateway.database, caller.accountId, gateway.parts.clock.now());
  folder = mkdtempSync(join(tmpdir(), "sluice-samples-"));
  // The folder of a reader who has installed the client.
  mkdirSync(join(folder, "node_modules/@anthropic-ai"), { recursive: true });
  for (const client of ["node_modules/openai", "node_modules/@anthropic-ai/sdk"]) {
    symlinkSync(join(repositoryDir, client), join(folder, client));
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "portrait.png"), await drawPortrait(320, 480));
  copyFileSync(join(repositoryDir, "test/harness/upstreams/media/voice.mp3"), join(folder, "voice.mp3"));
  copyFileSync(join(folder, "voice.mp3"), join(folder, "recording.mp3"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await gateway[Symbol.asyncDispose]();
});

async function readModel(type: SampleType) {
  const response = await gateway.get(`/models/sandbox-${type}`, key);
  return (await response.json()) as Parameters<typeof writeModelSamples>[0];
}

/** Runs a pasted sample, with a key in the environment; returns its output. */
async function runSample({ id, code }: { id: string; code: string }): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, SLUICE_API_KEY: key } };
  if (id === "curl") return (await run("bash", ["-euo", "pipefail", "-c", code], options)).stdout;
  writeFileSync(join(folder, "sample.ts"), code);
  return (await run(process.execPath, ["sample.ts"], options)).stdout;
}

describe.each(types)("the samples for %s", (type) => {
  test.each([
    ["curl", 0],
    ["TypeScript", 2],
  ] as const)("work as printed: %s", async (_, index) => {
    rmSync(join(folder, "speech.mp3"), { force: true });
    const printed = await runSample(writeModelSamples(await readModel(type), gateway.baseUrl)[index]);
    if (type === "chat") expect(printed).toContain("sluice");
    else if (type === "speech") expect(readFileSync(join(folder, "speech.mp3")).length).toBeGreaterThan(1000);
    else if (type === "embedding") expect(printed).toMatch(/"object":"list"|^0 512\n1 512$/m);
    else if (type === "transcription") expect(printed).toContain("The sandbox writes down only");
    else expect(printed).toMatch(/succeeded.*url/s);
  });
});

describe.each(["responses", "messages"] as const)("the chat samples for the wire format %s", (wire) => {
  test.each([
    ["curl", 0],
    ["TypeScript", 2],
  ] as const)("work as printed: %s", async (_, index) => {
    const samples = writeWireSamples(wire, await readModel("chat"), gateway.baseUrl);
    expect(await runSample(samples[index])).toContain("sluice");
  });
});

test.skipIf(!existsSync("/usr/bin/python3"))(
  "the Python samples of every type and wire format are valid Python",
  async () => {
    const models = await Promise.all(types.map(readModel));
    const codes = models.map((model) => writeModelSamples(model, gateway.baseUrl)[1].code);
    for (const { id: wire } of chatWires) {
      codes.push(writeWireSamples(wire, await readModel("chat"), gateway.baseUrl)[1].code);
    }
    const body = { model: "m", messages: [{ role: "user", content: `It's "quoted"` }], stream: true, stop: null };
    codes.push(writeRequestSamples({ type: "chat", body, baseUrl: gateway.baseUrl })[1].code);
    await run("/usr/bin/python3", ["-c", "import ast, sys; [ast.parse(code) for code in sys.argv[1:]]", ...codes]);
  },
);

describe("a first call for the terminal", () => {
  /** The programs that a reader has installed, under the names that the samples use. */
  beforeAll(() => {
    const programs = {
      node: `exec ${process.execPath} "$@"`,
      sluice: `exec ${process.execPath} ${join(repositoryDir, "packages/cli/src/sluice.ts")} "$@"`,
      // Claude Code reads its settings from the same variables as Anthropic's client.
      claude: `exec ${process.execPath} claude.mts "$@"`,
      // The client for Python is not installed, so only compile the call.
      python3: `exec /usr/bin/python3 -c 'import ast, sys; ast.parse(sys.stdin.read()); print("sluice")'`,
    };
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    writeFileSync(join(folder, "claude.mts"), claudeStandIn);
  });

  test.each(["typescript", "claude-code", "cli", ...(existsSync("/usr/bin/python3") ? (["python"] as const) : [])])(
    "runs as pasted, with the key in it: %s",
    async (id) => {
      const place = { baseUrl: gateway.baseUrl, siteUrl: gateway.siteUrl, key };
      const sample = writeTerminalSamples(await readModel("chat"), place).find((each) => each.id === id);
      const environment = { PATH: `${folder}:${process.env.PATH}`, HOME: folder };
      const options = { cwd: folder, env: environment };
      const { stdout } = await run("bash", ["-euo", "pipefail", "-c", sample?.code ?? "exit 1"], options);
      expect(stdout).toContain("sluice");
    },
  );
});

const claudeStandIn = `import Anthropic from "@anthropic-ai/sdk";

const [flag, content] = process.argv.slice(2);
if (flag !== "-p") throw new Error("one question is asked, without a conversation");
const message = await new Anthropic().messages.create({
  model: process.env.ANTHROPIC_MODEL,
  max_tokens: 500,
  messages: [{ role: "user", content }],
});
console.log(message.content[0].text);
`;

test("a text with quotes reaches the model unchanged, and a stream is read as one", async () => {
  const content = `Say "it's open" and 'nothing' more: $HOME \\ \`x\``;
  const body = { model: "sandbox-chat", messages: [{ role: "user", content }], stream: true };
  const samples = writeRequestSamples({ type: "chat", body, baseUrl: gateway.baseUrl });
  const raw = await runSample(samples[0]);
  const pieces = [...raw.matchAll(/^data: (\{.*)$/gm)].map(
    ([, data = ""]) => JSON.parse(data).choices[0]?.delta.content,
  );
  expect(await runSample(samples[2])).toBe(pieces.join(""));
});
