import { afterAll, beforeAll, expect, test } from "vitest";
import { type Operator, signUpOperator } from "../harness/admin/admin-visitor.ts";
import { upstreamKeyName, writeCatalogOf, writePrice } from "../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { visitorSettings } from "../harness/site/site-visitor.ts";
import { canary, type FakeUpstreams, findCanary } from "../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../harness/wait-until.ts";

let stage: ChatGateway;
let operator: Operator;
let caller: ChatCaller;

const failing = `${canary}-failing`;
const sheet = { unit: "1M tokens", input_price: "100", cached_input_price: "50", output_price: "200" };

function writeCatalog(upstream: FakeUpstreams): string {
  const api_keys = [`\${${upstreamKeyName}}`];
  return writeCatalogOf(upstream, {
    models: [
      {
        id: "steady",
        routes: [
          { provider: "first", upstream_model: failing, priority: 0, cost_sheet: sheet },
          { provider: "second", upstream_model: `${canary}-steady`, priority: 1, cost_sheet: sheet },
        ],
      },
      { id: "claude", routes: [{ provider: "anthropic", upstream_model: `${canary}-claude` }] },
      { id: "gemini", routes: [{ provider: "google", upstream_model: `${canary}-gemini` }] },
      { id: "packaged", routes: [{ provider: "packaged", upstream_model: `${canary}-packaged` }] },
      {
        ...{ id: "vectors", type: "embedding", capabilities: ["text_embedding"], limits: { context_window: 8192 } },
        routes: [{ provider: "open", upstream_model: `${canary}-vectors` }],
      },
    ],
    prices: [
      ...["steady", "claude", "gemini", "packaged"].map((id) => writePrice(id)),
      writePrice("vectors", { cached_input_price: undefined, output_price: undefined }),
    ],
    providers: ["first", "second"].map((id) => ({
      ...{ id, kind: "openai-compatible", base_url: upstream.openAiUrl, api_keys },
    })),
  });
}

beforeAll(async () => {
  stage = await openChatGateway({ catalog: writeCatalog, settings: visitorSettings });
  operator = await signUpOperator(stage.gateway);
  caller = await stage.createCaller();
});
afterAll(() => stage[Symbol.asyncDispose]());

async function ask(who: ChatCaller, fields: object = {}, headers: Record<string, string> = {}): Promise<string> {
  const body = { model: "steady", messages: [{ role: "user", content: "Hi" }], ...fields };
  const response = await who.post(body, { headers });
  await response.text();
  await who.settled();
  const id = response.headers.get("x-request-id") ?? "";
  await waitUntil("the request to be logged", async () => (await read(`/requests/${id}`)).status === 200);
  return id;
}

const read = (path: string) => operator.admin.get(path);

test("from a request id to the customer, every attempt with the vendor's words, charge, cost, margin and the refund", async () => {
  const refusal = JSON.stringify({ error: { message: "GPU 7 is on fire", code: "overheated" } });
  stage.upstream.scriptFor({ model: failing }, { status: 500, contentType: "application/json", body: refusal });
  stage.upstream.script({ usage: { inputTokens: 100, cachedInputTokens: 60, outputTokens: 10 } });
  const id = await ask(caller);
  const found = (await read(`/search?q=${id}`)).body.data;
  expect(found).toMatchObject([{ object: "request", id, account_id: caller.accountId, status: "200" }]);
  const { body } = await read(`/requests/${id}`);
  expect(body).toMatchObject({
    ...{ id, status: 200, model: "steady", upstream: "second", failed_attempt_count: 1 },
    account: { id: caller.accountId, email: found[0].email, suspended: false },
    key: { id: caller.keyId, name: "test", revoked: false },
    failed_attempts: [
      { upstream: "first", upstream_model: failing, status: 500, said: expect.stringContaining("GPU 7") },
    ],
    charged: { unit: "money", amount: "0.09", refunded: "0.00" },
    costs: [{ upstream: "second", amount: "0.009" }],
    ...{ cost: "0.009", margin: "0.081" },
  });
  const charge = (await read(`/search?q=${body.charged.id}`)).body.data;
  expect(charge).toMatchObject([{ object: "charge", request_id: id, account_id: caller.accountId }]);
  const refund = { charge_id: body.charged.id, amount: body.charged.amount, reason: "case 12" };
  const refunded = await operator.admin.post(`/accounts/${caller.accountId}/refunds`, refund);
  expect(refunded.body.available_balance).toBe("10.00");
  expect((await read(`/requests/${id}`)).body).toMatchObject({ charged: { refunded: "0.09" }, margin: "-0.009" });
});

type Shown = { upstream_request_id: string; failed_attempts: { upstream_request_id: string }[] };

test("each attempt keeps the id that its vendor gave it, and both ids find the request", async () => {
  stage.upstream.scriptFor({ model: failing }, { status: 500 });
  const id = await ask(caller, { stream: true });
  const { upstream_request_id: served, failed_attempts: attempts }: Shown = (await read(`/requests/${id}`)).body;
  const [failed] = attempts.map(({ upstream_request_id: own }) => own);
  expect(served).toMatch(new RegExp(`^req_${canary}_\\d+$`));
  expect(failed).toMatch(new RegExp(`^req_${canary}_\\d+$`));
  expect(failed).not.toBe(served);
  for (const words of [served, String(failed), ` ${served} `]) {
    const { body } = await read(`/search?q=${encodeURIComponent(words)}`);
    expect(body).toMatchObject({
      data: [{ object: "request", id, account_id: caller.accountId }],
      requests_from: null,
    });
  }
  expect((await read(`/search?q=${served.slice(0, -1)}x`)).body.data).toEqual([]);
});

test.each(["claude", "gemini", "packaged", "vectors"])("the vendor's id of a call of %s is kept", async (model) => {
  const isEmbedding = model === "vectors";
  const body = JSON.stringify(
    isEmbedding ? { model, input: "Hi" } : { model, messages: [{ role: "user", content: "Hi" }] },
  );
  const headers = { authorization: `Bearer ${caller.key}`, "content-type": "application/json" };
  const path = isEmbedding ? "/embeddings" : "/chat/completions";
  const response = await fetch(`${stage.gateway.baseUrl}${path}`, { method: "POST", headers, body });
  expect([response.status, findCanary(await response.text())]).toEqual([200, null]);
  const id = response.headers.get("x-request-id") ?? "";
  await waitUntil("the request to be logged", async () => (await read(`/requests/${id}`)).status === 200);
  const { upstream_request_id: own }: Shown = (await read(`/requests/${id}`)).body;
  expect(own).toContain(canary);
  expect((await read(`/search?q=${own}`)).body.data).toMatchObject([{ object: "request", id }]);
});

test("customers neither see a vendor's id nor find a request by it", async () => {
  stage.upstream.scriptFor({ model: failing }, { status: 500 });
  const id = await ask(caller, {}, { "x-client-request-id": "trace-of-client-9" });
  const { upstream_request_id: own }: Shown = (await read(`/requests/${id}`)).body;
  const get = async (path: string) => {
    const response = await fetch(`${stage.gateway.baseUrl}${path}`, {
      headers: { authorization: `Bearer ${caller.key}` },
    });
    return { headers: [...response.headers], text: await response.text() };
  };
  const listed = await get("/requests?client_request_id=trace-of-client-9");
  expect(listed.text).toContain(id);
  for (const seen of [
    listed,
    await get(`/requests/${id}`),
    await get("/requests/export"),
    await get("/requests/summary"),
  ]) {
    expect(findCanary(seen)).toBeNull();
  }
  expect((await get(`/requests?client_request_id=${own}`)).text).not.toContain(id);
});

test("requests of all accounts are listed newest first, filtered and in pages", async () => {
  const other = await stage.createCaller();
  const first = await ask(caller);
  const second = await ask(other);
  const third = await ask(other, { model: "nonsense" });
  const list = async (query: string) =>
    (await read(`/requests?${query}`)).body.data.map(({ id }: { id: string }) => id);
  const all = await list("");
  expect(all.slice(0, 3)).toEqual([third, second, first]);
  expect(await list(`account_id=${other.accountId}`)).toEqual([third, second]);
  expect(await list("status=4xx")).toEqual([third]);
  expect(await list("error_code=model_unavailable&status=404")).toEqual([third]);
  expect(await list("model=steady&upstream=second")).not.toContain(third);
  expect(await list("failed_attempts=any")).not.toContain(third);
  expect(await list("upstream=nobody")).toEqual([]);
  const pages: string[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const { body } = await read(`/requests?limit=1${after === "" ? "" : `&after=${after}`}`);
    pages.push(...body.data.map(({ id }: { id: string }) => id));
    after = body.has_more ? body.next_cursor : null;
  }
  expect(pages).toEqual(all);
  const wrong = await read("/requests?from=yesterday");
  expect([wrong.status, wrong.body.error.param]).toEqual([400, "from"]);
});

test("everything is found by its id, its beginning, an address, a key or a client's own id", async () => {
  const id = await ask(caller, {}, { "x-client-request-id": "trace-of-client-7" });
  const search = async (words: string) => (await read(`/search?q=${encodeURIComponent(words)}`)).body.data;
  const { email } = (await read(`/accounts/${caller.accountId}`)).body;
  expect(await search(email.slice(1, 9))).toMatchObject([{ object: "account", id: caller.accountId }]);
  expect(await search(caller.accountId)).toMatchObject([{ object: "account", email }]);
  expect(await search(caller.key)).toMatchObject([{ object: "key", id: caller.keyId, account_id: caller.accountId }]);
  expect(await search(caller.keyId.slice(0, -3))).toMatchObject([{ object: "key", id: caller.keyId }]);
  expect((await search(`…${caller.key.slice(-4)}`)).map((hit: { id: string }) => hit.id)).toContain(caller.keyId);
  expect(await search("trace-of-client-7")).toMatchObject([{ object: "request", id }]);
  expect(await search(operator.email)).toMatchObject([{ object: "account", id: operator.accountId }]);
  expect(await search("req_00000000000000000000000000")).toEqual([]);
  expect(await search("nothing of that kind")).toEqual([]);
  expect(await search("%")).toEqual([]);
});
