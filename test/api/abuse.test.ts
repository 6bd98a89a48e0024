import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  addBlock,
  capSpending,
  importDisposable,
  liftCap,
  listSignUps,
  removeBlock,
  sumSignUps,
} from "../../src/features/abuse/index.ts";
import { bookCredit } from "../../src/features/ledger/index.ts";
import { sendNotices } from "../../src/features/notices/index.ts";
import { inviteUser, normalizeMailbox } from "../../src/features/site/index.ts";
import { nano } from "../../src/lib/money.ts";
import { type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";
import { goodPassword, readMail, visitorSettings, visitSite } from "../harness/site/site-visitor.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

const dayMs = 24 * 60 * 60_000;
const by = { reason: "Test", endsAt: null, actor: "ada" };

describe("sign-ups", () => {
  let gateway: TestGateway;
  let clock: TestClock;
  beforeAll(async () => {
    clock = createTestClock();
    gateway = await startGateway({
      clock,
      settings: {
        ...visitorSettings,
        sign_ups_per_network_daily_max: 2,
        sign_ups_per_domain_daily_max: 3,
        support_contact: "help@example.org",
      },
    });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const changing = () => ({ ...gateway.parts, normalizeMailbox });

  async function open(email: string, address: string): Promise<number> {
    const visitor = visitSite(gateway, { address });
    const begun = await visitor.post("/sign-up", { email, password: goodPassword });
    if (begun.status !== 202) return begun.status;
    const { token } = await readMail(visitor, email);
    return (await visitor.post("/email/verify", { token })).status;
  }

  async function refuse(email: string, address: string) {
    return await visitSite(gateway, { address }).post("/sign-up", { email, password: goodPassword });
  }

  test("are limited per network, which may have as many again a day later", async () => {
    const network = "2001:4860:1:2";
    expect(await open("a@gmail.com", `${network}::1`)).toBe(200);
    expect(await open("b@gmail.com", `${network}::2`)).toBe(200);
    const refused = await refuse("c@gmail.com", `${network}::3`);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: "sign_up_limited", param: null } } });
    expect(refused.body.error.message).toContain("help@example.org");
    expect(refused.headers.get("retry-after")).toBe("3600");
    expect(await open("c@gmail.com", "2001:4860:1:3::1")).toBe(200);
    clock.advance(dayMs);
    expect(await open("d@gmail.com", `${network}::4`)).toBe(200);
  });

  test("that are begun at the same time stay within the limit", async () => {
    const address = "93.184.216.7";
    const people = await Promise.all(
      ["e", "f", "g", "h"].map(async (name) => {
        const visitor = visitSite(gateway, { address });
        const email = `${name}@gmail.com`;
        expect((await visitor.post("/sign-up", { email, password: goodPassword })).status).toBe(202);
        return { visitor, token: (await readMail(visitor, email)).token };
      }),
    );
    const answers = await Promise.all(people.map(({ visitor, token }) => visitor.post("/email/verify", { token })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 429, 429]);
  });

  test("are limited per mail domain, except those of large services", async () => {
    for (const name of ["a", "b", "c"]) expect(await open(`${name}@acme.example`, "10.0.0.8")).toBe(200);
    const refused = await refuse("d@Acme.Example", "10.0.0.9");
    expect(refused).toMatchObject({ status: 429, body: { error: { code: "sign_up_limited", param: "email" } } });
  });

  test("of a blocked mailbox or domain are refused, with its subdomains, until the block is removed", async () => {
    await addBlock(changing(), { ...by, kind: "domain", subject: "Bad.Example" });
    await addBlock(changing(), { ...by, kind: "mailbox", subject: "b.o.b+x@gmail.com" });
    for (const email of ["a@bad.example", "a@mail.bad.example", "bob@googlemail.com"]) {
      const refused = await refuse(email, "10.1.0.1");
      expect(refused).toMatchObject({ status: 403, body: { error: { code: "access_blocked", param: "email" } } });
      expect(refused.body.error.message).toContain("help@example.org");
      expect(refused.body.error.message).not.toContain("Test");
    }
    await removeBlock(changing(), "domain", "bad.example");
    expect(await open("a@bad.example", "10.1.0.1")).toBe(200);
    await expect(removeBlock(changing(), "domain", "bad.example")).rejects.toMatchObject({ code: "not_found" });
  });

  test("with a disposable address are refused after an import, which replaces the list", async () => {
    await importDisposable(gateway.parts, "# list\ntemp.example\nold.example\n", "ada");
    const refused = await refuse("a@temp.example", "10.2.0.1");
    expect(refused).toMatchObject({ status: 403, body: { error: { code: "disposable_email", param: "email" } } });
    clock.advance(1);
    expect(await importDisposable(gateway.parts, "temp.example\r\n", "ada")).toEqual({ written: 1, removed: 1 });
    expect(await open("a@old.example", "10.2.0.1")).toBe(200);
    await expect(importDisposable(gateway.parts, "not a domain", "ada")).rejects.toMatchObject({ param: "file" });
    await expect(importDisposable(gateway.parts, "", "ada")).rejects.toMatchObject({ param: "file" });
  });

  test("are listed by network and domain, refused ones with their reason", async () => {
    const rows = await listSignUps(gateway.database, { mailDomain: "temp.example", limit: 10 });
    expect(rows).toMatchObject([{ accountId: null, refusal: "disposable", network: "10.2.0.1" }]);
    const sums = await sumSignUps(gateway.database, "domain", { since: new Date(0), limit: 100 });
    expect(sums.find(({ subject }) => subject === "acme.example")).toMatchObject({ opened: 3, refused: 1 });
  });

  test.each([
    ["network", "10.0.0.0/0"],
    ["network", "example.com"],
    ["domain", "example"],
    ["mailbox", "nobody"],
  ] as const)("a block of the %s %s is rejected", async (kind, subject) => {
    await expect(addBlock(changing(), { ...by, kind, subject })).rejects.toMatchObject({ param: "subject" });
  });
});

test("a blocked network can neither call nor sign in, within a second and until the end of the block", async () => {
  const clock = createTestClock(new Date());
  await using gateway = await startGateway({ clock, settings: visitorSettings });
  const { key } = await gateway.createCaller();
  const call = (address: string) => gateway.get("/models", key, { "x-forwarded-for": address });
  expect((await call("203.0.113.5")).status).toBe(200);
  const changing = { ...gateway.parts, normalizeMailbox };
  await addBlock(changing, { ...by, kind: "network", subject: "203.0.113.0/24" });
  const refused = await waitUntil("the block", async () => {
    const answer = await call("203.0.113.5");
    return answer.status === 403 && answer;
  });
  expect(await refused.json()).toMatchObject({ error: { code: "access_blocked", param: null } });
  expect((await call("203.0.114.5")).status).toBe(200);
  const visitor = visitSite(gateway, { address: "203.0.113.5" });
  const answer = await visitor.post("/sign-in/password", { email: "a@example.com", password: goodPassword });
  expect(answer).toMatchObject({ status: 403, body: { error: { code: "access_blocked" } } });
  // The pages, and with them the explanation, stay readable.
  expect((await fetch(`${gateway.siteUrl}/healthz`)).status).toBe(200);
  await removeBlock(changing, "network", "203.0.113.0/24");
  await waitUntil("the end of the block", async () => (await call("203.0.113.5")).status === 200);
});

describe("the daily spend cap", () => {
  const cap = { amount: nano(2_000_000_000n), days: 7 };
  let world: TestLedger;
  let chat: ChatGateway;

  beforeAll(async () => {
    world = await openTestLedger();
    chat = await openChatGateway({ settings: { ...visitorSettings, new_account_daily_spend_max: "2.00" } });
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await chat[Symbol.asyncDispose]();
  });

  const run = () => capSpending({ ...world.parts, cap }, new AbortController().signal);

  async function readCap(accountId: string): Promise<Date | null> {
    const row = await world.database
      .selectFrom("accounts")
      .select("spend_capped_until")
      .where("id", "=", accountId)
      .executeTakeFirstOrThrow();
    return row.spend_capped_until;
  }

  test("stops a new account at midnight's end, once, with a mail, and counts money on hold", async () => {
    const accountId = await world.createAccount(100_000_000_000n);
    const known = await world.createAccount(100_000_000_000n);
    const row = { network: "10.0.0.1", mail_domain: "example.com", refusal: null, created_at: world.clock.now() };
    await world.database
      .insertInto("sign_ups")
      .values({ ...row, id: world.parts.ids.next("sup"), account_id: accountId })
      .execute();
    for (const id of [accountId, known]) {
      const hold = world.hold(id, 1_500_000_000n);
      await world.ledger.apply(hold);
      await world.ledger.apply(world.settle(id, hold.id, 1_500_000_000n));
    }
    await run();
    expect(await readCap(accountId)).toBeNull();
    await world.ledger.apply(world.hold(accountId, 500_000_000n));
    await world.ledger.apply(world.hold(known, 500_000_000n));
    await run();
    await run();
    const midnight = new Date("2026-01-02T00:00:00Z");
    expect(await readCap(accountId)).toEqual(midnight);
    // Accounts that an operator created have no cap.
    expect(await readCap(known)).toBeNull();
    const mails: string[] = [];
    const sendMail = ({ subject, before }: { subject: string; before: string[] }) =>
      void mails.push([subject, ...before].join("\n"));
    await sendNotices({ ...world.parts, siteUrl: "http://localhost:4242", sendMail });
    expect(mails).toEqual([expect.stringContaining("New accounts can spend 2.00 USD a day.")]);

    await liftCap(world.parts, accountId);
    await run();
    expect(await readCap(accountId)).toBeNull();
    await expect(liftCap(world.parts, known)).rejects.toMatchObject({ code: "not_found" });
  });

  test("is over when the account is older", async () => {
    const accountId = await world.createAccount(100_000_000_000n);
    const row = { network: "10.0.0.1", mail_domain: "example.com", refusal: null };
    const createdAt = new Date(world.clock.now().getTime() - 7 * dayMs);
    await world.database
      .insertInto("sign_ups")
      .values({ ...row, id: world.parts.ids.next("sup"), account_id: accountId, created_at: createdAt })
      .execute();
    await world.ledger.apply(world.hold(accountId, 5_000_000_000n));
    await run();
    expect(await readCap(accountId)).toBeNull();
  });

  test("rejects paid calls with the amount and the time, and leaves reads alone", async () => {
    const { gateway } = chat;
    const { accountId, key } = await gateway.createCaller();
    const booking = { kind: "adjust", amount: nano(5_000_000_000n) } as const;
    await bookCredit(gateway.parts, { accountId, booking, actor: "test", reason: "test", reference: null });
    const until = new Date(Date.now() + dayMs);
    await gateway.database
      .updateTable("accounts")
      .set({ spend_capped_until: until })
      .where("id", "=", accountId)
      .execute();
    const call = () =>
      fetch(`${gateway.baseUrl}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "none", messages: [{ role: "user", content: "Hello" }] }),
      });
    const refused = await call();
    expect(refused.status).toBe(402);
    const { error } = (await refused.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe("daily_spend_cap");
    expect(error.message).toContain(`2.00 USD a day, and yours has. Calls work again at ${until.toISOString()}`);
    expect((await gateway.get("/models", key)).status).toBe(200);
    await gateway.database
      .updateTable("accounts")
      .set({ spend_capped_until: null })
      .where("id", "=", accountId)
      .execute();
    await waitUntil("the end of the cap", async () => (await call()).status !== 402);
  });
});

test("people whom an operator has invited are not limited", async () => {
  const settings = { ...visitorSettings, sign_up: "invite", sign_ups_per_domain_daily_max: 1 } as const;
  await using gateway = await startGateway({ settings });
  await addBlock({ ...gateway.parts, normalizeMailbox }, { ...by, kind: "domain", subject: "acme.example" });
  for (const email of ["first@acme.example", "second@acme.example"]) {
    const { url } = await inviteUser({ ...gateway.parts, randomBytes, siteUrl: gateway.siteUrl }, email);
    const invite = new URL(url).searchParams.get("invite");
    const visitor = visitSite(gateway);
    expect((await visitor.post("/sign-up", { email, password: goodPassword, invite })).status).toBe(202);
    const { token } = await readMail(visitor, email);
    expect((await visitor.post("/email/verify", { token })).status).toBe(200);
  }
});
