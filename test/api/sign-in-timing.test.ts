// @module-tag slow
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { holdLock } from "../harness/hold-lock.ts";
import { listMails, signUpByMail, visitorSettings, visitSite } from "../harness/site/site-visitor.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ settings: visitorSettings });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const rounds = 30;

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** Alternates the two, so that other load on the machine affects both. */
async function compare(one: () => Promise<unknown>, other: () => Promise<unknown>): Promise<number> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, ask] of [one, other].entries()) {
      const startedAt = performance.now();
      await ask();
      times[index]?.push(performance.now() - startedAt);
    }
  }
  return median(times[0]) / median(times[1]);
}

test("a wrong password and an unknown address take the same time", async () => {
  const { email } = await signUpByMail(gateway);
  const ask = (address: string) => () =>
    visitSite(gateway).post("/sign-in", { email: address, password: "not the password" });
  await ask(email)();
  const ratio = await compare(ask(email), ask("nobody@example.com"));
  // Without the hash, an unknown address would be ten times faster.
  expect(ratio).toBeGreaterThan(0.6);
  expect(ratio).toBeLessThan(1.6);
});

test.each([
  ["/password/forgot", {}, ["Reset your password"], []],
  ["/email/resend", {}, [], []],
  ["/sign-up", { password: "five other words now" }, ["You already have an account"], ["Confirm your e-mail address"]],
])("%s responds before looking up the address, and works afterwards", async (path, rest, toKnown, toUnknown) => {
  const { email: known } = await signUpByMail(gateway);
  const unknown = `new-${known}`;
  const visitor = visitSite(gateway);
  const countBefore = (await listMails(visitor, known)).length;
  {
    await using lock = await holdLock(gateway.database, async (tx) => {
      await sql`lock table users, user_tokens in access exclusive mode`.execute(tx);
    });
    const ask = (email: string) => visitor.post(path, { email, ...rest });
    expect(await Promise.all([ask(known), ask(unknown)])).toMatchObject([{ status: 202 }, { status: 202 }]);
    await lock.awaited();
  }
  const listSubjects = async (email: string) => (await listMails(visitor, email)).map(({ subject }) => subject);
  expect((await listSubjects(known)).slice(0, -countBefore)).toEqual(toKnown);
  expect(await listSubjects(unknown)).toEqual(toUnknown);
});
