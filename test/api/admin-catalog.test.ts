// @module-tag slow
import { afterAll, beforeAll, expect, test } from "vitest";
import { bookCredit } from "../../src/features/ledger/index.ts";
import { nano } from "../../src/lib/money.ts";
import { type Operator, signUpOperator } from "../harness/admin/admin-visitor.ts";
import { visitorSettings } from "../harness/site/site-visitor.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { type FakeUpstreams, startFakeUpstreams } from "../harness/upstreams/fake-upstreams.ts";

const goodKey = "plain-good-words";
const model = "gpt-5.6-sol";

let gateway: TestGateway;
let clock: TestClock;
let fakes: FakeUpstreams;
let operator: Operator;
beforeAll(async () => {
  clock = createTestClock(new Date("2026-01-07T12:00:00Z"));
  fakes = await startFakeUpstreams({ keys: [goodKey] });
  gateway = await startGateway({ clock, settings: visitorSettings });
  operator = await signUpOperator(gateway, { now: () => clock.now() });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await fakes[Symbol.asyncDispose]();
});

const getCatalog = async () => (await operator.admin.get("/catalog")).body;

async function applyText(catalog: string, reason = "test") {
  const { version } = await getCatalog();
  return await operator.admin.post("/catalog", { catalog, base_version: version, reason });
}

/** The fresh proof of the operator ends after ten minutes. */
async function passTime(ms: number): Promise<void> {
  clock.advance(ms);
  await operator.confirm();
}

async function runJob(name: string): Promise<void> {
  const before = await gateway.database.selectFrom("scheduled_jobs").selectAll().where("name", "=", name).execute();
  expect(before).toHaveLength(1);
  await gateway.database
    .updateTable("scheduled_jobs")
    .set({ due_at: new Date(0) })
    .where("name", "=", name)
    .execute();
}

test("a vendor is added from nothing: a refused key is not stored, a good one serves paid calls", async () => {
  const steps = async () => (await operator.admin.get("/setup")).body.steps;
  const isDone = async (name: string) =>
    (await steps()).find((step: { name: string }) => step.name === name)?.done as boolean;
  expect(await isDone("vendor_key")).toBe(false);
  const vendors = (await operator.admin.get("/vendors")).body.data;
  expect(vendors.find(({ id }: { id: string }) => id === "openai")).toMatchObject({ secrets: ["OPENAI_KEY"] });

  const secret = { name: "OPENAI_KEY", vendor: "openai", base_url: fakes.openAiUrl, reason: "first vendor" };
  const refused = await operator.admin.post("/secrets", { ...secret, value: "plain-bad-words" });
  expect(refused).toMatchObject({ status: 200, body: { version: null } });
  expect(refused.body.checks.some(({ ok }: { ok: boolean }) => !ok)).toBe(true);
  const listNames = async () => (await operator.admin.get("/secrets")).body.data.map(({ id }: { id: string }) => id);
  expect(await listNames()).not.toContain("OPENAI_KEY");
  const stored = await operator.admin.post("/secrets", { ...secret, value: goodKey });
  expect(stored).toMatchObject({ status: 200, body: { version: 1 } });
  expect(await listNames()).toContain("OPENAI_KEY");

  const { catalog, version } = await getCatalog();
  const added = await operator.admin.post("/catalog/vendors", {
    ...{ catalog, vendor: "openai", models: [model], markup: "2", base_url: fakes.openAiUrl },
  });
  expect(added).toMatchObject({ status: 200, body: { problems: [] } });
  expect(added.body.catalog).toContain('input_price: "0.0096"');
  const checked = await operator.admin.post("/catalog/checks", { catalog: added.body.catalog });
  expect(checked.body).toMatchObject({ ok: true, problems: [], version: version + 1 });
  const applied = await operator.admin.post("/catalog", {
    ...{ catalog: added.body.catalog, base_version: version, reason: "sell OpenAI" },
  });
  expect(applied).toMatchObject({ status: 200, body: { ok: true, version: version + 1 } });
  await expect.poll(() => gateway.catalogVersion()).toBe(version + 1);

  const caller = await gateway.createCaller();
  await bookCredit(gateway.parts, {
    ...{ accountId: caller.accountId, booking: { kind: "top-up", amount: nano(10_000_000_000n) } },
    ...{ actor: "test", reason: "test", reference: null },
  });
  const answer = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }], max_tokens: 20 }),
  });
  expect(answer.status, await answer.text()).toBe(200);
  for (const name of ["vendor_key", "models", "prices", "first_call"]) expect(await isDone(name), name).toBe(true);
  for (const name of ["payments", "mail", "backups"]) expect(await isDone(name), name).toBe(false);
  const everything = [(await operator.admin.get("/audit")).body, (await operator.admin.get("/secrets")).body];
  expect(JSON.stringify([gateway.logs, everything])).not.toContain(goodKey);
});

test("a price is raised by a form, tried on past charges, and applied with who and why", async () => {
  const { catalog, version } = await getCatalog();
  const edited = await operator.admin.post("/catalog/edits", {
    ...{ catalog, edit: { kind: "set_price", model, amounts: { input_price: "0.5", output_price: "1" } } },
  });
  expect(edited.status).toBe(200);
  const simulated = (await operator.admin.post("/catalog/simulations", { catalog: edited.body.catalog })).body;
  expect(simulated).toMatchObject({ ok: true, total: { calls: 1 }, models: [{ model }] });
  expect(Number(simulated.total.change)).toBeGreaterThan(0);
  const applied = await applyText(edited.body.catalog, "costs rose");
  expect(applied.body).toMatchObject({ ok: true, version: version + 1 });
  const [newest] = (await operator.admin.get("/catalog/versions")).body.data;
  expect(newest).toMatchObject({ id: String(version + 1), by: operator.email, reason: "costs rose" });
  const older = (await operator.admin.get(`/catalog/versions/${version}`)).body;
  expect((await applyText(older.catalog, "back")).body).toMatchObject({ ok: true, version: version + 2 });
  expect((await getCatalog()).catalog).toBe(older.catalog);
});

test("two operators cannot overwrite each other's catalog, and a file that is applied twice is one version", async () => {
  const { catalog, version } = await getCatalog();
  const stale = { catalog, base_version: version - 1, reason: "late" };
  expect(await operator.admin.post("/catalog", stale)).toMatchObject({
    status: 409,
    body: { error: { code: "catalog_changed", param: "base_version" } },
  });
  expect((await applyText(catalog)).body).toMatchObject({ ok: true, version, changes: [] });
  const broken = await operator.admin.post("/catalog/checks", { catalog: `${catalog}\nnonsense: 1\n` });
  expect(broken.body).toMatchObject({ ok: false, problems: [{ message: expect.stringContaining("nonsense") }] });
  expect((await applyText("currency: [")).body.ok).toBe(false);
  expect((await getCatalog()).version).toBe(version);
});

test("comments and order of a file outlive forms, versions and prices that take effect", async () => {
  const start = await getCatalog();
  const commented = `# Reviewed every quarter.\n${start.catalog.replace("models:", "# Sold to everybody.\nmodels:")}`;
  expect((await applyText(commented, "describe it")).body).toMatchObject({ version: start.version, changes: [] });
  expect(await getCatalog()).toMatchObject({ version: start.version, catalog: commented });
  await applyText(commented, "again");
  const entries = (await operator.admin.get("/audit?action=catalog.text_changed")).body.data;
  expect(entries).toMatchObject([{ subject: `catalog_${start.version}`, reason: "describe it" }]);

  const set = { kind: "set_price", model, amounts: { input_price: "0.6" } };
  const edited = (await operator.admin.post("/catalog/edits", { catalog: commented, edit: set })).body.catalog;
  expect(edited).toContain("# Sold to everybody.");
  expect((await applyText(edited)).body).toMatchObject({ ok: true, version: start.version + 1 });
  expect((await getCatalog()).catalog).toBe(edited);
  expect((await operator.admin.get(`/catalog/versions/${start.version}`)).body.catalog).toBe(commented);

  const effectiveAt = new Date(clock.now().getTime() + 60_000).toISOString();
  const line = `  # The contract of next year.
  - model: ${model}
    billing_type: token
    unit: 1M tokens
    input_price: "0.7"
    output_price: "1" # as before
    effective_at: ${effectiveAt}
`;
  const timed = `${edited.trimEnd()}\n${line}`;
  expect((await applyText(timed)).body).toMatchObject({ ok: true, version: start.version + 2 });
  expect((await getCatalog()).catalog).toBe(timed);
  await passTime(2 * 60_000);
  const now = (await getCatalog()).catalog;
  for (const comment of ["Reviewed every quarter.", "Sold to everybody.", "The contract of next year.", "as before"]) {
    expect(now).toContain(`# ${comment}`);
  }
  expect(now).toContain('"0.7"');
  expect(now).not.toMatch(/effective_at|"0\.6"/);
  expect((await applyText(now)).body).toMatchObject({ ok: true });
  const raise = { catalog: now, edit: { ...set, amounts: { input_price: "0.8" } } };
  const raised = (await operator.admin.post("/catalog/edits", raise)).body.catalog;
  expect((await applyText(raised)).body).toMatchObject({ ok: true });
  expect((await getCatalog()).catalog).toBe(raised);
});

test("a version without a stored file, or with one that says something else, is written from the catalog", async () => {
  const { catalog, version } = await getCatalog();
  const sources = gateway.database.updateTable("catalog_sources").where("catalog_version", "=", version);
  await sources.set({ source: catalog.replace('"0.8"', '"9.9"') }).execute();
  const { catalog: written } = await getCatalog();
  expect(written).not.toMatch(/"9\.9"|#/);
  await gateway.database.deleteFrom("catalog_sources").execute();
  expect((await getCatalog()).catalog).toBe(written);
  expect((await applyText(catalog)).body).toMatchObject({ ok: true, changes: [] });
  expect((await getCatalog()).catalog).toBe(catalog);
});

test("models are added and removed by forms", async () => {
  const { catalog } = await getCatalog();
  const edit = {
    ...{ kind: "add_model", provider: "openai", upstream_model: "tiny", id: "tiny", name: "Tiny" },
    ...{ max_output_tokens: 100, input_price: "1", output_price: "2" },
  };
  const added = await operator.admin.post("/catalog/edits", { catalog, edit });
  expect((await operator.admin.post("/catalog/checks", { catalog: added.body.catalog })).body.ok).toBe(true);
  const wrong = await operator.admin.post("/catalog/edits", { catalog, edit: { ...edit, provider: "nobody" } });
  expect(wrong).toMatchObject({ status: 400, body: { error: { param: "edit.provider" } } });
  const again = { catalog: added.body.catalog, edit: { kind: "remove_model", model: "tiny" } };
  const removed = (await operator.admin.post("/catalog/edits", again)).body.catalog;
  expect((await operator.admin.post("/catalog/checks", { catalog: removed })).body).toMatchObject({ changes: [] });
});

test("a list is imported with a markup", async () => {
  const { catalog } = await getCatalog();
  const list = JSON.stringify({
    "openai/listed-1": { litellm_provider: "openai", mode: "chat", max_output_tokens: 100, max_input_tokens: 1000 },
  });
  const sent = { catalog, source: "litellm", provider: "openai", markup: "1.5", list };
  const imported = await operator.admin.post("/catalog/imports", sent);
  expect(imported.status).toBe(200);
  expect(imported.body.notes.length).toBeGreaterThan(0);
  const refused = await operator.admin.post("/catalog/imports", { ...sent, list: "no" });
  expect(refused).toMatchObject({ status: 400, body: { error: { param: "list" } } });
});

test("a scheduled change is applied once at its time, after another check, and reported when that fails", async () => {
  const { catalog, version } = await getCatalog();
  const raise = async (amount: string) =>
    (
      await operator.admin.post("/catalog/edits", {
        ...{ catalog, edit: { kind: "set_price", model, amounts: { input_price: amount } } },
      })
    ).body.catalog as string;
  const schedule = async (text: string, minutes: number) =>
    await operator.admin.post("/catalog/schedules", {
      ...{
        catalog: text,
        reason: "new year",
        run_at: new Date(clock.now().getTime() + minutes * 60_000).toISOString(),
      },
    });
  expect(await schedule(catalog, -1)).toMatchObject({ status: 400, body: { error: { param: "run_at" } } });
  expect((await schedule("models: 1", 5)).body).toMatchObject({ check: { ok: false }, scheduled: null });
  const due = (await schedule(await raise("0.7"), 5)).body.scheduled;
  expect(due).toMatchObject({ status: "waiting", base_version: version });
  const canceled = (await schedule(await raise("0.8"), 5)).body.scheduled;
  await operator.admin.post(`/catalog/schedules/${canceled.id}/cancel`, { reason: "no" });
  // Valid when it is scheduled, and no longer at its time.
  const doomed = (await schedule(catalog, 5)).body.scheduled;
  await gateway.database
    .updateTable("scheduled_catalogs")
    .set({ source: "models: 1" })
    .where("id", "=", doomed.id)
    .execute();
  await passTime(6 * 60_000);
  await runJob("apply-scheduled-catalogs");
  const statusOf = async () => {
    const { data } = (await operator.admin.get("/catalog/schedules")).body;
    return Object.fromEntries(data.map(({ id, status }: { id: string; status: string }) => [id, status]));
  };
  await expect
    .poll(statusOf, { timeout: 30_000 })
    .toEqual({ [due.id]: "applied", [canceled.id]: "canceled", [doomed.id]: "failed" });
  const active = await getCatalog();
  expect(active).toMatchObject({ version: version + 1, reason: "new year" });
  expect(active.catalog).toContain('input_price: "0.7"');
  const failed = (await operator.admin.get("/audit?action=catalog.schedule_failed")).body.data;
  expect(failed).toMatchObject([{ subject: doomed.id, actor: { kind: "system" } }]);
  expect(gateway.logs).toContainEqual(expect.objectContaining({ msg: "scheduled catalog rejected" }));
});

test("priority and weight of a route change as an edit of the catalog, with a diff and a reason", async () => {
  const { catalog, version } = await getCatalog();
  const route = { kind: "set_route", model, provider: "openai", upstream_model: model };
  const edit = async (fields: object) => {
    const body = { catalog, edit: { ...route, priority: 2, weight: 30, ...fields } };
    return await operator.admin.post("/catalog/edits", body);
  };
  const edited = await edit({});
  expect(edited.status).toBe(200);
  const listModels = async () => {
    const { data } = (await operator.admin.get("/upstreams")).body;
    return data.find(({ provider }: { provider: string }) => provider === "openai").models;
  };
  expect(await listModels()).toEqual([{ id: model, priority: 0, weight: 1 }]);
  const checked = await operator.admin.post("/catalog/checks", { catalog: edited.body.catalog });
  expect(checked.body).toMatchObject({ ok: true, version: version + 1 });
  expect(checked.body.changes).toHaveLength(1);
  const same = await edit({ priority: 0, weight: 1 });
  expect(same.body.catalog).toBe(catalog);
  for (const wrong of [{ model: "nobody" }, { provider: "nobody" }, { weight: 0 }, { priority: 1001 }]) {
    expect((await edit(wrong)).status).toBe(400);
  }
  expect((await applyText(edited.body.catalog, "second choice")).body).toMatchObject({ ok: true });
  expect(await listModels()).toEqual([{ id: model, priority: 2, weight: 30 }]);
  expect(await getCatalog()).toMatchObject({ version: version + 1, reason: "second choice", by: operator.email });
  const again = { ...route, priority: 0, weight: 30 };
  const back = await operator.admin.post("/catalog/edits", { catalog: (await getCatalog()).catalog, edit: again });
  expect((await applyText(back.body.catalog)).body).toMatchObject({ ok: true });
  expect(await listModels()).toEqual([{ id: model, priority: 0, weight: 30 }]);
});

test("a failing key is disabled with a reason and an end, drained, and enabled again", async () => {
  const find = async () =>
    (await operator.admin.get("/upstreams")).body.data.find(({ key }: { key: string }) => key === "OPENAI_KEY");
  const change = (mode: string, more: object = {}) =>
    operator.admin.post("/upstreams/switches", { subject: "OPENAI_KEY", mode, reason: "leaked", ...more });
  const endsAt = new Date(clock.now().getTime() + 60_000).toISOString();
  expect((await change("disabled", { ends_at: endsAt })).body).toMatchObject({ models_without_route: [model] });
  expect((await find()).switch).toMatchObject({
    mode: "disabled",
    reason: "leaked",
    by: operator.email,
    ends_at: endsAt,
  });
  const past = await change("draining", { ends_at: "2020-01-01T00:00:00Z" });
  expect(past).toMatchObject({ status: 400, body: { error: { param: "ends_at" } } });
  expect((await change("draining")).status).toBe(200);
  expect((await change("enabled")).status).toBe(200);
  expect((await find()).switch).toBeNull();
  expect((await change("enabled")).status).toBe(404);
  const events = (await operator.admin.get("/upstreams/events")).body.data;
  const kinds = events.map(({ kind }: { kind: string }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(["switched_off", "switched_on", "secret_stored", "catalog_applied"]));
  const audited = (await operator.admin.get("/audit?action=upstream")).body.data;
  expect(audited.map(({ action }: { action: string }) => action)).toEqual([
    ...["upstream.enabled", "upstream.draining", "upstream.disabled"],
  ]);
});

test("the list has what the request log measured, and a test call says what works", async () => {
  await expect
    .poll(async () => (await operator.admin.get("/upstreams")).body.traffic)
    .toMatchObject([{ provider: "openai", model, calls: 1, failed: 0 }]);
  const tested = await operator.admin.post("/upstreams/tests", { provider: "openai" });
  expect(tested.body).toMatchObject({ ok: true });
  const { body: events } = await operator.admin.get("/upstreams/events?limit=1");
  expect(events).toMatchObject({
    data: [{ kind: "test_passed", subject: "openai", by: operator.email }],
    has_more: true,
  });
  const next = await operator.admin.get(`/upstreams/events?limit=100&after=${events.next_cursor}`);
  expect(next.body.data.map(({ id }: { id: string }) => id)).not.toContain(events.data[0].id);
  expect((await operator.admin.get("/upstreams/events?after=9.nonsense")).status).toBe(400);
  const unknown = await operator.admin.post("/upstreams/tests", { provider: "opnai" });
  expect(unknown).toMatchObject({ status: 400, body: { error: { param: "provider" } } });
});

test("a rotated key is checked with the catalog's provider, and rolled back", async () => {
  const rotate = (value: string, unchecked = false) =>
    operator.admin.post("/secrets", { name: "OPENAI_KEY", value, unchecked, reason: "rotation" });
  expect((await rotate("plain-worse-words")).body.version).toBeNull();
  expect((await rotate("plain-worse-words", true)).body.version).toBe(2);
  const back = await operator.admin.post("/secrets/rollbacks", { name: "OPENAI_KEY", reason: "broken" });
  expect(back.body.version).toBe(1);
  expect((await operator.admin.post("/upstreams/tests", { provider: "openai" })).body.ok).toBe(true);
});
