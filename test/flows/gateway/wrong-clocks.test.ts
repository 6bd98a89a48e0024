// @module-tag extended
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { upstreamKeyName, writePrice } from "../../harness/chat/chat-catalog.ts";
import { findFreePort, type GatewayProcess, runCommand, startGatewayProcess } from "../../harness/gateway-process.ts";
import { writeTaskCatalog } from "../../harness/tasks/task-catalog.ts";
import { openTaskGateway, type TaskCaller, type TaskGateway } from "../../harness/tasks/task-gateway.ts";
import { createTestDatabase } from "../../harness/test-database.ts";
import { canary, type FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { createGate } from "../../harness/upstreams/gate.ts";
import { waitUntil } from "../../harness/wait-until.ts";
import { createWrongClock, hasWrongClocks } from "../../harness/wrong-clock.ts";

const hour = 3600;

function writeCatalog(upstream: FakeUpstreams): string {
  const chat = {
    id: "chat",
    type: "chat",
    capabilities: ["chat", "streaming"],
    limits: { context_window: 128_000, max_output_tokens: 1000 },
    routes: [{ provider: "open", upstream_model: `${canary}-open` }],
  };
  return writeTaskCatalog(upstream, { models: [chat], prices: [writePrice("chat")] });
}

/** A gateway with a right clock in this process, and one on the same database in a process whose clock a test sets. */
async function openTwoGateways(aheadSeconds: number) {
  const stack = new AsyncDisposableStack();
  const database = await createTestDatabase();
  stack.defer(() => database.close());
  const clock = stack.use(createWrongClock(aheadSeconds));
  const right = stack.use(await openTaskGateway({ sharedDatabase: database, catalog: writeCatalog }));
  const environment = {
    ...clock.environment,
    DATABASE_URL: database.url,
    SLUICE_DATA_DIR: right.dataDir,
    SLUICE_PORT: await findFreePort(),
    [upstreamKeyName]: "sk-fake-upstream",
  };
  let started: Promise<GatewayProcess> | null = null;
  stack.defer(async () => await (await started)?.[Symbol.asyncDispose]());
  return {
    ...{ right, clock, environment, siteUrl: `http://127.0.0.1:${environment.SLUICE_PORT}` },
    startWrong(): Promise<GatewayProcess> {
      started ??= startGatewayProcess({ environment });
      return started;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function readReadiness(siteUrl: string): Promise<string> {
  const response = await fetch(`${siteUrl}/readyz`);
  const { error } = (await response.json()) as { error?: { message: string } };
  return `${response.status} ${error?.message ?? ""}`;
}

async function waitForReadiness(siteUrl: string, pattern: RegExp): Promise<void> {
  let last = "";
  const look = async () => {
    last = await readReadiness(siteUrl);
    return pattern.test(last);
  };
  await waitUntil(`/readyz to match ${pattern}`, look, 60_000).catch((error: Error) => {
    throw new Error(`${error.message}; it says: ${last}`);
  });
}

function postAt(siteUrl: string, { key }: TaskCaller, path: string, body: unknown, more: Record<string, string> = {}) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...more };
  return fetch(`${siteUrl}/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

async function submitImage(siteUrl: string, caller: TaskCaller, prompt: string): Promise<string> {
  const response = await postAt(siteUrl, caller, "/images/generations", { model: "image", prompt, size: "64x64" });
  expect(response.status).toBe(202);
  return ((await response.json()) as { id: string }).id;
}

/**
 * Some tasks of each gateway are being submitted while others start, are polled and end: no gateway claims what another
 * is submitting. Returns the tasks being submitted, which go on.
 */
async function expectLeasesToHold(
  { right, caller, siteUrls }: { right: TaskGateway; caller: TaskCaller; siteUrls: readonly string[] },
  name: string,
): Promise<string[]> {
  const gate = createGate();
  right.media.alwaysFor(({ prompt }) => prompt.startsWith(`Slow ${name}`), { beforeHead: gate });
  right.media.alwaysFor(({ prompt }) => prompt.startsWith(`Quick ${name}`), { work: 1 });
  const slow: string[] = [];
  for (const siteUrl of [...siteUrls, ...siteUrls]) {
    slow.push(await submitImage(siteUrl, caller, `Slow ${name} ${slow.length}`));
  }
  await gate.reached(slow.length);
  const quick = await Promise.all(siteUrls.map((siteUrl) => submitImage(siteUrl, caller, `Quick ${name} ${siteUrl}`)));
  for (const id of quick) expect(await caller.awaitTask(id)).toMatchObject({ status: "succeeded" });
  const leases = (await right.listLeases()).filter(({ task_id }) => slow.includes(task_id));
  expect(leases.map(({ fencing_token }) => fencing_token)).toEqual(slow.map(() => 1));
  gate.open();
  return slow;
}

describe.skipIf(!hasWrongClocks)("a gateway whose clock is wrong", () => {
  let place: Awaited<ReturnType<typeof openTwoGateways>>;
  beforeAll(async () => {
    place = await openTwoGateways(2 * hour);
  });
  afterAll(() => place[Symbol.asyncDispose]());

  test("from its start on is out of service, and does not end another's work", { timeout: 240_000 }, async () => {
    const { right, clock, siteUrl } = place;
    const caller = await right.createCaller();
    const gate = createGate();
    const askedBefore = right.upstream.requests.length;
    const question = { model: "chat", messages: [{ role: "user", content: "A tale" }] };
    right.upstream.script({ beforeEnd: gate });
    const stream = await caller.post("/chat/completions", { ...question, stream: true });
    await gate.reached(1);
    right.upstream.script({ beforeHead: gate });
    const headers = { "idempotency-key": "tale" };
    const first = caller.post("/chat/completions", question, { headers });
    await gate.reached(2);

    const wrong = await place.startWrong();
    await waitForReadiness(siteUrl, /^503 .*clock is 7200\.\d s ahead of the database's/);
    expect(wrong.output()).toMatch(/"level":"error".*"ahead_seconds":7200/);
    const second = await postAt(siteUrl, caller, "/chat/completions", question, headers);
    expect([second.status, await second.json()]).toMatchObject([409, { error: { code: "idempotency_in_progress" } }]);
    const doctor = await runCommand(["doctor"], { environment: place.environment });
    expect(doctor.stdout).toMatch(/✗ clock +7200\.\d s ahead of the database's/);

    gate.open();
    expect(await stream.text()).toMatch(/data: \[DONE\]\n\n$/);
    expect((await first).status).toBe(200);
    // Neither was submitted a second time.
    expect(right.upstream.scriptsLeft()).toBe(0);
    expect(right.upstream.requests.length - askedBefore).toBe(2);
    expect((await caller.listHolds()).map(({ state }) => state)).toEqual(["settled", "settled"]);

    clock.set(0);
    await waitForReadiness(siteUrl, /^200/);
    expect(wrong.output()).toContain("clocks agree again");
  });

  test("from some moment on is out of service until it is right, and finishes its own tasks only", {
    timeout: 240_000,
  }, async () => {
    const { right, clock, siteUrl } = place;
    clock.set(0);
    const wrong = await place.startWrong();
    await waitForReadiness(siteUrl, /^200/);
    const toldBefore = wrong.output().length;
    const caller = await right.createCaller();
    const siteUrls = [right.gateway.siteUrl, siteUrl];
    const slow: string[] = [];
    for (const seconds of [20, -20, -2 * hour, 2 * hour]) {
      clock.set(seconds);
      const words = seconds > 0 ? "ahead of" : "behind";
      await waitForReadiness(
        siteUrl,
        new RegExp(`^503 .*clock is ${Math.abs(seconds)}\\.\\d s ${words} the database's`),
      );
      slow.push(...(await expectLeasesToHold({ right, caller, siteUrls }, `${seconds} ${caller.accountId}`)));
    }
    for (const id of slow) expect(await caller.awaitTask(id)).toMatchObject({ status: "succeeded" });
    const isSlow = ({ prompt }: { prompt: string }) => prompt.startsWith("Slow") && prompt.includes(caller.accountId);
    expect(right.media.submissions.filter(isSlow)).toHaveLength(slow.length);
    clock.set(0);
    await waitForReadiness(siteUrl, /^200/);
    const { rows } = await sql`select id from tasks where abs(extract(epoch from created_at - now())) > 600`.execute(
      right.database,
    );
    expect(rows).toEqual([]);
    expect(
      wrong
        .output()
        .slice(toldBefore)
        .match(/machine clock wrong/g),
    ).toHaveLength(1);
  });
});
