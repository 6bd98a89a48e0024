import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTaskGateway, type TaskGateway } from "../../harness/tasks/task-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

let place: TaskGateway;
beforeEach(async () => {
  place = await openTaskGateway({ settings: { site_url: "https://sluice.example.com" } });
});
afterEach(() => place[Symbol.asyncDispose]());

async function call(path: string, body: string | null = "{}"): Promise<number> {
  const address = `http://127.0.0.1:${place.gateway.port}${path}`;
  return (await fetch(address, { method: "POST", body, headers: { "content-type": "application/json" } })).status;
}

const readLease = async () =>
  (
    await sql<{ next_poll_at: Date; rested_at: Date | null }>`
  select next_poll_at, rested_at from task_leases`.execute(place.database)
  ).rows[0];

/** A job at the vendor that the gateway will not poll for an hour. */
async function startJob(): Promise<{ path: string; id: string }> {
  place.media.always({ work: 1_000 });
  const caller = await place.createCaller();
  const { id } = await caller.submitImage("image", "A job with a callback");
  await waitUntil("the first poll", () => place.media.calls.some(({ path }) => path.endsWith("/status")));
  await waitUntil("its end", async () => (await readLease())?.rested_at !== null);
  await sql`update task_leases set next_poll_at = now() + interval '1 hour', rested_at = now() - interval '1 minute'`.execute(
    place.database,
  );
  const query = place.media.calls.find(({ method }) => method === "POST")?.path.split("?")[1] ?? "";
  const address = new URL(new URLSearchParams(query).get("fal_webhook") ?? "");
  expect(address.origin).toBe("https://sluice.example.com");
  return { path: address.pathname, id };
}

const countPolls = (): number => place.media.calls.filter(({ path }) => path.endsWith("/status")).length;

test("a vendor's callback makes the gateway poll, whatever it says, and no sooner than the vendor allows", async () => {
  const { path } = await startJob();
  const before = countPolls();
  expect(await call(path, '{"status": "OK", "payload": {"images": []}}')).toBe(200);
  await waitUntil("a poll", () => countPolls() === before + 1);
  await waitUntil("the worker to rest", async () => (await readLease())?.rested_at !== null);
  // The job still runs, so the callback was a lie, and the task is as it was.
  await sql`update task_leases set next_poll_at = now() + interval '1 hour', rested_at = now()`.execute(place.database);
  expect(await call(path, "nonsense")).toBe(200);
  const lease = await readLease();
  expect((lease?.next_poll_at.getTime() ?? 0) - (lease?.rested_at?.getTime() ?? 0)).toBeGreaterThanOrEqual(1_000);
});

test("an address that we did not make, a large body, too many and late callbacks do nothing", async () => {
  const { path, id } = await startJob();
  const before = countPolls();
  expect(await call(`/hooks/${id}.${"A".repeat(24)}`)).toBe(404);
  // Refused by its address, before the body is read.
  expect(await call("/hooks/nonsense", "x".repeat(300_000))).toBe(404);
  expect(await call(path, "x".repeat(300_000))).toBe(413);
  await sql`update tasks set deadline_at = now()`.execute(place.database);
  await sql`update task_leases set next_poll_at = now()`.execute(place.database);
  await waitUntil("the task to end", async () => (await readLease()) === undefined);
  for (let turn = 0; turn < 30; turn += 1) expect(await call(path)).toBe(200);
  expect(countPolls() - before).toBeLessThanOrEqual(1);
});
