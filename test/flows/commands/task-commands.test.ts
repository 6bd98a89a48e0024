import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CommandOutcome, runCommand } from "../../harness/gateway-process.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import { openTaskGateway, type TaskCaller, type TaskGateway } from "../../harness/tasks/task-gateway.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";
import { waitUntil } from "../../harness/wait-until.ts";

let database: TestDatabase;
let place: TaskGateway;
let caller: TaskCaller;

beforeAll(async () => {
  database = await createTestDatabase();
  place = await openTaskGateway({ sharedDatabase: database });
  caller = await place.createCaller();
});
afterAll(async () => {
  await place[Symbol.asyncDispose]();
  await database.close();
});

const getEnvironment = () => ({ DATABASE_URL: database.url, SLUICE_DATA_DIR: place.dataDir });

async function attempt(...words: string[]): Promise<CommandOutcome> {
  return await runCommandHere(["task", ...words], { environment: getEnvironment() });
}

/** Runs a command and parses the JSON it prints. */
async function run(...words: string[]) {
  const outcome = await attempt(...words, "--json");
  expect(outcome).toMatchObject({ stderr: "", exitCode: 0 });
  return JSON.parse(outcome.stdout);
}

/** A task that its upstream has accepted, and that ends when the test releases it. */
async function submitHeld(prompt: string) {
  const gate = place.upstream.gate();
  place.media.script({ beforeStart: gate });
  const { id } = await caller.submitImage("image", prompt);
  await waitUntil("the upstream to have it", async () => {
    const query = place.database.selectFrom("tasks").select("phase").where("id", "=", id);
    return (await query.executeTakeFirst())?.phase === "running";
  });
  return { id, gate };
}

async function readLease(id: string) {
  return (await place.listLeases()).find(({ task_id }) => task_id === id);
}

test("an operator filters tasks by account, status and model, and sees operator-only fields", async () => {
  const { id } = await caller.submitImage("image", "Listed");
  await caller.awaitTask(id);
  const other = await place.createCaller();
  const speech = await other.post(
    "/audio/speech",
    { model: "speech", input: "Hello", voice: "alloy" },
    { headers: { prefer: "respond-async" } },
  );
  const { id: speechId } = (await speech.json()) as { id: string };
  await other.awaitTask(speechId);
  const list = async (...words: string[]): Promise<string[]> =>
    (await run("list", ...words)).map((task: { id: string }) => task.id);
  expect(await list()).toEqual([speechId, id]);
  expect(await list("--account", caller.accountId)).toEqual([id]);
  expect(await list("--type", "image", "--status", "succeeded")).toEqual([id]);
  expect(await list("--model", "speech")).toEqual([speechId]);
  expect(await list("--status", "failed")).toEqual([]);
  expect(await list("--limit", "1")).toEqual([speechId]);
  const shown = await run("show", id);
  expect(shown).toMatchObject({
    id,
    account: caller.accountId,
    key: caller.keyId,
    status: "succeeded",
    phase: "ended",
    charge: "0.04",
    upstream: { providerId: "fal" },
    files: [expect.stringMatching(/^file_/)],
  });
  const text = (await runCommand(["task", "list"], { environment: getEnvironment() })).stdout;
  expect(text).toMatch(/^ID +ACCOUNT/);
  expect(text).toContain(id);
  expect((await attempt("show", id)).stdout).toContain(shown.hold);
});

describe("retry", () => {
  test("makes a worker poll an open task at once", async () => {
    const { id, gate } = await submitHeld("Woken");
    const far = new Date(Date.now() + 3_600_000);
    await sql`update task_leases set next_poll_at = ${far} where task_id = ${id}`.execute(place.database);
    gate.open();
    expect(await run("retry", id)).toMatchObject({ outcome: "woken", id });
    expect(await caller.awaitTask(id)).toMatchObject({ status: "succeeded" });
    expect(place.media.submissionsOf("Woken")).toHaveLength(1);
  });

  test("leaves a task alone that is being submitted", async () => {
    const gate = place.upstream.gate();
    place.media.script({ beforeHead: gate });
    const { id } = await caller.submitImage("image", "Handed over");
    await gate.reached();
    const before = await readLease(id);
    expect(await run("retry", id)).toMatchObject({ outcome: "woken", phase: "submitting" });
    const after = await readLease(id);
    expect(after).toMatchObject({ fencing_token: before?.fencing_token });
    // Its worker keeps the lease for as long as before, or has extended it meanwhile.
    expect(after?.next_poll_at.getTime()).toBeGreaterThanOrEqual(before?.next_poll_at.getTime() ?? 0);
    gate.open();
    expect(await caller.awaitTask(id)).toMatchObject({ status: "succeeded" });
    expect(place.media.submissionsOf("Handed over")).toHaveLength(1);
  });

  test("creates a new task from a finished one, with a new hold and charge", async () => {
    const { id } = await caller.submitImage("image", "Again");
    await caller.awaitTask(id);
    const before = await caller.listCharges();
    const made = await run("retry", id);
    expect(made).toMatchObject({ outcome: "recreated", status: "queued", model: "image", charge: "0.00" });
    expect(made.id).not.toBe(id);
    expect(await caller.awaitTask(made.id)).toMatchObject({ status: "succeeded", usage: { charge: "0.04" } });
    expect(await caller.listCharges()).toHaveLength(before.length + 1);
    expect(place.media.submissionsOf("Again")).toHaveLength(2);
    const old = await run("show", id);
    const anew = await run("show", made.id);
    expect(anew.hold).not.toBe(old.hold);
    expect(anew.files).not.toEqual(old.files);
  });

  test("of a task whose account has no money left is refused, and creates nothing", async () => {
    const poor = await place.createCaller({ cash: "0.05" });
    const { id } = await poor.submitImage("image", "Poor");
    await poor.awaitTask(id);
    const outcome = await attempt("retry", id);
    expect(outcome.exitCode).not.toBe(0);
    expect(outcome.stderr).toContain("balance");
    expect(await run("list", "--account", poor.accountId)).toHaveLength(1);
  });
});

describe("cancel", () => {
  test("cancels an open task at its upstream, and leaves a finished one as it is", async () => {
    const { id, gate } = await submitHeld("Unwanted");
    for (const { submission, behaviour } of place.media.jobs) {
      if (submission.prompt === "Unwanted") behaviour.cancel = "gone";
    }
    expect(await run("cancel", id)).toMatchObject({ id, cancel_requested_at: expect.any(String) });
    expect(await caller.awaitTask(id)).toMatchObject({ status: "canceled", usage: { charge: "0.00" } });
    gate.open();
    const before = await run("show", id);
    expect(await run("cancel", id)).toEqual(before);
    expect((await attempt("cancel", id)).stdout).toContain(`${id} is canceled.`);
  });
});

test.for([
  ["an unknown task", ["show", "task_unknown"], "no such task"],
  ["an unknown task to retry", ["retry", "task_unknown"], "no such task"],
  ["an unknown state", ["list", "--status", "done"], "queued"],
  ["an unknown type", ["list", "--type", "picture"], "image"],
  ["too many", ["list", "--limit", "1001"], "1000"],
] as const)("%s is reported in a sentence", async ([, words, sentence]) => {
  const outcome = await attempt(...words);
  expect([outcome.exitCode === 0, outcome.stdout]).toEqual([false, ""]);
  expect(outcome.stderr).toContain(sentence);
  expect(outcome.stderr).not.toContain(" at ");
});

test("upstream list shows how many tasks each upstream has", async () => {
  const { id, gate } = await submitHeld("Counted");
  const list = (...words: string[]) =>
    runCommandHere(["upstream", "list", ...words], { environment: getEnvironment() });
  const listed = JSON.parse((await list("--json")).stdout) as { provider: string; tasks: object }[];
  expect(listed.find(({ provider }) => provider === "fal")?.tasks).toEqual({
    ...{ at_work: 1, waiting: 0, max: null, per_minute: null, limits_per: "provider" },
  });
  expect((await list()).stdout).toMatch(/^fal .* 1 +closed/m);
  gate.open();
  await caller.awaitTask(id);
});
