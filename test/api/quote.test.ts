// @module-tag slow
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bookCredit, findViolations } from "../../src/features/ledger/index.ts";
import { nano, parseMoney } from "../../src/lib/money.ts";
import { type HoldRow, listCharges, listHolds } from "../harness/ledger/read-chat-ledger.ts";
import { repositoryDir } from "../harness/repository-files.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { makePicture, voice } from "../harness/upstreams/media-samples.ts";
import { waitUntil } from "../harness/wait-until.ts";

type Fields = Record<string, unknown>;
type Caller = Awaited<ReturnType<TestGateway["createCaller"]>>;
type Quote = {
  id: string;
  path: string;
  model: string;
  max_charge: string;
  quota: { kind: string; units: number };
  estimate: { charge: string; basis: string; seconds?: number; input_tokens?: number; output_tokens?: number };
  expires_at: string;
};

const clock = createTestClock();
const catalog = readFileSync(join(repositoryDir, "catalogs/sandbox.yaml"), "utf8");
const picture = await makePicture({ width: 64, height: 64 }, 1);
let gateway: TestGateway;
let caller: Caller;

beforeAll(async () => {
  gateway = await startGateway({ clock, settings: { disabled_endpoints: ["createAvatar"] } });
  caller = await openAccount();
});
afterAll(async () => {
  const violations = await findViolations(gateway.database, { kind: "whole", accountIds: "all", now: clock.now() });
  await gateway[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
});

async function openAccount(options: Parameters<TestGateway["createCaller"]>[0] = {}): Promise<Caller> {
  const made = await gateway.createCaller(options);
  const booking = { kind: "top-up", amount: nano(1000n * 10n ** 9n) } as const;
  const { accountId } = made;
  await bookCredit(gateway.parts, { accountId, booking, actor: "test", reason: "test", reference: null });
  return made;
}

type Init = { by?: Caller; headers?: Record<string, string>; at?: string };

function post(path: string, body: unknown, { by = caller, headers = {}, at = gateway.baseUrl }: Init = {}) {
  const isForm = body instanceof FormData;
  return fetch(`${at}${path}`, {
    method: "POST",
    body: isForm ? body : JSON.stringify(body),
    headers: {
      authorization: `Bearer ${by.key}`,
      ...(isForm ? {} : { "content-type": "application/json" }),
      ...headers,
    },
  });
}

async function quote(path: string, request: unknown, init: Init = {}): Promise<Quote> {
  const response = await post("/quote", { path, request }, init);
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as Quote;
}

async function readProblem(response: Response) {
  const { error } = (await response.json()) as { error: { code: string; param: string | null; message: string } };
  return { status: response.status, code: error.code, param: error.param, message: error.message };
}

async function listOwn(by: Caller): Promise<HoldRow[]> {
  return await listHolds(gateway.database, by.accountId);
}

const messages = [{ role: "user", content: "Say hello." }];
const chat = { model: "sandbox-chat", messages, max_tokens: 200 };
const image = { model: "sandbox-image", prompt: "A lighthouse", size: "512x512" };
const drama = {
  ...{ model: "sandbox-drama", title: "The gate", callback_url: "https://example.com/hook" },
  script: "INT. GATE - NIGHT\n\nANNA\nIt is open.\n\nBEN\nThen come in.",
};

/** A request of each paid endpoint that takes JSON. */
const requests: { path: string; body: Fields; basis: string }[] = [
  { path: "/chat/completions", body: chat, basis: "usual_answer" },
  { path: "/chat/completions", body: { ...chat, n: 3, stream: true }, basis: "usual_answer" },
  { path: "/completions", body: { model: "sandbox-chat", prompt: ["A", "B"], max_tokens: 20 }, basis: "usual_answer" },
  { path: "/responses", body: { model: "sandbox-chat", input: "Hello", max_output_tokens: 99 }, basis: "usual_answer" },
  {
    path: "/responses/compact",
    body: { model: "sandbox-chat", input: "A long talk" },
    basis: "usual_answer",
  },
  { path: "/messages", body: { model: "sandbox-chat", messages, max_tokens: 50 }, basis: "usual_answer" },
  { path: "/embeddings", body: { model: "sandbox-embedding", input: ["One", "Two"] }, basis: "input_tokens" },
  { path: "/audio/speech", body: { model: "sandbox-speech", input: "Hello.", voice: "alloy" }, basis: "exact_price" },
  { path: "/images/generations", body: { ...image, n: 2 }, basis: "exact_price" },
  { path: "/videos/generations", body: { model: "sandbox-video", prompt: "Waves" }, basis: "exact_price" },
  { path: "/dramas/generations", body: { ...drama, stage: "script" }, basis: "estimated_length" },
  { path: "/dramas/generations", body: drama, basis: "estimated_length" },
];

describe.each(requests)("$path", ({ path, body, basis }) => {
  test("is held and charged at most what its quote says", async () => {
    const by = await openAccount();
    const quoted = await quote(path, body, { by });
    expect(quoted).toMatchObject({ object: "quote", path, model: body.model, estimate: { basis } });
    expect(Date.parse(quoted.expires_at) - clock.now().getTime()).toBe(15 * 60_000);
    expect(await listOwn(by)).toEqual([]);
    const response = await post(path, body, { by, headers: { "x-quote-id": quoted.id } });
    expect(response.status, await response.clone().text()).toBeLessThan(203);
    await response.arrayBuffer();
    await waitUntil("the hold", async () => (await listOwn(by)).length === 1);
    const [held] = await listOwn(by);
    const isLong = path === "/responses/compact";
    // Without a limit of its own, a long answer is held in steps.
    if (!isLong) expect(held?.amount).toBe(quoted.max_charge);
    for (const { paid } of await listCharges(gateway.database, by.accountId)) expectWithin(paid, quoted.max_charge);
    expectWithin(held?.amount ?? "", quoted.max_charge);
    expectWithin(quoted.estimate.charge, quoted.max_charge);
  });

  test("reports the endpoint's own errors", async () => {
    for (const wrong of [
      { ...body, model: "no-such-model" },
      { ...body, nonsense: 1 },
      { ...body, model: 5 },
    ]) {
      const [own, quoted] = await Promise.all([post(path, wrong), post("/quote", { path, request: wrong })]);
      const problem = path === "/messages" ? await readAnthropicProblem(own) : await readProblem(own);
      expect(await readProblem(quoted)).toMatchObject(problem);
    }
  });

  test("costs what an honest call does while the prices are the same", async () => {
    const by = await openAccount();
    const { id } = await quote(path, body, { by });
    // A stopped clock ends no task.
    if (path.endsWith("/generations")) return;
    await (await post(path, body, { by, headers: { "x-quote-id": id } })).arrayBuffer();
    await (await post(path, body, { by })).arrayBuffer();
    await waitUntil("both charges", async () => (await listCharges(gateway.database, by.accountId)).length === 2);
    const [withQuote, without] = await listCharges(gateway.database, by.accountId);
    expect(withQuote?.paid).toBe(without?.paid);
    expect(withQuote?.items).toEqual(without?.items);
  });
});

/** Messages have errors in Anthropic's form. */
async function readAnthropicProblem(response: Response) {
  const { error } = (await response.json()) as { error: { message: string } };
  return { status: response.status, message: error.message };
}

function expectWithin(amount: string, most: string): void {
  expect(parseMoney(amount) ?? 0n, `${amount} is more than ${most}`).toBeLessThanOrEqual(parseMoney(most) ?? -1n);
}

describe("a transcription", () => {
  const fields = { model: "sandbox-transcription", response_format: "json" };

  async function speak(words: number): Promise<{ bytes: Blob; seconds: number }> {
    const input = Array.from({ length: words }, () => "word").join(" ");
    const spoken = { model: "sandbox-speech", voice: "alloy", response_format: "wav", input };
    const bytes = Buffer.from(await (await post("/audio/speech", spoken)).arrayBuffer());
    const perSecond = bytes.readUInt32LE(28);
    return { bytes: new Blob([bytes], { type: "audio/wav" }), seconds: (bytes.length - 44) / perSecond };
  }

  function describeForm(bytes: Blob): FormData {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set("file", bytes, "a.wav");
    return form;
  }

  test("is quoted by its length, and a longer recording is another request", async () => {
    const by = await openAccount();
    const [short, long] = [await speak(4), await speak(40)];
    const { id, max_charge: most } = await quote(
      "/audio/transcriptions",
      { ...fields, duration_seconds: short.seconds },
      { by },
    );
    const headers = { "x-quote-id": id };
    const longer = await post("/audio/transcriptions", describeForm(long.bytes), { by, headers });
    expect(await readProblem(longer)).toMatchObject({ code: "quote_mismatch", param: "X-Quote-Id" });
    const response = await post("/audio/transcriptions", describeForm(short.bytes), { by, headers });
    expect(response.status, await response.clone().text()).toBe(200);
    const [held, ...others] = await listOwn(by);
    expect(held?.amount).toBe(most);
    expect(others).toEqual([]);
  });

  test("cannot be quoted with its file", async () => {
    const problem = await readProblem(
      await post("/quote", { path: "/audio/transcriptions", request: { ...fields, file: "a.wav" } }),
    );
    expect(problem).toMatchObject({ code: "unknown_parameter", param: "file" });
    expect(problem.message).toContain("duration_seconds");
  });
});

describe("a quote id", () => {
  const headersOf = (id: string) => ({ "x-quote-id": id });

  test.each([
    ["another message", { ...chat, messages: [{ role: "user", content: "Say more." }] }],
    ["more choices", { ...chat, n: 4 }],
    ["a longer answer", { ...chat, max_tokens: 20_000 }],
    ["no limit", { ...chat, max_tokens: undefined }],
    ["a stream", { ...chat, stream: true }],
  ])("is refused with %s, before anything is held", async (_, body) => {
    const by = await openAccount();
    const { id } = await quote("/chat/completions", chat, { by });
    const refused = await post("/chat/completions", body, { by, headers: headersOf(id) });
    expect(await readProblem(refused)).toMatchObject({ status: 400, code: "quote_mismatch", param: "X-Quote-Id" });
    expect(await listOwn(by)).toEqual([]);
  });

  test("is valid whatever the order of fields and the spaces", async () => {
    const { id } = await quote("/v1/chat/completions", chat);
    const { model, ...rest } = chat;
    const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ ...rest, model }, null, 4),
      headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json", ...headersOf(id) },
    });
    expect(response.status).toBe(200);
  });

  test("of another endpoint, another account, or changed by one bit is not accepted", async () => {
    const other = await openAccount();
    const { id } = await quote("/images/generations", image);
    const edits = new FormData();
    for (const [name, value] of Object.entries(image)) edits.set(name, value);
    edits.set("image", new Blob([new Uint8Array(picture.bytes)], { type: "image/png" }), "a.png");
    const elsewhere = await post("/images/edits", edits, { headers: headersOf(id) });
    expect(await readProblem(elsewhere)).toMatchObject({ code: "quote_mismatch" });
    const stolen = await post("/images/generations", image, { by: other, headers: headersOf(id) });
    expect(await readProblem(stolen)).toMatchObject({ status: 400, code: "quote_not_found", param: "X-Quote-Id" });
    const bytes = Buffer.from(id.slice("quote_".length), "base64url");
    for (let place = 0; place < bytes.length; place += 1) {
      const changed = Buffer.from(bytes);
      changed[place] = (changed[place] ?? 0) ^ 1;
      const forged = `quote_${changed.toString("base64url")}`;
      const refused = await post("/images/generations", image, { headers: headersOf(forged) });
      expect((await readProblem(refused)).code).toBe("quote_not_found");
    }
    for (const wrong of ["quote_", "nonsense", `${id}AA`]) {
      const refused = await post("/images/generations", image, { headers: headersOf(wrong) });
      expect((await readProblem(refused)).code).toBe("quote_not_found");
    }
  });

  test("expires after 15 minutes, and a retry of an answered request is still replayed", async () => {
    const by = await openAccount();
    const { id } = await quote("/chat/completions", chat, { by });
    const task = await quote("/images/generations", image, { by });
    const keyed = (quoteId: string) => ({ ...headersOf(quoteId), "idempotency-key": "order-1" });
    const taskKeyed = { ...headersOf(task.id), "idempotency-key": "order-2" };
    const first = await (await post("/chat/completions", chat, { by, headers: keyed(id) })).text();
    const made = (await (await post("/images/generations", image, { by, headers: taskKeyed })).json()) as Fields;
    clock.advance(15 * 60_000);
    const late = await post("/chat/completions", chat, { by, headers: headersOf(id) });
    expect(await readProblem(late)).toMatchObject({ status: 400, code: "quote_expired", param: "X-Quote-Id" });
    const again = await post("/chat/completions", chat, { by, headers: keyed(id) });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.text()).toBe(first);
    const same = (await (await post("/images/generations", image, { by, headers: taskKeyed })).json()) as Fields;
    expect(same.id).toBe(made.id);
    expect(await listOwn(by)).toHaveLength(2);
  });

  test("is not valid for a conversation that has grown since", async () => {
    const { id: conversation } = (await (await post("/conversations", {})).json()) as { id: string };
    const body = { model: "sandbox-chat", input: "And now?", conversation, max_output_tokens: 50 };
    const { id } = await quote("/responses", body);
    const items = [{ type: "message", role: "user", content: "A long story. ".repeat(1000) }];
    expect((await post(`/conversations/${conversation}/items`, { items })).status).toBe(200);
    const refused = await post("/responses", body, { headers: headersOf(id) });
    expect(await readProblem(refused)).toMatchObject({ code: "quote_mismatch" });
    const larger = await quote("/responses", body);
    expect((await post("/responses", body, { headers: headersOf(larger.id) })).status).toBe(200);
  });

  test("covers a background response", async () => {
    const by = await openAccount();
    const body = { model: "sandbox-chat", input: "Hello", background: true, max_output_tokens: 50 };
    const { id, max_charge: most } = await quote("/responses", body, { by });
    expect((await post("/responses", body, { by, headers: headersOf(id) })).status).toBe(200);
    await waitUntil("the charge", async () => (await listOwn(by))[0]?.state === "settled");
    expect((await listOwn(by))[0]?.amount).toBe(most);
    const other = await post("/responses", { ...body, input: "Other" }, { by, headers: headersOf(id) });
    expect(await readProblem(other)).toMatchObject({ code: "quote_mismatch" });
  });
});

describe("a quote", () => {
  test("is for paid endpoints only, and says what to do for uploads", async () => {
    for (const path of ["/models", "/images/edits", "/quote", "chat/completions", "/files"]) {
      const problem = await readProblem(await post("/quote", { path, request: {} }));
      expect(problem).toMatchObject({ status: 400, code: "invalid_parameter", param: "path" });
      expect(problem.message).toContain(path === "/images/edits" ? "input_images" : "/chat/completions");
    }
  });

  test("is not made for an endpoint that the operator disabled", async () => {
    const request = { model: "sandbox-avatar", avatar_file_id: "file_1", audio_file_id: "file_2" };
    const problem = await readProblem(await post("/quote", { path: "/avatars/generations", request }));
    expect(problem).toMatchObject({ code: "endpoint_not_released", param: "path" });
  });

  test("can be asked for with a key that is limited to calls", async () => {
    const limited = await openAccount({ endpoints: ["chat"] });
    expect((await quote("/chat/completions", chat, { by: limited })).model).toBe("sandbox-chat");
    const barred = await openAccount({ endpoints: ["balance"] });
    const refused = await post("/quote", { path: "/chat/completions", request: chat }, { by: barred });
    expect(await readProblem(refused)).toMatchObject({ code: "key_not_permitted" });
  });

  test("of a request that is nested too deeply is refused", async () => {
    const depth = 20_000;
    const text = `{"path":"/chat/completions","request":{"model":"sandbox-chat","messages":[],"metadata":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
    const response = await fetch(`${gateway.baseUrl}/quote`, {
      method: "POST",
      body: text,
      headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
    });
    expect(response.status).toBe(400);
  });
});

describe("after prices rise", () => {
  let raised: TestGateway;
  const at = (): string => raised.baseUrl;

  beforeAll(async () => {
    raised = await startGateway();
  });
  afterAll(() => raised[Symbol.asyncDispose]());

  async function openHere(): Promise<Caller> {
    const made = await raised.createCaller();
    const booking = { kind: "top-up", amount: nano(1000n * 10n ** 9n) } as const;
    const { accountId } = made;
    await bookCredit(raised.parts, { accountId, booking, actor: "test", reason: "test", reference: null });
    return made;
  }

  async function setPrices(factor: string): Promise<void> {
    const prices = catalog.replaceAll(/(price|minimum_charge): "([\d.]+)"/g, (_, name: string, amount: string) => {
      const [, places = ""] = amount.split(".");
      return `${name}: "${(Number(amount) * Number(factor)).toFixed(Math.max(places.length, 2))}"`;
    });
    const outcome = await raised.applyCatalog(prices);
    if (outcome.kind === "refused") throw new Error(JSON.stringify(outcome.problems));
    await waitUntil("the catalog to be served", () => raised.catalogVersion() === outcome.version);
  }

  const long = { ...chat, messages: [{ role: "user", content: "Count to a hundred." }], max_tokens: 20_000 };
  const calls: { path: string; body: Fields }[] = [
    { path: "/chat/completions", body: long },
    { path: "/chat/completions", body: { ...long, stream: true } },
    { path: "/embeddings", body: { model: "sandbox-embedding", input: "One" } },
    { path: "/audio/speech", body: { model: "sandbox-speech", input: "Hello.", voice: "alloy" } },
    { path: "/audio/speech", body: { model: "sandbox-speech", input: "Task.", voice: "alloy" } },
    { path: "/images/generations", body: { ...image, n: 2 } },
    { path: "/dramas/generations", body: { ...drama, stage: "roles" } },
    { path: "/responses", body: { model: "sandbox-chat", input: "Hi", background: true, max_output_tokens: 50 } },
  ];

  test("hold and charge stay within the quote, and the charge explains itself", async () => {
    await setPrices("1");
    const quoted = await Promise.all(
      calls.map(async (call) => {
        const by = await openHere();
        return { ...call, by, quoted: await quote(call.path, call.body, { by, at: at() }) };
      }),
    );
    await setPrices("5000");
    for (const { path, body, by, quoted: made } of quoted) {
      const later = body.input === "Task." ? { prefer: "respond-async" } : {};
      const sent = { by, at: at(), headers: { "x-quote-id": made.id, ...later } };
      const response = await post(path, body, sent);
      expect(response.status, `${path}: ${await response.clone().text()}`).toBeLessThan(203);
      await response.arrayBuffer();
      await waitUntil(`the charge of ${path}`, async () => {
        const charges = await listCharges(raised.database, by.accountId);
        return charges.length === 1;
      });
      const [charge] = await listCharges(raised.database, by.accountId);
      const [held] = await listHolds(raised.database, by.accountId);
      expect(charge?.paid, path).toBe(held?.settled);
      expectWithin(charge?.paid ?? "", made.max_charge);
      expectWithin(held?.amount ?? "", made.max_charge);
      expect(charge?.lost, path).toBe("0.00");
      const { rows } = await sql<{ cost: bigint; paid: bigint; id: string }>`
        select charge_cost(item_quantities, item_rates_nano, rates_per, minimum_nano) as cost, paid, id from charges
          where account_id = ${by.accountId}`.execute(raised.database);
      expect(rows.map(({ cost }) => cost)).toEqual(rows.map(({ paid }) => paid));
      const explained = (await (await raised.get(`/charges/${rows[0]?.id}`, by.key)).json()) as Fields;
      expect(explained, path).toMatchObject({ charge: charge?.paid, cost: charge?.paid });
      expect(parseMoney(String(explained.quote_discount)) ?? 0n, path).toBeGreaterThan(0n);
    }
    const violations = await findViolations(raised.database, { kind: "whole", accountIds: "all", now: new Date() });
    expect(violations).toEqual([]);
  });

  test("a lower price is charged, not the quote", async () => {
    await setPrices("5000");
    const by = await openHere();
    const { id, max_charge: most } = await quote("/images/generations", image, { by, at: at() });
    await setPrices("1");
    const response = await post("/images/generations", image, { by, at: at(), headers: { "x-quote-id": id } });
    expect(response.status).toBe(202);
    const [held] = await listHolds(raised.database, by.accountId);
    expect([most, held?.amount]).toEqual(["100.00", "0.02"]);
  });

  test("a quote of a free call keeps it free", async () => {
    await setPrices("0");
    const by = await openHere();
    const { id, max_charge: most } = await quote("/chat/completions", chat, { by, at: at() });
    expect(most).toBe("0.00");
    await setPrices("1");
    const response = await post("/chat/completions", chat, { by, at: at(), headers: { "x-quote-id": id } });
    expect(response.status).toBe(200);
    expect(await listHolds(raised.database, by.accountId)).toEqual([]);
  });
});

test("an avatar is quoted by the length of its audio", async () => {
  await using other = await startGateway();
  const by = await other.createCaller();
  const booking = { kind: "top-up", amount: nano(10n ** 10n) } as const;
  const { accountId } = by;
  await bookCredit(other.parts, { accountId, booking, actor: "test", reason: "test", reference: null });
  const send = async (bytes: Buffer, type: string): Promise<string> => {
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(bytes)], { type }), "file");
    form.set("purpose", "generation");
    return ((await (await post("/files", form, { by, at: other.baseUrl })).json()) as { file_id: string }).file_id;
  };
  const body = {
    model: "sandbox-avatar",
    avatar_file_id: await send(picture.bytes, "image/png"),
    audio_file_id: await send(voice.bytes, voice.contentType),
  };
  const quoted = await quote("/avatars/generations", body, { by, at: other.baseUrl });
  const headers = { "x-quote-id": quoted.id };
  expect((await post("/avatars/generations", body, { by, at: other.baseUrl, headers })).status).toBe(202);
  expect((await listHolds(other.database, accountId))[0]?.amount).toBe(quoted.max_charge);
});
