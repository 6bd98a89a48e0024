import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { updateApiKey } from "../../src/features/accounts/index.ts";
import { createContentSeal, createRequestLog, rollRequestLog } from "../../src/features/requests/index.ts";
import { createByteAllowance } from "../../src/lib/byte-allowance.ts";
import { BodyExcerpt } from "../../src/platform/http/body-excerpt.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { createMetrics } from "../../src/platform/observability/metrics.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { writeQuestion } from "../harness/chat/hear-chat.ts";
import { findLoggedCall } from "../harness/find-logged-call.ts";
import { waitUntil } from "../harness/wait-until.ts";

type Body = {
  content_type: string | null;
  bytes: number | null;
  text: string | null;
  truncated: boolean;
  left_out: number;
  hidden: number;
};
type Content = { state: string; expires_at: string; request: Body | null; answer: Body | null };

const dayMs = 24 * 60 * 60 * 1000;

let chat: ChatGateway;
beforeAll(async () => {
  chat = await openChatGateway();
});
afterAll(() => chat[Symbol.asyncDispose]());

async function createLoggingCaller(options: Parameters<ChatGateway["createCaller"]>[0] = {}): Promise<ChatCaller> {
  const caller = await chat.createCaller(options);
  await updateApiKey(chat.gateway.parts, caller.keyId, { logsContent: true });
  return caller;
}

async function awaitLogged(response: Response): Promise<string> {
  const id = response.headers.get("x-request-id") ?? "";
  await waitUntil(
    `${id} to be logged`,
    async () => {
      return (await findLoggedCall(chat.gateway.database, id)) !== null;
    },
    10_000,
  );
  return id;
}

async function ask(method: string, id: string, key: string) {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${chat.gateway.baseUrl}/requests/${id}/content`, { method, headers });
  return { status: response.status, body: (await response.json()) as Content & { error?: { message: string } } };
}

async function send(
  caller: ChatCaller,
  ...sent: Parameters<ChatCaller["post"]>
): Promise<{ id: string; text: string }> {
  const response = await caller.post(...sent);
  const text = await response.text();
  return { id: await awaitLogged(response), text };
}

async function findContent(caller: ChatCaller, ...sent: Parameters<ChatCaller["post"]>) {
  const { id, text } = await send(caller, ...sent);
  const { status, body } = await ask("GET", id, caller.key);
  expect(status).toBe(200);
  const logged = await chat.gateway.get(`/requests/${id}`, caller.key);
  expect(await logged.json()).toMatchObject({ id, has_content: true });
  return { id, text, ...body };
}

const json = "application/json";
const whole = { truncated: false, left_out: 0, hidden: 0 };

describe("with the content log of its key on", () => {
  test("a call is stored with its request and its response", async () => {
    const caller = await createLoggingCaller();
    chat.upstream.script({ text: "Hi" });
    const question = writeQuestion("open");
    const { text, ...content } = await findContent(caller, question);
    expect(content).toEqual({
      ...{ object: "request_content", id: content.id, state: "kept" },
      expires_at: expect.any(String),
      request: { content_type: json, bytes: question.length, text: question, ...whole },
      answer: { content_type: expect.stringContaining(json), bytes: Buffer.byteLength(text), text, ...whole },
    });
    expect(Date.parse(content.expires_at) - Date.now()).toBeLessThanOrEqual(7 * dayMs);
  });

  test("a stream is stored as it was sent", async () => {
    const caller = await createLoggingCaller();
    chat.upstream.script({ text: "Hello there" });
    const { text, answer } = await findContent(caller, writeQuestion("open", { stream: true }));
    expect(answer).toEqual({
      content_type: "text/event-stream; charset=utf-8",
      ...{ bytes: Buffer.byteLength(text), text, ...whole },
    });
    expect(text).toContain("data: [DONE]");
  });

  test("a rejected call is stored, also with an unreadable body", async () => {
    const caller = await createLoggingCaller();
    const { text, request, answer } = await findContent(caller, '{"model": "open", ');
    expect([request?.text, answer?.text]).toEqual(['{"model": "open", ', text]);
    expect(text).toContain("invalid_json");
    const replayed = { headers: { "idempotency-key": "again" } };
    chat.upstream.script({ text: "Once" });
    await send(caller, writeQuestion("open"), replayed);
    const again = await findContent(caller, writeQuestion("open"), replayed);
    expect(again.answer?.text).toBe(again.text);
    expect(again.text).toContain("Once");
  });

  test("keys and passwords are not stored", async () => {
    const caller = await createLoggingCaller();
    chat.upstream.script({ text: `You sent ${caller.key}.` });
    const question = { model: "open", messages: [{ role: "user", content: `My key: ${caller.key}` }], stream: true };
    const { request, answer } = await findContent(caller, { ...question, metadata: { password: "hunter two" } });
    expect(JSON.stringify([request, answer])).not.toContain(caller.key.slice(7, 20));
    expect(request?.text).toContain("My key: sk-slc-[hidden]");
    expect(request?.text).toContain('"password":"[hidden]"');
    expect([request?.hidden, (answer?.hidden ?? 0) > 0]).toEqual([2, true]);
  });

  test("long bodies are truncated, and encoded files are left out of them", async () => {
    const caller = await createLoggingCaller();
    const picture = `data:image/png;base64,${"iVBORw0KGgo/".repeat(60_000)}`;
    const long = "many words é ".repeat(40_000);
    const { request } = await findContent(caller, { model: "nowhere", messages: [], picture, long });
    expect(request).toMatchObject({ truncated: true, left_out: picture.length - "data:image/png;base64,".length - 64 });
    expect(Buffer.byteLength(request?.text ?? "")).toBeLessThanOrEqual(256 * 1024);
    expect(Buffer.byteLength(request?.text ?? "")).toBeGreaterThan(255 * 1024);
    expect(request?.text).toMatch(/base64,iVBORw0K.{56}…\[719936 characters omitted\]","long":"many words é/);
    expect(request?.text?.endsWith("�")).toBe(false);
  });

  test("binary content is stored as a description", async () => {
    const caller = await createLoggingCaller();
    const form = new FormData();
    form.set("purpose", "user_data");
    form.set("file", new Blob(["%PDF-1.4 secret"]), "a.pdf");
    const headers = { authorization: `Bearer ${caller.key}` };
    const response = await fetch(`${chat.gateway.baseUrl}/files`, { method: "POST", headers, body: form });
    await response.text();
    const { body } = await ask("GET", await awaitLogged(response), caller.key);
    expect(body.request).toEqual({
      content_type: expect.stringMatching(/^multipart\/form-data/),
      ...{ bytes: expect.any(Number), text: null, ...whole },
    });
    expect(body.answer?.text).toContain("{");
  });

  test("the database contains none of it in plain text", async () => {
    const caller = await createLoggingCaller();
    chat.upstream.script({ text: "A most unusual answer" });
    const { id } = await findContent(caller, writeQuestion("open"));
    const { rows } = await sql<{ sealed: Buffer }>`select sealed from request_contents where id = ${id}`.execute(
      chat.gateway.database,
    );
    expect(rows[0]?.sealed.includes("unusual")).toBe(false);
    expect(rows[0]?.sealed.length).toBeGreaterThan(100);
  });

  test("a content that is swapped with another cannot be decrypted", async () => {
    const [caller, other] = [await createLoggingCaller(), await createLoggingCaller()];
    const { id } = await send(caller, writeQuestion("nowhere"));
    const { id: same } = await send(caller, writeQuestion("nowhere"));
    const { id: others } = await send(other, writeQuestion("nowhere"));
    const copy = (to: string) =>
      sql`update request_contents set sealed = (select sealed from request_contents where id = ${id}) where id = ${to}`.execute(
        chat.gateway.database,
      );
    await Promise.all([copy(same), copy(others)]);
    expect((await ask("GET", same, caller.key)).status).toBe(404);
    expect((await ask("GET", others, other.key)).status).toBe(404);
    expect((await ask("GET", id, caller.key)).status).toBe(200);
  });
});

describe("missing contents are reported as missing", () => {
  test("with the content log off, and for a request that only read", async () => {
    const caller = await chat.createCaller();
    const { id } = await send(caller, writeQuestion("nowhere"));
    await updateApiKey(chat.gateway.parts, caller.keyId, { logsContent: true });
    const read = await chat.gateway.get("/models", caller.key);
    await read.text();
    const off = await ask("GET", id, caller.key);
    expect([off.status, off.body.error?.message]).toEqual([404, expect.stringMatching(/content log was off/)]);
    const onlyRead = await ask("GET", await awaitLogged(read), caller.key);
    expect([onlyRead.status, onlyRead.body.error?.message]).toEqual([
      404,
      expect.stringMatching(/read requests is not stored/),
    ]);
    const { rows } = await sql`select 1 from request_contents where id = ${id}`.execute(chat.gateway.database);
    expect(rows).toEqual([]);
    const kept = await waitUntil("the switch to be felt", async () => {
      const { id: next } = await send(caller, writeQuestion("nowhere"));
      return (await ask("GET", next, caller.key)).status === 200 ? next : null;
    });
    const page = await chat.gateway.get(`/requests?ids=${id},${kept}`, caller.key);
    const told = [
      { id: kept, has_content: true },
      { id, has_content: false },
    ];
    expect(await page.json()).toMatchObject({ data: told });
  });

  test("after a deletion, however often", async () => {
    const caller = await createLoggingCaller();
    const { id } = await findContent(caller, writeQuestion("nowhere"));
    const gone = { status: 200, body: { id, state: "deleted", request: null, answer: null } };
    expect(await ask("DELETE", id, caller.key)).toMatchObject(gone);
    expect(await ask("DELETE", id, caller.key)).toMatchObject(gone);
    expect(await ask("GET", id, caller.key)).toMatchObject(gone);
    const { rows } = await sql`select sealed from request_contents where id = ${id}`.execute(chat.gateway.database);
    expect(rows).toEqual([{ sealed: null }]);
  });

  test("for other accounts, and for keys without the scope", async () => {
    const caller = await createLoggingCaller();
    const { id } = await findContent(caller, writeQuestion("nowhere"));
    const other = await chat.createCaller();
    expect([(await ask("GET", id, other.key)).status, (await ask("DELETE", id, other.key)).status]).toEqual([404, 404]);
    await updateApiKey(chat.gateway.parts, other.keyId, { endpoints: ["usage"] });
    await waitUntil("the key to be narrowed", async () => (await ask("GET", id, other.key)).status === 403);
    expect((await ask("GET", id, caller.key)).body.state).toBe("kept");
  });
});

test("without memory left, a content is reported as lost, and the call is still logged", async () => {
  const caller = await chat.createCaller();
  const { id } = await send(caller, writeQuestion("nowhere"));
  const { parts, database } = chat.gateway;
  const createdAt = (await findLoggedCall(database, id))?.createdAt ?? new Date(0);
  await sql`delete from request_blocks where account_id = ${caller.accountId}`.execute(database);
  const limits = { bytesMax: 4096, wordBytesMax: 1024, wordBytesShown: 64 };
  const excerpt = new BodyExcerpt(limits, createByteAllowance(100));
  excerpt.add(Buffer.from("too much"));
  const tap = {
    request: { contentType: json, bytes: null, excerpt },
    answer: { contentType: json, bytes: 0, excerpt: null },
  };
  const contentSeal = createContentSeal({
    masterKey: { derive: () => Buffer.alloc(32) },
    randomBytes: () => Buffer.alloc(12),
  });
  const logger = createLogger({ level: "error", format: "json", write: () => {} });
  const log = createRequestLog({ ...parts, contentSeal, logger, metrics: createMetrics() });
  log.note({ ...describeRecord(caller), id, createdAt }, tap);
  await log.close();
  expect((await ask("GET", id, caller.key)).body).toMatchObject({ state: "lost", request: null, answer: null });
});

function describeRecord({ accountId, keyId }: ChatCaller) {
  return {
    ...{ accountId, keyId, clientRequestId: null, wire: "chat", method: "POST", route: null, model: null },
    ...{ status: 200, errorCode: null, ending: "answered" as const, durationMs: 1, firstTokenMs: null },
    ...{ inputTokens: null, cachedInputTokens: null, cacheWriteTokens: null, outputTokens: null },
    ...{ reasoningTokens: null, audioInputTokens: null, audioOutputTokens: null, charge: null, chargeId: null },
    ...{ taskId: null, userAgent: null, isReplayed: false },
  };
}

// Runs last: it drops contents of other tests too.
test("a content expires after its days, and then its day's partition is dropped", async () => {
  const caller = await createLoggingCaller();
  const { id } = await findContent(caller, writeQuestion("nowhere"));
  const { database, parts } = chat.gateway;
  const findPlace = async () => {
    const { rows } = await sql<{ place: string }>`
      select tableoid::regclass::text as place from request_contents where id = ${id}`.execute(database);
    return rows.map(({ place }) => place);
  };
  const today = new Date().toISOString().slice(0, 10).replaceAll("-", "");
  expect(await findPlace()).toEqual([`request_contents_${today}`]);
  const rollAfter = (days: number) =>
    rollRequestLog({
      ...{ database, keptDays: 30, contentDays: 7 },
      clock: { ...parts.clock, now: () => new Date(Date.now() + days * dayMs) },
    });
  await rollAfter(6);
  expect(await findPlace()).toHaveLength(1);
  await rollAfter(9);
  expect(await findPlace()).toEqual([]);
  expect(await findLoggedCall(database, id)).toMatchObject({ id });
});
