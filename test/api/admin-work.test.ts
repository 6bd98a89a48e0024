import { afterAll, beforeAll, expect, test } from "vitest";
import { bookCredit } from "../../src/features/ledger/index.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { type Operator, signUpOperator } from "../harness/admin/admin-visitor.ts";
import { insertFailedDelivery } from "../harness/admin/failed-delivery.ts";
import { visitorSettings } from "../harness/site/site-visitor.ts";
import { createRunningClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

let gateway: TestGateway;
let operator: Operator;
let caller: { accountId: AccountId; key: string };

beforeAll(async () => {
  gateway = await startGateway({ settings: visitorSettings, clock: createRunningClock() });
  operator = await signUpOperator(gateway);
  caller = await gateway.createCaller();
  const booking = { kind: "top-up" as const, amount: nano(50_000_000_000n) };
  await bookCredit(gateway.parts, { ...caller, booking, actor: "test", reason: "test", reference: null });
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function submit(prompt: string, wait = false): Promise<string> {
  const response = await fetch(`${gateway.baseUrl}/images/generations`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${caller.key}`,
      "content-type": "application/json",
      prefer: wait ? "wait=60" : "respond-async",
    },
    body: JSON.stringify({ model: "sandbox-image", size: "512x512", prompt }),
  });
  const body = await response.json();
  expect(response.status, JSON.stringify(body)).toBeLessThan(300);
  return (body as { id: string }).id;
}

const list = async (query: string) => (await operator.admin.get(`/tasks?${query}`)).body;
const listIds = async (query: string) => (await list(query)).data.map(({ id }: { id: string }) => id);
const listActions = async (subject: string) =>
  (await operator.admin.get(`/audit?subject=${subject}`)).body.data.map(({ action }: { action: string }) => action);

test("open tasks are listed oldest first, page by page, and canceled by the rules of their owner", async () => {
  const stuck = [await submit("One [[stuck]]"), await submit("Two [[stuck]]"), await submit("Three [[stuck]]")];
  expect(await listIds("state=open")).toEqual(stuck);
  const first = await list("state=open&limit=2");
  expect(first.data.map(({ id }: { id: string }) => id)).toEqual(stuck.slice(0, 2));
  expect(await listIds(`state=open&limit=2&after=${first.next_cursor}`)).toEqual(stuck.slice(2));
  expect(await listIds(`account_id=${caller.accountId}&model=sandbox-image`)).toEqual(stuck);
  expect(await listIds(`account_id=${operator.accountId}`)).toEqual([]);
  expect(await listIds("model=other")).toEqual([]);
  const [id = ""] = stuck;
  const [row] = (await list("state=open&limit=1")).data;
  await expect.poll(() => listIds(`provider=${row.provider ?? "sandbox"}`)).toContain(id);
  const { body: task } = await operator.admin.get(`/tasks/${id}`);
  expect(task).toMatchObject({ id, account_id: caller.accountId, charge: "0.00", error: null });
  expect(task.course[0]).toMatchObject({ event: "created" });
  expect((await operator.admin.post(`/tasks/${id}/cancel`)).body.error.param).toBe("reason");
  expect((await operator.admin.post(`/tasks/${id}/cancel`, { reason: "stuck" })).status).toBe(200);
  await expect.poll(async () => (await operator.admin.get(`/tasks/${id}`)).body.state).toBe("canceled");
  expect(await listIds("state=canceled")).toEqual([id]);
  await operator.admin.post(`/tasks/${id}/cancel`, { reason: "again" });
  expect(await listActions(id)).toEqual(["task.canceled"]);
});

test("a retry makes an open task due, and creates an ended one again with its request and price", async () => {
  const [open = ""] = await listIds("state=open");
  const woken = await operator.admin.post(`/tasks/${open}/retry`, { reason: "look" });
  expect(woken.body).toMatchObject({ outcome: "woken", task: { id: open } });
  const failed = await submit("[[fail:content_policy]]", true);
  expect(await listIds("state=failed")).toEqual([failed]);
  expect((await operator.admin.get(`/tasks/${failed}`)).body.error.code).toBeTruthy();
  const { body } = await operator.admin.post(`/tasks/${failed}/retry`, { reason: "vendor fixed it" });
  expect(body).toMatchObject({ outcome: "recreated", task: { model: "sandbox-image" } });
  expect(body.task.id).not.toBe(failed);
  expect([await listActions(open), await listActions(failed)]).toEqual([["task.woken"], ["task.recreated"]]);
  expect((await operator.admin.get("/tasks/task_missing")).body.error.code).toBe("task_not_found");
});

test("queues show what is at each upstream", async () => {
  await expect
    .poll(async () => {
      const { data } = (await operator.admin.get("/queues")).body;
      return data.reduce((sum: number, queue: { at_work: number }) => sum + queue.at_work, 0);
    })
    .toBeGreaterThan(0);
});

test("failing deliveries are listed with the last attempt and delivered again", async () => {
  const eventId = await insertFailedDelivery(gateway, caller.accountId, "http://127.0.0.1:9/hook");
  const { data } = (await operator.admin.get("/deliveries")).body;
  expect(data).toMatchObject([{ event_id: eventId, state: "failed", attempts: 12, last_status: 503 }]);
  expect((await operator.admin.get("/deliveries?state=failed")).body.data).toHaveLength(1);
  expect((await operator.admin.get(`/deliveries?account_id=${operator.accountId}`)).body.data).toEqual([]);
  expect((await operator.admin.post(`/events/${eventId}/resend`, { reason: "fixed" })).status).toBe(200);
  const all = async () => {
    const states = ["pending", "failing", "succeeded"];
    const pages = await Promise.all(
      states.map((state) => operator.admin.get(`/deliveries?state=${state}&event_id=${eventId}`)),
    );
    return new Set(pages.flatMap(({ body }) => body.data.map(({ id }: { id: string }) => id))).size;
  };
  expect(await all()).toBe(2);
  expect(await listActions(eventId)).toEqual(["event.resent"]);
  expect((await operator.admin.post("/events/evt_missing/resend", { reason: "x" })).status).toBe(404);
});

test("storage is listed by account, the largest first, and expired files are deleted on demand", async () => {
  const other = await gateway.createCaller();
  await gateway.database
    .insertInto("file_usages")
    .values([
      { account_id: caller.accountId, files: 2n, bytes: 2048n },
      { account_id: other.accountId, files: 1n, bytes: 4096n },
    ])
    .execute();
  const first = (await operator.admin.get("/storage?limit=1")).body;
  expect(first).toMatchObject({ has_more: true, uploads: { files: 3, bytes: 6144 }, expired_files: 0 });
  expect(first.data).toMatchObject([{ id: other.accountId, uploads: { files: 1, bytes: 4096 } }]);
  const second = (await operator.admin.get(`/storage?limit=1&after=${first.next_cursor}`)).body;
  expect(second.data).toMatchObject([{ id: caller.accountId }]);
  const made = await submit("A lighthouse", true);
  const { files } = (await operator.admin.get(`/tasks/${made}`)).body;
  await gateway.database
    .updateTable("files")
    .set({ expires_at: new Date(0) })
    .where("id", "in", files)
    .execute();
  const purged = await operator.admin.post("/storage/purge", { reason: "disk" });
  expect(purged.status).toBe(200);
  expect((await operator.admin.get("/storage")).body.expired_files).toBe(0);
  const audit = (await operator.admin.get("/audit?action=files.purged")).body.data;
  expect(audit).toMatchObject([{ reason: "disk", after: { files: purged.body.files } }]);
});
