import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import {
  type AlarmChannels,
  acknowledgeAlarm,
  changeRule,
  checkAlarms,
  describeRules,
  listAlarmEvents,
  listAlarms,
  listNotifications,
  recordBackup,
  silenceAlarm,
} from "../../src/features/alarms/index.ts";
import { applyCatalog } from "../../src/features/catalog/index.ts";
import { putVendorBalance } from "../../src/features/catalog/vendor-balance-store.ts";
import { createGuardedClient } from "../../src/platform/net/guarded-client.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";
import { startWebhookReceiver, verifyDelivery, type WebhookReceiver } from "../harness/servers/webhook-receiver.ts";
import { createTestDatabase } from "../harness/test-database.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const by = { actor: "ada", note: null };

let world: TestLedger;
let hook: WebhookReceiver;
let chat: WebhookReceiver;
const client = createGuardedClient({ allowsPrivate: true });
const mails: string[] = [];
let recipients: string[] = [];

beforeAll(async () => {
  hook = await startWebhookReceiver();
  chat = await startWebhookReceiver();
});
afterAll(async () => {
  await client.close();
  await hook[Symbol.asyncDispose]();
  await chat[Symbol.asyncDispose]();
});
beforeEach(async () => {
  world = await openTestLedger(await createTestDatabase());
  mails.length = 0;
  recipients = ["ops@example.com"];
  // Read in every world alike, and not what these tests are about.
  for (const rule of ["disk-space", "connection-budget"]) {
    await changeRule(world.parts, rule, { isOn: false }, "test");
  }
  return async () => {
    await world[Symbol.asyncDispose]();
  };
});

const logger = createLogger({ level: "error", format: "json", write: () => {} });

function createChannels(): AlarmChannels {
  return {
    mail: {
      listRecipients: async () => recipients,
      send: ({ to, subject, before, after }) => mails.push([to, subject, ...before, ...after].join("\n")),
    },
    webhook: { url: hook.url, secret },
    slack: { url: chat.url },
    client,
    siteUrl: "https://ai.example.com",
  };
}

/** The next minute's check. */
async function check(): Promise<void> {
  const { clock, database, parts } = world;
  clock.advance(minuteMs);
  const surroundings = {
    ...{ clock, currency: "USD", dataDir: "/nowhere", expectsBackups: false, connectionsMax: 12 },
  };
  const signal = new AbortController().signal;
  await checkAlarms({ database, ids: parts.ids, logger, channels: createChannels(), surroundings }, signal);
}

async function freeze(): Promise<string> {
  const accountId = await world.createAccount();
  await sql`update wallets set frozen_at = now(), frozen_reason = 'test' where account_id = ${accountId}`.execute(
    world.database,
  );
  return accountId;
}

async function unfreeze(): Promise<void> {
  await sql`update wallets set frozen_at = null, frozen_reason = null`.execute(world.database);
}

const open = ["firing", "acknowledged", "silenced"] as const;

describe("an alarm", () => {
  test("fires once, is reported once on every channel, and its end is too", async () => {
    const before = { hook: hook.deliveries.length, chat: chat.deliveries.length };
    await check();
    expect(await listAlarms(world.database, { states: open, limit: 10 })).toEqual([]);
    const accountId = await freeze();
    await check();
    await check();
    const [alarm, ...others] = await listAlarms(world.database, { states: open, limit: 10 });
    expect(others).toEqual([]);
    expect(alarm).toMatchObject({ rule: "accounts-frozen", subject: "service", state: "firing", value: 1 });
    expect(alarm?.message).toBe(`1 accounts are frozen: ${accountId}.`);
    expect(mails).toEqual([expect.stringContaining("Alarm: The ledger check froze accounts")]);
    expect(mails[0]).toContain("docs/operating/run-book.md#sluiceledgerviolation");

    const sent = await hook.waitForDeliveries(before.hook + 1);
    const delivery = sent.at(-1);
    expect(delivery).toBeDefined();
    if (delivery === undefined) return;
    expect(verifyDelivery(delivery, secret, world.clock.now())).toMatchObject({
      type: "alarm.fired",
      data: { rule: "accounts-frozen", severity: "page", alarm_id: alarm?.id },
    });
    const [message] = (await chat.waitForDeliveries(before.chat + 1)).slice(-1);
    expect(JSON.parse(String(message?.body))).toEqual({ text: expect.stringContaining("Alarm: The ledger check") });

    await unfreeze();
    await check();
    expect(await listAlarms(world.database, { states: open, limit: 10 })).toEqual([]);
    expect(mails).toHaveLength(2);
    expect(mails[1]).toContain("Resolved: The ledger check froze accounts");
    const events = await listAlarmEvents(world.database, alarm?.id ?? "");
    expect(events.map(({ kind, state }) => [kind, state])).toEqual([
      ["held", "firing"],
      ["cleared", "resolved"],
    ]);
    const notifications = await listNotifications(world.database, alarm?.id ?? "");
    expect(notifications.map(({ state }) => state)).toEqual(Array(6).fill("sent"));
    expect(hook.deliveries.length).toBe(before.hook + 2);
    expect(chat.deliveries.length).toBe(before.chat + 2);
  });

  test("is reported once by checks that run at the same time", async () => {
    await freeze();
    await Promise.all([check(), check(), check()]);
    expect(await listAlarms(world.database, { states: open, limit: 10 })).toHaveLength(1);
    expect(mails).toHaveLength(1);
  });

  test("that is acknowledged stays quiet until it ends, and a resolved one cannot be changed", async () => {
    await freeze();
    await check();
    const [alarm] = await listAlarms(world.database, { states: open, limit: 10 });
    const id = alarm?.id ?? "";
    expect(await acknowledgeAlarm(world.parts, id, { ...by, note: "Looking" })).toMatchObject({
      state: "acknowledged",
    });
    expect(await acknowledgeAlarm(world.parts, id, by)).toMatchObject({ state: "acknowledged" });
    await check();
    expect(mails).toHaveLength(1);
    await unfreeze();
    await check();
    expect(mails).toHaveLength(2);
    const events = await listAlarmEvents(world.database, id);
    expect(events[1]).toMatchObject({ kind: "acknowledge", actor: "ada", note: "Looking" });
    await expect(acknowledgeAlarm(world.parts, id, by)).rejects.toMatchObject({ code: "already_ended" });
    await expect(acknowledgeAlarm(world.parts, "alarm_none", by)).rejects.toMatchObject({ code: "not_found" });
  });

  test("that is silenced fires again when the silence ends, unless it has ended before", async () => {
    await freeze();
    await check();
    const [alarm] = await listAlarms(world.database, { states: open, limit: 10 });
    const id = alarm?.id ?? "";
    const until = new Date(world.clock.now().getTime() + hourMs);
    await expect(silenceAlarm(world.parts, id, { ...by, until: world.clock.now() })).rejects.toMatchObject({
      param: "until",
    });
    await silenceAlarm(world.parts, id, { ...by, until });
    world.clock.advance(58 * minuteMs);
    await check();
    expect(mails).toHaveLength(1);
    await check();
    expect(mails).toHaveLength(2);
    expect(await listAlarms(world.database, { states: ["firing"], limit: 10 })).toHaveLength(1);

    await silenceAlarm(world.parts, id, { ...by, until: new Date(world.clock.now().getTime() + hourMs) });
    await unfreeze();
    await check();
    expect(mails).toHaveLength(2);
    expect(await listAlarms(world.database, { states: ["resolved"], limit: 10 })).toHaveLength(1);
  });

  test("ends when its rule is switched off", async () => {
    await freeze();
    await check();
    await changeRule(world.parts, "accounts-frozen", { isOn: false }, "ada");
    await check();
    const [alarm] = await listAlarms(world.database, { states: ["resolved"], limit: 10 });
    expect((await listAlarmEvents(world.database, alarm?.id ?? "")).at(-1)).toMatchObject({
      kind: "cleared",
      note: "The rule is switched off.",
    });
  });
});

describe("a channel that fails", () => {
  test("is retried later, without a second message on the others", async () => {
    const before = hook.deliveries.length;
    hook.answerWith(500, 500);
    await freeze();
    await check();
    expect(hook.deliveries.length).toBe(before + 1);
    await check();
    expect(hook.deliveries.length).toBe(before + 2);
    await check();
    expect(hook.deliveries.length).toBe(before + 2);
    await check();
    const ids = hook.deliveries.slice(before).map(({ headers }) => headers["webhook-id"]);
    expect(ids).toHaveLength(3);
    // Receivers know a repeated one by its id.
    expect(new Set(ids).size).toBe(1);
    expect(mails).toHaveLength(1);
    const [alarm] = await listAlarms(world.database, { states: open, limit: 10 });
    const notifications = await listNotifications(world.database, alarm?.id ?? "");
    expect(notifications.find(({ channel }) => channel === "webhook")).toMatchObject({ state: "sent", attempts: 3 });
  });

  test("is given up after a day, and says why", async () => {
    recipients = [];
    await freeze();
    for (let hour = 0; hour < 30; hour += 1) {
      await check();
      world.clock.advance(hourMs);
    }
    const [alarm] = await listAlarms(world.database, { states: open, limit: 10 });
    const notifications = await listNotifications(world.database, alarm?.id ?? "");
    expect(notifications.find(({ channel }) => channel === "mail")).toMatchObject({
      state: "failed",
      trouble: "There are no recipients: set alarm_mails.",
    });
  });
});

describe("rules", () => {
  test("have thresholds that operators change within bounds", async () => {
    await expect(changeRule(world.parts, "tasks-due", { threshold: 0 }, "ada")).rejects.toMatchObject({
      param: "threshold",
    });
    await expect(changeRule(world.parts, "nothing", {}, "ada")).rejects.toMatchObject({ code: "not_found" });
    expect(await changeRule(world.parts, "accounts-frozen", { threshold: 1 }, "ada")).toMatchObject({
      threshold: 1,
      defaultThreshold: 0,
      changed: { by: "ada" },
    });
    await freeze();
    await check();
    expect(await listAlarms(world.database, { states: open, limit: 10 })).toEqual([]);
    await changeRule(world.parts, "accounts-frozen", { threshold: null }, "ada");
    await check();
    expect(await listAlarms(world.database, { states: open, limit: 10 })).toHaveLength(1);
  });

  test("are all readable on a new database, and store what they read", async () => {
    await changeRule(world.parts, "disk-space", { isOn: true }, "test");
    await changeRule(world.parts, "connection-budget", { isOn: true, threshold: 1000 }, "test");
    await check();
    const rules = await describeRules(world.database);
    expect(rules.filter(({ lastCheck }) => lastCheck === null || lastCheck.trouble !== null)).toEqual([]);
    expect(rules.find(({ name }) => name === "connection-budget")?.lastCheck?.value).toBeGreaterThan(0);
    expect(await listAlarms(world.database, { states: open, limit: 10 })).toEqual([]);
  });

  test("that cannot be read neither raise nor end an alarm, and do not keep others from being read", async () => {
    await freeze();
    await check();
    await sql`alter table wallets rename column frozen_at to frozen_away`.execute(world.database);
    await check();
    const rules = await describeRules(world.database);
    expect(rules.find(({ name }) => name === "accounts-frozen")?.lastCheck?.trouble).toContain("frozen_at");
    expect(rules.find(({ name }) => name === "requests-lost")?.lastCheck).toMatchObject({ value: 0, trouble: null });
    expect(await listAlarms(world.database, { states: ["firing"], limit: 10 })).toHaveLength(1);
  });

  test("about machines leave the alarms of other machines alone", async () => {
    const insert = {
      ...{ id: "alarm_elsewhere", rule: "disk-space", subject: "elsewhere:/data", state: "firing", value_milli: 1000n },
      ...{ message: "Full", began_at: world.clock.now(), met_at: world.clock.now() },
    };
    await world.database.insertInto("alarms").values(insert).execute();
    await changeRule(world.parts, "disk-space", { isOn: true }, "test");
    world.clock.advance(hourMs);
    await check();
    expect(await listAlarms(world.database, { states: ["firing"], limit: 10 })).toHaveLength(1);
    world.clock.advance(24 * hourMs);
    await check();
    expect(await listAlarms(world.database, { states: ["firing"], limit: 10 })).toEqual([]);
  });

  test("find lost requests, failing models, open circuits, late jobs, and old backups", async () => {
    const { clock, database, parts } = world;
    const accountId = await world.createAccount();
    const now = clock.now();
    await database
      .insertInto("request_gaps")
      .values({ account_id: accountId, id: parts.ids.next("req"), from_at: now, to_at: now, lost: 3 })
      .execute();
    const slot = { slot_at: now, kind: "model", calls: 100n, failed: 30n };
    await database
      .insertInto("traffic_slots")
      .values([
        { ...slot, subject: "broken" },
        { ...slot, subject: "quiet", calls: 19n, failed: 19n },
        { ...slot, subject: "well", failed: 20n },
      ])
      .execute();
    const late = new Date(now.getTime() - 20 * minuteMs);
    await sql`insert into scheduled_jobs (name, schedule, due_at, fencing_token)
      values ('stuck', '{}', ${late}, 0)`.execute(database);
    await recordBackup(parts, "full");
    await check();
    const found = await listAlarms(database, { states: ["firing"], limit: 20 });
    expect(new Set(found.map(({ rule, subject }) => `${rule} ${subject}`))).toEqual(
      new Set(["requests-lost service", "model-errors broken", "jobs-late stuck"]),
    );
    clock.advance(27 * hourMs);
    await check();
    const later = await listAlarms(database, { states: ["firing"], limit: 20 });
    expect(later.map(({ rule }) => rule)).toContain("backup-age");
    // These calls are too old to count.
    expect(later.map(({ rule }) => rule)).not.toContain("model-errors");
  });
});

test("the balance of a vendor is compared with the provider's own threshold, while it is recent", async () => {
  const { database, clock, parts } = world;
  const source = stringify({
    currency: "USD",
    providers: ["plain", "low", "two"].map((id) => ({
      ...{ id, kind: "openai-compatible", base_url: "https://ai.example.com/v1" },
      api_keys: id === "two" ? ["${FIRST_KEY}", "${SECOND_KEY}"] : ["${FIRST_KEY}"],
      ...(id === "low" ? { balance_low: "200" } : {}),
    })),
    models: [],
    prices: [],
  });
  const nothing = new Set<string>();
  const surroundings = { currency: "USD", planIds: nothing, accountIds: nothing, hasSecret: () => true };
  const applied = await applyCatalog(
    { database, clock, ids: parts.ids, surroundings: { ...surroundings, findPackageFault: () => null } },
    source,
  );
  expect(applied).not.toHaveProperty("problems");
  const put = async (providerId: string, keyNumber: number, amount: bigint, askedAt = clock.now()) =>
    await putVendorBalance(
      database,
      { providerId, keyNumber, askedAt },
      { amountNano: amount * 1_000_000_000n, currency: "CNY" },
    );
  await put("plain", 0, 11n);
  await put("low", 0, 199n);
  await put("two", 1, 9n);
  await put("two", 0, 1n, new Date(clock.now().getTime() - 7 * hourMs));
  await put("gone", 0, 0n);
  for (let minute = 0; minute < 6; minute += 1) await check();
  const alarms = await listAlarms(database, { states: open, limit: 10 });
  expect(alarms.map(({ rule, message }) => [rule, message]).toSorted()).toEqual([
    ["vendor-balance", "199.00 CNY are left at low."],
    ["vendor-balance", "9.00 CNY are left at two key 2."],
  ]);
  await put("low", 0, 200n);
  for (let minute = 0; minute < 12; minute += 1) await check();
  expect(await listAlarms(database, { states: open, limit: 10 })).toMatchObject([{ subject: "two key 2" }]);
});
