import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  approve,
  askSite,
  beginRequest,
  makeAddress,
  makeVerifier,
  programState,
} from "../harness/site/connect-program.ts";
import { type SiteVisitor, signUpVisitor, visitorSettings } from "../harness/site/site-visitor.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

let gateway: TestGateway;
let clock: TestClock;
let visitor: SiteVisitor;

beforeAll(async () => {
  clock = createTestClock();
  gateway = await startGateway({ clock, settings: visitorSettings });
  ({ visitor } = await signUpVisitor(gateway));
});
afterAll(() => gateway[Symbol.asyncDispose]());

let program: Awaited<ReturnType<typeof beginProgram>>;
beforeEach(async () => {
  program = await beginProgram();
});

/** A program after the person's approval: it has its code and its verifier. */
async function beginProgram(changes: Record<string, string> = {}, terms: object = {}) {
  const { verifier, challenge } = makeVerifier();
  const id = await beginRequest(gateway, { client: "coder", ...challenge, ...changes });
  const shown = await visitor.get(`/connect/requests/${id}`);
  const query = await approve(visitor, id, terms);
  return { id, shown: shown.body, query, exchange: { code: query.get("code") ?? "", code_verifier: verifier } };
}

function exchange(body: unknown, options: { type?: string; address?: string } = {}) {
  return askSite(gateway, "/connect/token", body, options);
}

async function callApi(key: string): Promise<number> {
  return (await gateway.get("/models", key)).status;
}

async function readState(id: string): Promise<string> {
  return (await visitor.get(`/connect/requests/${id}/status`)).body.state;
}

async function countKeys(): Promise<number> {
  return (await gateway.database.selectFrom("api_keys").select("id").where("name", "=", "BA:coder").execute()).length;
}

const invalidGrant = { status: 400, body: { error: { code: "invalid_grant", type: "invalid_request_error" } } };

describe("a program that requests a code", () => {
  test("gets the code instead of a key, and no key exists before the verifier is presented", async () => {
    const before = await countKeys();
    const { shown, query } = await beginProgram();
    expect(shown.uses_code).toBe(true);
    expect(Object.fromEntries(query)).toEqual({
      code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      state: programState,
    });
    expect(await countKeys()).toBe(before);
  });

  test("exchanges it for a working key with the person's limits", async () => {
    const { id, exchange: body } = await beginProgram({}, { expires_in_days: 7, budget: "3" });
    expect(await readState(id)).toBe("waiting");
    clock.advance(59_000);
    const answer = await exchange(body);
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const account = (await visitor.get("/session")).body.account.id;
    expect(answer.body).toEqual({
      api_key: expect.stringMatching(/^sk-slc-/),
      name: "BA:coder",
      account,
      created_at: clock.now().toISOString(),
      expires_at: new Date(clock.now().getTime() + 7 * 24 * 3_600_000).toISOString(),
    });
    expect(await callApi(answer.body.api_key)).toBe(200);
    expect(await readState(id)).toBe("delivered");
    const row = gateway.database.selectFrom("api_keys").select("budget_nano").where("name", "=", "BA:coder");
    expect(await row.where("revoked_at", "is", null).executeTakeFirst()).toEqual({ budget_nano: 3_000_000_000n });
  });

  test("may send a form, and its client name", async () => {
    const form = new URLSearchParams({
      ...program.exchange,
      client: "coder",
      redirect_uri: "http://127.0.0.1:53111/callback",
    });
    const answer = await exchange(form.toString(), { type: "application/x-www-form-urlencoded" });
    expect(answer).toMatchObject({ status: 200, body: { name: "BA:coder", expires_at: null } });
  });

  test("keeps its older key until the exchange", async () => {
    const older = (await exchange(program.exchange)).body.api_key;
    const { exchange: body } = await beginProgram();
    expect(await callApi(older)).toBe(200);
    await exchange(body);
    await waitUntil("the end of the older key", async () => (await callApi(older)) === 401);
  });
});

describe("a code", () => {
  test("is rejected without its verifier, and the right one still works afterwards", async () => {
    for (const code_verifier of [makeVerifier().verifier, "x".repeat(128)]) {
      expect(await exchange({ ...program.exchange, code_verifier })).toMatchObject(invalidGrant);
    }
    expect((await exchange(program.exchange)).status).toBe(200);
  });

  test("is rejected for another program name or callback address", async () => {
    for (const claim of [{ client: "Coder" }, { redirect_uri: "http://localhost:53111/callback" }]) {
      expect(await exchange({ ...program.exchange, ...claim })).toMatchObject(invalidGrant);
    }
    expect((await exchange(program.exchange)).status).toBe(200);
  });

  test("expires after 60 seconds, and the older key stays valid", async () => {
    const older = (await exchange(program.exchange)).body.api_key;
    const { id, exchange: body } = await beginProgram();
    clock.advance(60_000);
    expect(await exchange(body)).toMatchObject(invalidGrant);
    expect(await readState(id)).toBe("expired");
    expect(await callApi(older)).toBe(200);
  });

  test("used twice revokes the key from the first exchange", async () => {
    const { api_key } = (await exchange(program.exchange)).body;
    expect(await callApi(api_key)).toBe(200);
    clock.advance(5 * 60_000);
    const second = await exchange(program.exchange);
    expect(second).toMatchObject(invalidGrant);
    expect(second.body.error.message).toContain("already used");
    await waitUntil("the end of the key", async () => (await callApi(api_key)) === 401);
  });

  test("reused by a stranger without its verifier changes nothing", async () => {
    const { api_key } = (await exchange(program.exchange)).body;
    expect(await exchange({ ...program.exchange, code_verifier: "y".repeat(43) })).toMatchObject(invalidGrant);
    const row = gateway.database.selectFrom("api_keys").select("revoked_at").where("last_four", "=", api_key.slice(-4));
    expect(await row.where("name", "=", "BA:coder").execute()).toContainEqual({ revoked_at: null });
    expect(await callApi(api_key)).toBe(200);
  });

  test("exchanged by many at once is exchanged once", async () => {
    const before = await countKeys();
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(program.exchange)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(19);
    expect(await countKeys()).toBe(before + 1);
  });

  test("is in no table and no log line, and neither is the verifier", async () => {
    await exchange(program.exchange);
    const rows = await gateway.database.selectFrom("connect_requests").selectAll().execute();
    const written = JSON.stringify([rows, gateway.logs], (_name, value) =>
      typeof value === "bigint" ? String(value) : value,
    );
    expect(written).not.toContain(program.exchange.code);
    expect(written).not.toContain(program.exchange.code_verifier);
  });
});

describe("an invalid exchange", () => {
  test.each<[object | string, number, string | null]>([
    [{ code_verifier: "v".repeat(43) }, 400, "code"],
    [{ code: "c" }, 400, "code_verifier"],
    [{ code: "", code_verifier: "v".repeat(43) }, 400, "code"],
    [{ code: "c".repeat(1025), code_verifier: "v".repeat(43) }, 400, "code"],
    [{ code: "c", code_verifier: "v".repeat(42) }, 400, "code_verifier"],
    [{ code: "c", code_verifier: "v".repeat(129) }, 400, "code_verifier"],
    [{ code: "c", code_verifier: `${"v".repeat(43)}é` }, 400, "code_verifier"],
    [{ code: ["c"], code_verifier: "v".repeat(43) }, 400, "code"],
    [{ code: "c", code_verifier: "v".repeat(43), secret: "x" }, 400, "secret"],
    ["[]", 400, null],
    ["{", 400, null],
    [{ code: "c", code_verifier: "v".repeat(43), client: "x".repeat(9000) }, 413, null],
  ])("%j is rejected with the field at fault", async (body, status, param) => {
    expect(await exchange(body)).toMatchObject({ status, body: { error: { param } } });
  });

  test("a form with a repeated field, or another kind of body, is rejected", async () => {
    const twice = `code=a&code=b&code_verifier=${"v".repeat(43)}`;
    const form = await exchange(twice, { type: "application/x-www-form-urlencoded" });
    expect(form).toMatchObject({ status: 400, body: { error: { param: "code" } } });
    expect((await exchange("code=a", { type: "text/plain" })).status).toBe(415);
  });

  test("guessing codes is rate-limited", async () => {
    const address = makeAddress();
    const guess = { code: "guess", code_verifier: "v".repeat(43) };
    const answers = await Promise.all(Array.from({ length: 61 }, () => exchange(guess, { address })));
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(60);
    const [refused] = answers.filter(({ status }) => status === 429);
    expect(refused).toMatchObject({ body: { error: { code: "rate_limit_exceeded" } } });
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await exchange(guess)).status).toBe(400);
  });
});
