import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeAdminKey, type Operator, openWithKey, signUpOperator } from "../harness/admin/admin-visitor.ts";
import { signUpByMail, visitorSettings, visitSite } from "../harness/site/site-visitor.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

let gateway: TestGateway;
let operator: Operator;

beforeAll(async () => {
  gateway = await startGateway({ settings: visitorSettings });
  operator = await signUpOperator(gateway);
});
afterAll(() => gateway[Symbol.asyncDispose]());

const admin = () => operator.admin;

async function patch(path: string, body: unknown) {
  return await admin().send(path, { method: "PATCH", body });
}

async function readAudit(subject: string) {
  return (await admin().get(`/audit?subject=${encodeURIComponent(subject)}`)).body.data;
}

describe("alarms", () => {
  async function raise(id: string, subject: string): Promise<void> {
    const now = new Date();
    const alarm = {
      rule: "model-errors",
      subject,
      state: "firing",
      value_milli: 40_000n,
      message: `${subject} fails.`,
    };
    await gateway.database
      .insertInto("alarms")
      .values({ ...alarm, id, began_at: now, met_at: now })
      .execute();
  }

  test("are listed, acknowledged and silenced, each with its audit entry", async () => {
    await raise("alarm_00000000000000000000000001", "talk");
    await raise("alarm_00000000000000000000000002", "draw");
    const first = await admin().get("/alarms?limit=1");
    expect(first.body).toMatchObject({
      object: "list",
      data: [{ id: "alarm_00000000000000000000000002", status: "firing", severity: "page", subject: "draw" }],
      has_more: true,
    });
    const second = await admin().get(`/alarms?limit=1&after=${first.body.next_cursor}`);
    expect(second.body).toMatchObject({ data: [{ subject: "talk" }], has_more: false });

    const id = "alarm_00000000000000000000000001";
    expect(await admin().post(`/alarms/${id}/acknowledge`, { note: "On it" })).toMatchObject({
      status: 200,
      body: { status: "acknowledged" },
    });
    const until = new Date(Date.now() + 3_600_000).toISOString();
    expect(await admin().post(`/alarms/${id}/silence`, { until })).toMatchObject({
      status: 200,
      body: { status: "silenced", silenced_until: until },
    });
    const { body } = await admin().get(`/alarms/${id}`);
    expect(body.history.map(({ event, actor, note }: Record<string, unknown>) => [event, actor, note])).toEqual([
      ["acknowledge", operator.email, "On it"],
      ["silence", operator.email, null],
    ]);
    expect(await readAudit(id)).toMatchObject([
      { action: "alarm.silenced", before: { status: "acknowledged" }, after: { status: "silenced" } },
      { action: "alarm.acknowledged", reason: "On it", actor: { name: operator.email } },
    ]);
    expect((await admin().post(`/alarms/${id}/silence`, { until: "soon" })).body.error.param).toBe("until");

    await sql`update alarms set state = 'resolved', silenced_until = null, ended_at = now()`.execute(gateway.database);
    expect((await admin().get("/alarms")).body.data).toEqual([]);
    expect((await admin().get("/alarms?status=resolved&rule=model-errors")).body.data).toHaveLength(2);
    expect((await admin().post(`/alarms/${id}/acknowledge`)).body.error.code).toBe("already_ended");
    // A change that failed leaves no entry.
    expect(await readAudit(id)).toHaveLength(2);
  });

  test("have rules whose thresholds an operator changes within bounds", async () => {
    const { body } = await admin().get("/alarm-rules");
    expect(body.data.find(({ id }: { id: string }) => id === "tasks-due")).toMatchObject({
      ...{ enabled: true, threshold: 120, default_threshold: 120, unit: "seconds", changed_by: null },
      run_book: "docs/operating/run-book.md#sluicetaskswait",
    });
    expect((await patch("/alarm-rules/tasks-due", { threshold: 0 })).body.error.param).toBe("threshold");
    expect((await patch("/alarm-rules/no-such-rule", { threshold: 1 })).status).toBe(404);
    expect((await patch("/alarm-rules/tasks-due", {})).status).toBe(400);
    expect((await patch("/alarm-rules/tasks-due", { threshold: 300, enabled: false })).body).toMatchObject({
      ...{ threshold: 300, enabled: false, changed_by: operator.email },
    });
    expect(await readAudit("tasks-due")).toMatchObject([
      {
        action: "alarm_rule.changed",
        before: { enabled: true, threshold: 120 },
        after: { enabled: false, threshold: 300 },
      },
    ]);
    expect((await patch("/alarm-rules/tasks-due", { threshold: null, enabled: true })).body.threshold).toBe(120);
  });
});

test("an incident is written, updated and closed, and customers read it without its author", async () => {
  const written = await admin().post("/incidents", { title: "Slow answers", message: "We look into it.", models: [] });
  expect(written).toMatchObject({ status: 201, body: { status: "investigating", ended_at: null } });
  const { id } = written.body;
  const update = (body: object) => admin().post(`/incidents/${id}/updates`, body);
  expect((await update({ status: "identified", message: "Found it.", models: ["none"] })).body.error.param).toBe(
    "models",
  );
  expect(await update({ status: "resolved", message: "Fixed." })).toMatchObject({
    status: 200,
    body: { status: "resolved", updates: [{ message: "Fixed." }, { message: "We look into it." }] },
  });
  expect((await update({ status: "monitoring", message: "Again." })).body.error.code).toBe("already_ended");
  const uptime = (await visitSite(gateway).get("/uptime")).body;
  expect(uptime.incidents).toMatchObject([{ id, title: "Slow answers", state: "resolved" }]);
  expect(JSON.stringify(uptime)).not.toContain(operator.email);
  expect((await admin().get("/incidents")).body.data).toMatchObject([{ id }]);
  expect((await admin().get(`/incidents/${id}`)).body.updates[0].created_by).toBe(operator.email);
  expect((await readAudit(id)).map(({ action }: { action: string }) => action)).toEqual([
    "incident.updated",
    "incident.opened",
  ]);
});

describe("abuse", () => {
  test("sign-ups are counted by network and domain, and listed", async () => {
    const { visitor } = await signUpByMail(gateway, "a@counted.example");
    const network = visitor.address;
    const sums = await admin().get("/sign-ups/summary?by=domain&days=1");
    expect(sums.body.data).toContainEqual(
      expect.objectContaining({ subject: "counted.example", opened: 1, refused: 0 }),
    );
    const { body } = await admin().get(`/sign-ups?network=${network}`);
    expect(body.data).toMatchObject([{ network, mail_domain: "counted.example", refusal: null }]);
    expect(body.data[0].account_id).toMatch(/^acct_/);
  });

  test("a block is added with a reason, listed and removed, each with its audit entry", async () => {
    const block = { kind: "domain", subject: "Bad.example", reason: "card testing" };
    expect(await admin().post("/blocks", block)).toMatchObject({ status: 201, body: { subject: "bad.example" } });
    expect((await admin().get("/blocks?kind=domain")).body.data).toMatchObject([
      { subject: "bad.example", ends_at: null },
    ]);
    expect((await admin().get("/blocks?kind=network")).body.data).toEqual([]);
    const refused = await visitSite(gateway).post("/sign-up", {
      email: "a@bad.example",
      password: "correct horse 9 battery",
    });
    expect(refused.body.error.code).toBe("access_blocked");
    expect((await admin().post("/blocks", { ...block, subject: "bad" })).body.error.param).toBe("subject");
    expect((await admin().post("/blocks", { ...block, reason: " " })).body.error.param).toBe("reason");
    const { kind, subject } = block;
    expect((await admin().post("/blocks/remove", { kind, subject })).status).toBe(200);
    expect((await admin().post("/blocks/remove", { kind, subject })).status).toBe(404);
    expect(await readAudit("bad.example")).toMatchObject([
      { action: "block.removed", before: { kind: "domain", reason: "card testing" } },
      { action: "block.created", reason: "card testing" },
    ]);
  });

  test("a new account's spend cap is lifted with a reason; an account that did not sign up has none", async () => {
    const { visitor } = await signUpByMail(gateway);
    const { account } = (await visitor.get("/session")).body;
    const until = new Date(Date.now() + 3_600_000);
    await gateway.database
      .updateTable("accounts")
      .set({ spend_capped_until: until })
      .where("id", "=", account.id)
      .execute();
    const lift = (id: string) => admin().post(`/accounts/${id}/lift-spend-cap`, { reason: "known customer" });
    expect((await lift(account.id)).status).toBe(204);
    const row = await gateway.database
      .selectFrom("accounts")
      .select("spend_capped_until")
      .where("id", "=", account.id)
      .executeTakeFirstOrThrow();
    expect(row.spend_capped_until).toBeNull();
    expect(await readAudit(account.id)).toMatchObject([
      { action: "account.spend_cap_lifted", reason: "known customer" },
    ]);
    expect((await lift((await gateway.createCaller()).accountId)).status).toBe(404);
  });
});

test("a key with another scope calls none of it", async () => {
  const key = openWithKey(gateway, await makeAdminKey(gateway, { scopes: ["alarms"] }));
  expect((await key.get("/alarms")).status).toBe(200);
  for (const path of ["/incidents", "/blocks?kind=network", "/sign-ups"]) {
    expect((await key.get(path)).body.error.code).toBe("operator_not_permitted");
  }
});

test("the audit log is exported as CSV with the filters of the list", async () => {
  await admin().post("/incidents", { title: '=cmd, "quoted"', message: "Exported." });
  const key = await makeAdminKey(gateway, { access: "read", scopes: ["audit"] });
  const read = async (query: string): Promise<string[]> => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${gateway.siteUrl}/admin/v1/audit/export${query}`, { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    return (await response.text()).trimEnd().split("\r\n");
  };
  const [heading, ...lines] = await read("?action=incident");
  expect(heading).toMatch(/^id,created_at,actor_kind,.*,hash$/);
  expect(lines.length).toBeGreaterThan(2);
  expect(lines.every((line) => line.includes(",incident."))).toBe(true);
  expect((await read("?actor=none")).length).toBe(1);
});
