import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CommandOutcome,
  findFreePort,
  type GatewayProcess,
  runCommand,
  startGatewayProcess,
} from "../../harness/gateway-process.ts";
import { createPreparedDirectory } from "../../harness/prepared-directory.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import { startWebhookReceiver, verifyDelivery, type WebhookReceiver } from "../../harness/servers/webhook-receiver.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const data = createPreparedDirectory();
let environment: Record<string, string>;
let gateway: GatewayProcess;
let receiver: WebhookReceiver;
let accountId: string;
let key: string;

beforeAll(async () => {
  environment = { SLUICE_DATA_DIR: data.path, SLUICE_PORT: await findFreePort() };
  receiver = await startWebhookReceiver();
  gateway = await startGatewayProcess({ environment });
  accountId = (await run("account", "create", "--email", "ada@example.com")).id;
  key = (await run("key", "create", "--account", accountId)).key;
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  data[Symbol.dispose]();
});

async function attempt(...words: string[]): Promise<CommandOutcome> {
  return await runCommandHere(words, { environment });
}

/** Runs a command and parses the JSON it prints. */
async function run(...words: string[]) {
  const outcome = await attempt(...words, "--json");
  expect(outcome.stderr).toBe("");
  return JSON.parse(outcome.stdout);
}

test("an operator creates an endpoint, lists its deliveries, and resends one", async () => {
  const created = await run(
    "webhook",
    "create",
    "--account",
    accountId,
    "--url",
    receiver.url,
    "--events",
    "task.failed",
  );
  expect(created).toMatchObject({
    account_id: accountId,
    url: receiver.url,
    event_types: ["task.failed"],
    enabled: true,
  });
  const response = await fetch(`http://localhost:${environment.SLUICE_PORT}/v1/webhook_endpoints/${created.id}/test`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
  });
  expect(response.status).toBe(202);
  const event = (await response.json()) as { id: string };
  const [request] = await receiver.waitForDeliveries(1);
  if (request === undefined) throw new Error("Nothing arrived.");
  expect(verifyDelivery(request, created.secret, new Date())).toMatchObject({ id: event.id, type: "webhook.test" });
  const { secret, ...listed } = created;
  expect(await run("webhook", "list", "--account", accountId)).toEqual([listed]);
  expect((await attempt("webhook", "list")).stdout).not.toContain(secret);
  const list = (...words: string[]) => run("webhook", "deliveries", "--event", event.id, ...words);
  const [delivery] = await waitUntil("the result", async () => {
    const found = await list("--state", "succeeded");
    return found.length > 0 && found;
  });
  expect(delivery).toMatchObject({ endpoint_id: created.id, attempts: [{ number: 1, status: 200, error: null }] });
  expect((await attempt("webhook", "deliveries", "--endpoint", created.id)).stdout).toMatch(/succeeded +1 +200/);
  expect(await run("webhook", "resend", event.id, "--endpoint", created.id)).toMatchObject([{ event_id: event.id }]);
  const all = await receiver.waitForDeliveries(2);
  expect(all.map(({ headers }) => headers["webhook-id"])).toEqual([event.id, event.id]);
});

test("without a terminal, the secret goes to a file that only its owner can read", async () => {
  const words = ["webhook", "create", "--account", accountId, "--url", "https://example.com/"];
  const { stdout } = await runCommand(words, { environment });
  const id = /whe_[0-9a-z]+/.exec(stdout)?.[0] ?? "";
  const path = join(data.path, "secrets", id);
  expect(stdout).toContain(path);
  const secret = readFileSync(path, "utf8").trim();
  expect(secret).toMatch(/^whsec_/);
  expect(stdout).not.toContain(secret);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test.each([
  [["create", "--account", "acct_nobody", "--url", "https://example.com/"], "There is no account acct_nobody"],
  [["create", "--account", "ACCOUNT", "--url", "ftp://example.com/"], "The URL must begin with https://"],
  [
    ["create", "--account", "ACCOUNT", "--url", "https://example.com/1", "--events", "task.begun"],
    "--events must be a comma-separated list of task.succeeded",
  ],
  [["deliveries", "--state", "lost"], "--state must be one of pending, succeeded, failed, dropped"],
  [["resend", "evt_nothing"], "There is no event evt_nothing"],
])("webhook %j is refused with a sentence", async (words, sentence) => {
  const outcome = await attempt("webhook", ...words.map((word) => (word === "ACCOUNT" ? accountId : word)));
  expect(outcome).toMatchObject({ exitCode: 1, stdout: "" });
  expect(outcome.stderr).toContain(sentence);
});

test("an operator opens the inbox of an account without a webhook, and its dramas are accepted from then on", async () => {
  const other = (await run("account", "create", "--email", "eve@example.com", "--credit", "10.00")).id;
  const otherKey = (await run("key", "create", "--account", other)).key;
  const body = { model: "sandbox-drama", title: "T", script: "A lamp goes out.", stage: "script" };
  const send = async (): Promise<Response> =>
    await fetch(`http://localhost:${environment.SLUICE_PORT}/v1/dramas/generations`, {
      method: "POST",
      headers: { authorization: `Bearer ${otherKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  expect((await send()).status).toBe(400);
  expect(await run("webhook", "inbox", "--account", other)).toEqual({ account: other, inbox: "open" });
  expect((await send()).status).toBe(202);
  expect((await attempt("webhook", "inbox", "--account", "acct_nobody")).stderr).toContain("There is no account");
});
