// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiKey, updateApiKey } from "../../src/features/accounts/index.ts";
import { deleteOldRequests } from "../../src/features/site/index.ts";
import { approve, beginRequest, programState, readCallback } from "../harness/site/connect-program.ts";
import {
  goodPassword,
  readMail,
  type SiteVisitor,
  signUpVisitor,
  visitorSettings,
  visitSite,
} from "../harness/site/site-visitor.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

let gateway: TestGateway;
let clock: TestClock;

beforeAll(async () => {
  clock = createTestClock();
  gateway = await startGateway({ clock, settings: visitorSettings });
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function callApi(key: string): Promise<{ status: number; code: string | null }> {
  const response = await gateway.get("/models", key);
  const body = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: body.error?.code ?? null };
}

/** A busy gateway refuses what waits too long for a connection, and asks the page to send it again. */
async function approveAtLast(visitor: SiteVisitor, id: string): Promise<URLSearchParams> {
  return await waitUntil("the approval", () =>
    approve(visitor, id).catch((error: Error) => {
      if (error.message.includes("answered 503")) return null;
      throw error;
    }),
  );
}

async function readState(visitor: SiteVisitor, id: string): Promise<string> {
  return (await visitor.get(`/connect/requests/${id}/status`)).body.state;
}

async function getAccountId(visitor: SiteVisitor): Promise<string> {
  return (await visitor.get("/session")).body.account.id;
}

async function listLiveKeys(visitor: SiteVisitor) {
  return await gateway.database
    .selectFrom("api_keys")
    .selectAll()
    .where("account_id", "=", await getAccountId(visitor))
    .where("revoked_at", "is", null)
    .execute();
}

describe("an approval", () => {
  test("sends a working key named after the program to its callback, with the state unchanged", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const id = await beginRequest(gateway);
    expect((await visitor.get(`/connect/requests/${id}`)).body).toEqual({
      client: "my-tool",
      asked: null,
      budget: null,
      redirect_host: "127.0.0.1:53111",
      replaces: null,
      expires_at: new Date(clock.now().getTime() + 10 * minuteMs).toISOString(),
      uses_code: false,
      kind: "browser",
    });
    const answer = await visitor.post(`/connect/requests/${id}/approve`);
    expect(answer).toMatchObject({ status: 200, body: { kind: "browser" } });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { callback_url: url } = answer.body;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:53111\/callback\?api_key=sk-slc-[0-9A-Za-z]{36}&state=[^&]+$/);
    expect(readCallback(url).get("state")).toBe(programState);
    expect(await callApi(readCallback(url).get("api_key") ?? "")).toMatchObject({ status: 200 });
    expect(await listLiveKeys(visitor)).toMatchObject([{ name: "BA:my-tool", expires_at: null, budget_nano: null }]);
  });

  test("counts as delivered when the key is first used", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const id = await beginRequest(gateway);
    await visitor.get(`/connect/requests/${id}`);
    expect(await readState(visitor, id)).toBe("waiting");
    const key = (await approve(visitor, id)).get("api_key") ?? "";
    expect(await readState(visitor, id)).toBe("waiting");
    await callApi(key);
    await waitUntil("the first use", async () => (await readState(visitor, id)) === "delivered");
  });

  test("limits the key as the person chose", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const id = await beginRequest(gateway);
    const key = (await approve(visitor, id, { expires_in_days: 30, budget: "12.5" })).get("api_key") ?? "";
    expect(await listLiveKeys(visitor)).toMatchObject([
      {
        expires_at: new Date(clock.now().getTime() + 30 * dayMs),
        budget_nano: 12_500_000_000n,
        budget_period: "total",
      },
    ]);
    expect((await callApi(key)).status).toBe(200);
    const again = await beginRequest(gateway);
    expect((await visitor.get(`/connect/requests/${again}`)).body.budget).toEqual({
      amount: "12.50",
      period: "total",
      spent: "0.00",
    });
    await approve(visitor, again);
    expect(await listLiveKeys(visitor)).toMatchObject([{ expires_at: null, budget_nano: 12_500_000_000n }]);
  });

  test("with an invalid field is rejected with the field's name, and can be repeated", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const id = await beginRequest(gateway);
    const fields: [string, unknown][] = [
      ...[0, 3651, 1.5, -1, "30"].map((value): [string, unknown] => ["expires_in_days", value]),
      ...["", "-1", "1e3", "1,50", 5, "1".repeat(10)].map((value): [string, unknown] => ["budget", value]),
      ["models", ["x"]],
    ];
    for (const [param, value] of fields) {
      const refused = await visitor.post(`/connect/requests/${id}/approve`, { [param]: value });
      expect(refused).toMatchObject({ status: 400, body: { error: { param } } });
    }
    expect(await listLiveKeys(visitor)).toEqual([]);
    expect((await approve(visitor, id)).has("api_key")).toBe(true);
  });

  test("counts once, however many are sent at the same time", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const id = await beginRequest(gateway);
    const send = () => visitor.post(`/connect/requests/${id}/approve`);
    const answers = await Promise.all(Array.from({ length: 50 }, send));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const others = answers.filter(({ status }) => status !== 200);
    expect(new Set(others.map(({ status, body }) => `${status} ${body.error.code}`))).toEqual(
      new Set(["409 already_answered"]),
    );
    expect(others[0]?.body.error.message).toContain("approved");
    expect(await listLiveKeys(visitor)).toHaveLength(1);
  });

  test("cannot follow or be undone by a denial, and the error names the earlier decision", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const [refused, approved] = [await beginRequest(gateway), await beginRequest(gateway)];
    await visitor.post(`/connect/requests/${refused}/deny`);
    await approve(visitor, approved);
    const answers = [
      await visitor.post(`/connect/requests/${refused}/approve`),
      await visitor.get(`/connect/requests/${refused}`),
      await visitor.post(`/connect/requests/${approved}/deny`),
      await visitor.get(`/connect/requests/${approved}`),
    ];
    expect(answers.map(({ status, body }) => [status, /refused|approved/.exec(body.error.message)?.[0]])).toEqual([
      [409, "refused"],
      [409, "refused"],
      [409, "approved"],
      [409, "approved"],
    ]);
  });

  test("is mailed to the owner, and the key is in no mail, log line or table", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    const key = (await approve(visitor, await beginRequest(gateway, { client: "told.tool" }))).get("api_key") ?? "";
    await callApi(key);
    const { mail } = await readMail(visitor, email);
    expect(mail).toMatchObject({ subject: "BA:told.tool was authorized", text: expect.stringContaining("/security") });
    expect(gateway.logs).toContainEqual(expect.objectContaining({ msg: "program authorized", client: "told.tool" }));
    expect(JSON.stringify([mail, gateway.logs])).not.toContain(key.slice("sk-slc-".length));
    for (const table of ["api_keys", "api_key_uses", "connect_requests", "user_sessions", "user_tokens"] as const) {
      const rows = await gateway.database.selectFrom(table).selectAll().execute();
      const text = JSON.stringify(rows, (_name, value) => (typeof value === "bigint" ? String(value) : value));
      expect(text).not.toContain(key.slice(-20));
      expect(text).not.toContain(Buffer.from(key).toString("hex"));
    }
  });
});

describe("a denial", () => {
  test("is sent to the program with its state and without a key", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const id = await beginRequest(gateway);
    await visitor.get(`/connect/requests/${id}`);
    const answer = await visitor.post(`/connect/requests/${id}/deny`);
    expect(answer.status).toBe(200);
    const query = readCallback(answer.body.callback_url);
    expect(Object.fromEntries(query)).toEqual({ error: "access_denied", state: programState });
    expect(await readState(visitor, id)).toBe("denied");
    expect(await listLiveKeys(visitor)).toEqual([]);
  });
});

describe("connecting a program again", () => {
  test("revokes its older key, and the consent page names that key", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const older = (await approve(visitor, await beginRequest(gateway))).get("api_key") ?? "";
    const madeAt = clock.now().toISOString();
    clock.advance(minuteMs);
    const id = await beginRequest(gateway);
    const { body } = await visitor.get(`/connect/requests/${id}`);
    expect(body.replaces).toEqual({ created_at: madeAt, last_four: older.slice(-4) });
    expect((await callApi(older)).status).toBe(200);
    const newer = (await approve(visitor, id)).get("api_key") ?? "";
    await waitUntil("the end of the older key", async () => (await callApi(older)).code === "revoked_api_key");
    expect((await callApi(newer)).status).toBe(200);
  });

  test("leaves keys of other programs, other people and the console unchanged", async () => {
    const [{ visitor }, { visitor: other }] = [await signUpVisitor(gateway), await signUpVisitor(gateway)];
    const accountId = await getAccountId(visitor);
    await createApiKey({ ...gateway.parts, randomBytes: Buffer.alloc }, { accountId, name: "my-tool" });
    await approve(visitor, await beginRequest(gateway, { client: "My-tool" }));
    await approve(other, await beginRequest(gateway));
    await approve(visitor, await beginRequest(gateway));
    await approve(visitor, await beginRequest(gateway));
    const names = (await listLiveKeys(visitor)).map(({ name }) => name).toSorted();
    expect(names).toEqual(["BA:My-tool", "BA:my-tool", "my-tool"]);
    expect(await listLiveKeys(other)).toHaveLength(1);
  });

  test("a hundred times at once leaves one live key, which works", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const ids = await Promise.all(Array.from({ length: 100 }, () => beginRequest(gateway)));
    const queries = await Promise.all(ids.map((id) => approveAtLast(visitor, id)));
    const keys = queries.map((query) => query.get("api_key") ?? "");
    expect(new Set(keys).size).toBe(100);
    const live = await listLiveKeys(visitor);
    expect(live).toHaveLength(1);
    const answers = await waitUntil("the end of the others", async () => {
      const found = await Promise.all(keys.map(callApi));
      return found.filter(({ status }) => status === 200).length === 1 && found;
    });
    const working = keys[answers.findIndex(({ status }) => status === 200)] ?? "";
    expect(working.slice(-4)).toBe(live[0]?.last_four);
  });
});

describe("ownership of a request", () => {
  test("other accounts can neither see, answer nor follow a request once it is opened", async () => {
    const [{ visitor }, { visitor: other }] = [await signUpVisitor(gateway), await signUpVisitor(gateway)];
    const id = await beginRequest(gateway);
    await visitor.get(`/connect/requests/${id}`);
    for (const answer of [
      await other.get(`/connect/requests/${id}`),
      await other.get(`/connect/requests/${id}/status`),
      await other.post(`/connect/requests/${id}/approve`),
      await other.post(`/connect/requests/${id}/deny`),
      await visitor.get("/connect/requests/AAAAAAAAAAAAAAAAAAAAAA"),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
    }
    expect((await approve(visitor, id)).has("api_key")).toBe(true);
  });

  test("another browser of the same person gets it only after the session that opened it has ended", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    const other = visitSite(gateway);
    await other.post("/sign-in", { email, password: goodPassword });
    const id = await beginRequest(gateway);
    await visitor.get(`/connect/requests/${id}`);
    expect((await other.post(`/connect/requests/${id}/approve`)).status).toBe(404);
    await visitor.post("/sign-out");
    expect((await other.get(`/connect/requests/${id}`)).status).toBe(200);
    expect((await approve(other, id)).has("api_key")).toBe(true);
  });

  test("a session that ends midway loses nothing: the request continues after the next sign-in", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    const id = await beginRequest(gateway);
    await visitor.get(`/connect/requests/${id}`);
    await gateway.database.deleteFrom("user_sessions").execute();
    const refused = await visitor.post(`/connect/requests/${id}/approve`);
    expect(refused).toMatchObject({ status: 401, body: { error: { code: "not_signed_in" } } });
    await visitor.post("/sign-in", { email, password: goodPassword });
    expect((await approve(visitor, id)).has("api_key")).toBe(true);
  });

  test("a session that ends midway does not open the request to others", async () => {
    const [{ visitor }, { visitor: other }] = [await signUpVisitor(gateway), await signUpVisitor(gateway)];
    const id = await beginRequest(gateway);
    await visitor.get(`/connect/requests/${id}`);
    await visitor.post("/sign-out");
    expect((await other.get(`/connect/requests/${id}`)).status).toBe(404);
  });

  test("visitors without a session learn nothing about it", async () => {
    const id = await beginRequest(gateway);
    const stranger = visitSite(gateway);
    expect((await stranger.get(`/connect/requests/${id}`)).status).toBe(401);
    expect((await stranger.post(`/connect/requests/${id}/approve`)).status).toBe(401);
    expect((await stranger.get("/connected-clients")).status).toBe(401);
  });

  test("a page of another site cannot approve", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const id = await beginRequest(gateway);
    await visitor.get(`/connect/requests/${id}`);
    const answer = await visitor.post(`/connect/requests/${id}/approve`, {}, { origin: "https://evil.example" });
    expect(answer).toMatchObject({ status: 403, body: { error: { code: "cross_site_request" } } });
    expect(await listLiveKeys(visitor)).toEqual([]);
  });
});

describe("expiry", () => {
  test("a request without an answer expires after 10 minutes", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const id = await beginRequest(gateway);
    clock.advance(10 * minuteMs - 1);
    expect((await visitor.get(`/connect/requests/${id}`)).status).toBe(200);
    clock.advance(1);
    expect((await visitor.get(`/connect/requests/${id}`)).status).toBe(404);
    expect((await visitor.post(`/connect/requests/${id}/approve`)).status).toBe(404);
    expect(await readState(visitor, id)).toBe("expired");
    expect(await listLiveKeys(visitor)).toEqual([]);
  });

  test("an expired request is removed a day later, and no younger one is", async () => {
    const [old] = [await beginRequest(gateway), clock.advance(minuteMs)];
    const young = await beginRequest(gateway);
    const find = async (id: string) =>
      (await gateway.database.selectFrom("connect_requests").select("id").where("id", "=", id).execute()).length;
    await deleteOldRequests(gateway.database, new Date(clock.now().getTime() + dayMs + 9 * minuteMs));
    expect([await find(old), await find(young)]).toEqual([1, 1]);
    await deleteOldRequests(gateway.database, new Date(clock.now().getTime() + dayMs + 9 * minuteMs + 1));
    expect([await find(old), await find(young)]).toEqual([0, 1]);
  });
});

describe("reauthentication", () => {
  async function approveLater(visitor: SiteVisitor, laterMs: number) {
    clock.advance(laterMs);
    const id = await beginRequest(gateway);
    return { id, answer: await visitor.post(`/connect/requests/${id}/approve`) };
  }

  test("is not required on the day of the sign-in", async () => {
    const { visitor } = await signUpVisitor(gateway);
    expect((await approveLater(visitor, dayMs - 1)).answer.status).toBe(200);
  });

  test("is required in a day-old session, and then lasts ten minutes", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const { id, answer } = await approveLater(visitor, dayMs);
    expect(answer).toMatchObject({ status: 403, body: { error: { code: "reauthentication_required" } } });
    await visitor.post("/reauthenticate", { password: goodPassword });
    expect((await approve(visitor, id)).has("api_key")).toBe(true);
    expect((await approveLater(visitor, 10 * minuteMs)).answer.status).toBe(403);
  });

  test("is always required with a second factor", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    await gateway.database
      .updateTable("users")
      .set({ totp_secret: Buffer.alloc(48) })
      .where("email", "=", email)
      .execute();
    expect((await approveLater(visitor, 9 * minuteMs)).answer.status).toBe(200);
    expect((await approveLater(visitor, minuteMs)).answer.status).toBe(403);
  });
});

describe("connected programs", () => {
  test("are listed with their last use, newest first, and can be disconnected", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const key = (await approve(visitor, await beginRequest(gateway, { client: "first" }))).get("api_key") ?? "";
    const createdAt = clock.now().toISOString();
    clock.advance(1);
    await approve(visitor, await beginRequest(gateway, { client: "second" }), { expires_in_days: 1 });
    const usedAt = clock.now().toISOString();
    await callApi(key);
    const list = async () => (await visitor.get("/connected-clients")).body.data;
    await waitUntil("the use", async () => (await list())[1].last_used_at !== null);
    const [second, first] = await list();
    expect(first).toEqual({
      id: expect.stringMatching(/^key_/),
      client: "first",
      created_at: createdAt,
      expires_at: null,
      last_used_at: usedAt,
      last_four: key.slice(-4),
    });
    expect(second).toMatchObject({ client: "second", last_used_at: null });
    expect((await visitor.delete(`/connected-clients/${first.id}`)).status).toBe(204);
    await waitUntil("its end", async () => (await callApi(key)).code === "revoked_api_key");
    expect(await list()).toEqual([second]);
    clock.advance(dayMs);
    expect(await list()).toEqual([]);
  });

  test("of other accounts, and keys made by hand, cannot be disconnected here", async () => {
    const [{ visitor }, { visitor: other }] = [await signUpVisitor(gateway), await signUpVisitor(gateway)];
    await approve(other, await beginRequest(gateway));
    const [theirs] = await listLiveKeys(other);
    const accountId = await getAccountId(visitor);
    const parts = { ...gateway.parts, randomBytes: (count: number) => Buffer.alloc(count, 7) };
    const { apiKey } = await createApiKey(parts, { accountId, name: "mine" });
    for (const id of [theirs?.id, apiKey.id, "key_none", "x"]) {
      expect((await visitor.delete(`/connected-clients/${id}`)).status).toBe(404);
    }
    expect((await listLiveKeys(visitor)).length + (await listLiveKeys(other)).length).toBe(2);
  });

  test("reserve their names: no manual key can take one, and theirs cannot be renamed", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const accountId = await getAccountId(visitor);
    await approve(visitor, await beginRequest(gateway));
    const [key] = await listLiveKeys(visitor);
    const parts = { ...gateway.parts, randomBytes: (count: number) => Buffer.alloc(count, 9) };
    const made = await createApiKey(parts, { accountId, name: "mine" });
    const refusal = { code: "invalid_parameter", param: "name" };
    await expect(createApiKey(parts, { accountId, name: " BA:my-tool" })).rejects.toMatchObject(refusal);
    await expect(updateApiKey(parts, made.apiKey.id, { name: "BA:x" })).rejects.toMatchObject(refusal);
    await expect(updateApiKey(parts, key?.id ?? "", { name: "laptop" })).rejects.toMatchObject(refusal);
    expect(await updateApiKey(parts, key?.id ?? "", { modelIds: null })).toMatchObject({ name: "BA:my-tool" });
    expect(await updateApiKey(parts, made.apiKey.id, { name: "laptop" })).toMatchObject({ name: "laptop" });
  });
});
