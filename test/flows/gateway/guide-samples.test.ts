import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bookCredit } from "../../../src/features/ledger/index.ts";
import { openEventInbox } from "../../../src/features/webhooks/index.ts";
import { nano } from "../../../src/lib/money.ts";
import type { Block } from "../../../web/src/api/guide-document.ts";
import { parseMarkdown } from "../../../web/src/pages/guide/parse-document.ts";
import { findFreePort } from "../../harness/gateway-process.ts";
import { makeMedia } from "../../harness/media/media-files.ts";
import { repositoryDir } from "../../harness/repository-files.ts";
import { approve } from "../../harness/site/connect-program.ts";
import { signUpVisitor, visitorSettings } from "../../harness/site/site-visitor.ts";
import { startGateway, type TestGateway } from "../../harness/test-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const run = promisify(execFile);
const documentsDir = join(repositoryDir, "docs/api");

type Sample = { document: string; language: string; code: string };

/** Every code block of the guide. */
const samples: Sample[] = readdirSync(documentsDir)
  .filter((name) => name.endsWith(".md"))
  .flatMap((document) => {
    const blocks = parseMarkdown(readFileSync(join(documentsDir, document), "utf8"));
    return listCode(blocks).map((sample) => ({ document, ...sample }));
  });

function listCode(blocks: readonly Block[]): { language: string; code: string }[] {
  return blocks.flatMap((block) => {
    if (block.kind === "list") return block.items.flatMap(listCode);
    return block.kind === "code" ? block.samples : [];
  });
}

const commands = samples.filter(
  ({ language, code }) =>
    language === "sh" &&
    code.includes("http://localhost:4242/v1") &&
    // These need a finished video: `drama-reshoot.test.ts` sends them.
    !code.includes("/dramas/task_…/shots"),
);
const programs = samples.filter(({ language, code }) => language === "ts" && !isServer(code));

function isServer(code: string): boolean {
  return code.includes("createServer");
}

function findServer(document: string): string {
  return samples.find((sample) => sample.document === document && isServer(sample.code))?.code ?? "";
}

let gateway: TestGateway;
let folder: string;
let environment: NodeJS.ProcessEnv;
let referenceFileId: string;

beforeAll(async () => {
  gateway = await startGateway({ settings: visitorSettings });
  const caller = await gateway.createCaller();
  const credit = { accountId: caller.accountId, actor: "test", reason: "test", reference: null };
  await bookCredit(gateway.parts, { ...credit, booking: { kind: "top-up", amount: nano(20_000_000_000n) } });
  await openEventInbox(gateway.database, caller.accountId, gateway.parts.clock.now());
  environment = { ...process.env, SLUICE_API_KEY: caller.key };
  folder = mkdtempSync(join(tmpdir(), "sluice-guide-"));
  // The folder of a reader who has installed the clients.
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["openai", "standardwebhooks", "@stablelib", "fast-sha256"]) {
    const installed = join(repositoryDir, "node_modules", name);
    if (existsSync(installed)) symlinkSync(installed, join(folder, "node_modules", name));
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "portrait.png"), await makeMedia("png"));
  referenceFileId = await uploadPortrait();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await gateway[Symbol.asyncDispose]();
});

async function uploadPortrait(): Promise<string> {
  const command = commands.find(({ code }) => code.includes("/files"))?.code ?? "";
  const { stdout } = await run("bash", ["-euo", "pipefail", "-c", adapt(command)], { cwd: folder, env: environment });
  return JSON.parse(stdout).file_id;
}

async function cancelTask(id: string): Promise<void> {
  const headers = { authorization: `Bearer ${environment.SLUICE_API_KEY}` };
  const answer = await fetch(`${gateway.baseUrl}/tasks/${id}/cancel`, { method: "POST", headers });
  expect(answer.status).toBeLessThan(300);
}

/** Replaces the documents' address by the site's, as the guide's page does, and the reader's ids. */
function adapt(code: string): string {
  return code
    .replaceAll("http://localhost:4242", gateway.siteUrl)
    .replaceAll("{site_url}", gateway.siteUrl)
    .replaceAll("file_…", referenceFileId);
}

test("the guide has samples of every kind", () => {
  expect(commands.length).toBeGreaterThan(7);
  expect(programs.length).toBeGreaterThan(4);
});

test.for(commands)("a command of $document works as printed: $code", async ({ code }) => {
  const { stdout } = await run("bash", ["-euo", "pipefail", "-c", adapt(code)], { cwd: folder, env: environment });
  if (code.includes('"stream": true')) {
    expect(stdout).toMatch(/^data: \[DONE\]$/m);
    expect(stdout).toContain('"usage":{');
  } else {
    const answer = JSON.parse(stdout);
    expect(answer.error ?? null).toBeNull();
    // A video takes minutes, and this test does not need it.
    if (answer.status === "queued" || answer.status === "processing") await cancelTask(answer.id);
  }
});

test.for(programs)("a program of $document works as printed: $code", async ({ code }) => {
  writeFileSync(join(folder, "sample.ts"), adapt(code));
  const { stdout } = await run(process.execPath, ["sample.ts"], { cwd: folder, env: environment });
  if (code.includes("tools")) expect(stdout).toMatch(/^called get_water_level \{"gate":.*\}\n.+/);
  else if (code.includes("isReplayed")) expect(stdout).toBe("true true\n");
  else if (code.includes("audio.transcriptions")) expect(stdout).toBe("The gate is open.\n");
  else if (code.includes("audio.speech")) expect(readFileSync(join(folder, "hello.mp3")).length).toBeGreaterThan(1000);
  else if (code.includes("images.generate")) expect(stdout).toMatch(/\/files\/file_\w+\?expires=/);
  else if (code.includes("embeddings")) expect(stdout).toMatch(/^0\.[1-9]\d The gate.*\n-?0\.0\d Bake.*total_tokens/s);
  else expect(stdout).toMatch(/sluice.*total_tokens/s);
});

test("the guide's receiver accepts signed events, once, and refuses unsigned ones", async () => {
  const port = await findFreePort();
  const secret = `whsec_${Buffer.from("a secret of the test, long enough").toString("base64")}`;
  const code = findServer("webhooks.md").replace("8080", port);
  await using receiver = startProgram("receiver.ts", code, { SLUICE_WEBHOOK_SECRET: secret });
  const body = JSON.stringify({ id: "evt_1", type: "task.succeeded", created: 1, data: { task_id: "task_1" } });
  const send = async (signature: string): Promise<number> => {
    const headers = { "webhook-id": "evt_1", "webhook-timestamp": sentAt, "webhook-signature": signature };
    return (await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body })).status;
  };
  const now = new Date();
  const sentAt = String(Math.floor(now.getTime() / 1000));
  const signature = new Webhook(secret).sign("evt_1", now, body);
  await waitUntil("the receiver", () => send(signature).catch(() => null));
  expect(await send(signature)).toBe(204);
  expect(await send(signature.replace(/.{4}$/, "AAA="))).toBe(400);
  expect(receiver.printed()).toBe("task.succeeded task_1\n");
});

test("the guide's client gets a working key with a device code", async () => {
  const { visitor } = await signUpVisitor(gateway);
  await using client = startProgram("client.ts", adapt(findServer("browser-authorization.md")), {});
  const entry = await waitUntil("the client's address", () => /^http\S+/.exec(client.printed())?.[0]);
  const opened = await fetch(entry, { redirect: "manual" });
  const requestId = (opened.headers.get("location") ?? "").slice("/connect/requests/".length);
  const query = await approve(visitor, requestId);
  const callback = new URL(new URL(entry).searchParams.get("redirect_uri") ?? "");
  const strange = await fetch(`${callback}?code=1&state=another`);
  expect(strange.status).toBe(404);
  const page = await fetch(`${callback}?${query}`);
  expect(await page.text()).toContain("window.close()");
  expect(await client.ended()).toBe(0);
  expect(client.printed()).toMatch(/\nBA:my-tool 200\n$/);
});

test.skipIf(!existsSync("/usr/bin/python3"))("the Python samples compile", async () => {
  const codes = samples.filter(({ language }) => language === "python").map(({ code }) => code);
  expect(codes.length).toBeGreaterThan(3);
  await run("/usr/bin/python3", ["-c", "import ast, sys; [ast.parse(code) for code in sys.argv[1:]]", ...codes]);
});

test("the JSON samples parse", () => {
  for (const { language, code } of samples) if (language === "json") expect(() => JSON.parse(code)).not.toThrow();
});

type RunningProgram = AsyncDisposable & { printed(): string; ended(): Promise<number | null> };

function startProgram(name: string, code: string, more: Record<string, string>): RunningProgram {
  writeFileSync(join(folder, name), code);
  const child: ChildProcess = spawn(process.execPath, [name], {
    cwd: folder,
    env: { ...environment, ...more },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout?.on("data", (chunk) => {
    output += chunk;
  });
  const end = new Promise<number | null>((resolve) => child.once("exit", resolve));
  return {
    printed: () => output,
    ended: () => end,
    async [Symbol.asyncDispose]() {
      child.kill();
      await end;
    },
  };
}
