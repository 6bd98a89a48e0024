import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { showRequest } from "../../../src/features/requests/index.ts";
import { upstreamKeyName, writeCatalogOf } from "../../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { createDataDirectory } from "../../harness/gateway-process.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import { createTestDatabase } from "../../harness/test-database.ts";
import { type Behaviour, canary, type FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../../harness/wait-until.ts";

type Fields = Record<string, unknown>;

/** Vendor errors that a customer can provoke, and the error that the customer receives. */
const mistakes: readonly (readonly [name: string, provider: string, status: number, body: unknown, code: string])[] = [
  [
    "an unknown file of Anthropic's",
    "anthropic",
    404,
    { type: "error", error: { type: "not_found_error", message: "File not found: file_011CNha8" } },
    "invalid_parameter",
  ],
  [
    "a file that asks to be a missing model",
    "anthropic",
    404,
    { type: "error", error: { type: "not_found_error", message: "File not found: The model does not exist" } },
    "invalid_parameter",
  ],
  [
    "xAI's moderation",
    "open",
    403,
    {
      code: "The caller does not have permission to execute the specified operation",
      error: "Content violates usage guidelines. Team: t, API key ID: k, Model: m, Failed check: SAFETY_CHECK_TYPE_BIO",
    },
    "content_policy_violation",
  ],
  [
    "OpenRouter's moderation",
    "open",
    403,
    {
      error: {
        message: 'openai/gpt-4 requires moderation on OpenAI. Your input was flagged for "violence".',
        code: 403,
        metadata: { reasons: ["violence"], flagged_input: "…", provider_name: "OpenAI" },
      },
    },
    "content_policy_violation",
  ],
  [
    "a response that the vendor does not know",
    "open",
    404,
    { error: { message: "Previous response with id 'resp_a' not found.", param: "previous_response_id", code: null } },
    "invalid_parameter",
  ],
  ["a page of a firewall", "open", 403, "<!DOCTYPE html><html><body>Blocked</body></html>", "upstream_unavailable"],
  [
    "a feature that the vendor does not allow",
    "anthropic",
    403,
    { error: { type: "permission_error", message: "This beta is not available to you." } },
    "upstream_unavailable",
  ],
  ["a page in place of an answer", "open", 404, "<html><title>404 Not Found</title></html>", "upstream_unavailable"],
  [
    "a page in place of a refusal",
    "packaged",
    400,
    "<html><title>400 Bad Request</title></html>",
    "upstream_unavailable",
  ],
];

const primaryKeys = ["sk-primary-1", "sk-primary-2", "sk-primary-3"];
const primaryKeyNames = primaryKeys.map((_key, at) => `FAILOVER_PRIMARY_KEY_${at}`);
const tellerKeyName = "FAILOVER_TELLER_KEY";
/** A key that matches no known pattern. */
const tellerKey = "correct-horse-battery-staple";
const openKeys = [`\${${upstreamKeyName}}`];

/** How a primary fails with each of its keys. */
const outages: readonly (readonly [name: string, behaviour: Behaviour])[] = [
  ["fails", { status: 500 }],
  ["is overloaded", { status: 529 }],
  ["limits the rate", { status: 429 }],
  ["refuses its keys", { status: 401 }],
  ["is behind a broken proxy", { status: 404, contentType: "text/html", body: "<html>Not Found</html>" }],
  ["breaks its connections", { cut: "before-head" }],
];

/** Each outage has its own provider, and so its own circuits: three keys there, and one at a backup. */
function listPrimaries(upstream: FakeUpstreams): Fields[] {
  const api_keys = primaryKeyNames.map((name) => `\${${name}}`);
  const common = { kind: "openai-compatible", base_url: upstream.openAiUrl };
  return [
    ...outages.map((_outage, at) => ({ id: `primary-${at}`, ...common, api_keys })),
    { id: "backup", ...common, api_keys: openKeys },
    { id: "teller", ...common, api_keys: [`\${${tellerKeyName}}`] },
    ...["b", "c", "d"].map((name) => ({ id: `many-${name}`, ...common, api_keys })),
  ];
}

function listOutageModels(): Fields[] {
  return outages.map((_outage, at) => ({
    id: `outage-${at}`,
    routes: [
      { provider: `primary-${at}`, upstream_model: nameUpstream(`outage-${at}`), priority: 0 },
      { provider: "backup", upstream_model: nameUpstream(`outage-${at}`), priority: 1 },
    ],
  }));
}

function nameUpstream(id: string): string {
  return `${canary}-${id}`;
}

function refuse(status: number, body: unknown): Behaviour {
  if (typeof body === "string") return { status, contentType: "text/html", body };
  return { status, contentType: "application/json", body: JSON.stringify(body) };
}

let chat: ChatGateway;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let caller: ChatCaller;
beforeAll(async () => {
  process.env[tellerKeyName] = tellerKey;
  for (const [at, name] of primaryKeyNames.entries()) process.env[name] = primaryKeys[at];
  database = await createTestDatabase();
  chat = await openChatGateway({
    sharedDatabase: database,
    catalog: (upstream: FakeUpstreams) =>
      writeCatalogOf(upstream, {
        models: [
          ...mistakes.map(([, provider], at) => ({
            id: `mistake-${at}`,
            routes: [{ provider, upstream_model: nameUpstream(`mistake-${at}`) }],
          })),
          ...listOutageModels(),
          {
            id: "told",
            routes: [
              { provider: "teller", upstream_model: nameUpstream("told"), priority: 0 },
              { provider: "backup", upstream_model: nameUpstream("told"), priority: 1 },
            ],
          },
          { id: "told-alone", routes: [{ provider: "teller", upstream_model: nameUpstream("told-alone") }] },
          {
            id: "many",
            routes: ["b", "c", "d"].map((name, priority) => ({
              ...{ provider: `many-${name}`, upstream_model: nameUpstream(`many-${name}`), priority },
            })),
          },
        ],
        providers: listPrimaries(upstream),
      }),
  });
  caller = await chat.createCaller({ cash: "1000" });
});
afterAll(async () => {
  await chat[Symbol.asyncDispose]();
  await database.close();
});

async function send(model: string, fields: Fields = {}): Promise<{ status: number; code: string | null }> {
  const response = await caller.post({ model, messages: [{ role: "user", content: "Hello" }], ...fields });
  const text = await response.text();
  const { error } = text.startsWith("{") ? (JSON.parse(text) as { error?: { code: string } }) : {};
  return { status: response.status, code: error?.code ?? null };
}

describe("a customer's mistake does not make the model unavailable to other customers", () => {
  test.each(mistakes.map((mistake, at) => [mistake[0], at, mistake] as const))(
    "%s",
    async (_name, at, [, , status, body, code]) => {
      const id = `mistake-${at}`;
      for (let call = 0; call < 12; call += 1) {
        chat.upstream.scriptFor({ model: nameUpstream(id) }, refuse(status, body));
        const told = code === "upstream_unavailable" ? 503 : 400;
        expect(await send(id, { stream: call % 2 === 0 })).toEqual({ status: told, code });
      }
      expect(await send(id)).toEqual({ status: 200, code: null });
    },
  );
});

describe("if all three keys of a primary fail, customers are answered by the healthy backup", () => {
  test.each(outages.map(([name, behaviour], at) => [name, at, behaviour] as const))(
    "where it %s",
    async (_name, at, behaviour) => {
      const id = `outage-${at}`;
      const isPrimary = (apiKey: string | null): boolean => apiKey !== null && primaryKeys.includes(apiKey);
      chat.upstream.alwaysFor((call) => call.model === nameUpstream(id) && isPrimary(call.apiKey), behaviour);
      const calls = Array.from({ length: 26 }, (_, call) => call);
      const sent = await Promise.all(calls.slice(0, 13).map((call) => send(id, { stream: call % 2 === 0 })));
      for (const call of calls.slice(13)) sent.push(await send(id, { stream: call % 2 === 0 }));
      expect(sent).toEqual(calls.map(() => ({ status: 200, code: null })));
      const asked = chat.upstream.requests.filter(({ model }) => model === nameUpstream(id));
      expect(asked.filter(({ apiKey }) => !isPrimary(apiKey))).toHaveLength(26);
      // Two attempts per call, and fewer once the circuits are open.
      expect(asked.filter(({ apiKey }) => isPrimary(apiKey)).length).toBeLessThanOrEqual(2 * 26);
    },
  );
});

test("a call is attempted at most five times, at most twice per provider", async () => {
  chat.upstream.alwaysFor(({ model }) => model?.startsWith(nameUpstream("many-")) === true, { status: 500 });
  expect(await send("many")).toEqual({ status: 503, code: "upstream_unavailable" });
  const names = ["many-b", "many-c", "many-d"].map(nameUpstream);
  const asked = chat.upstream.requests.map(({ model }) => model ?? "").filter((model) => names.includes(model));
  expect(names.map((name) => asked.filter((model) => model === name).length)).toEqual([2, 2, 1]);
});

describe("the vendor's error message", () => {
  const said = `The engine is down for ${canary}, sk-proj-abcdefgh12345678 and ${tellerKey}: https://a.example/b?token=c`;
  const hidden = `The engine is down for ${canary}, sk-proj-[hidden] and [hidden]: https://a.example/b?[hidden]`;
  const attempt = {
    ...{ upstream: "teller", upstream_key: 0, failure: "overloaded", status: 500, code: "engine_down", said: hidden },
    duration_ms: expect.any(Number),
  };

  /** The request log's record of a call once it is written: for operators, and for the account. */
  async function readRecords(id: string) {
    const record = await waitUntil(
      "the request to be logged",
      () => showRequest(chat.gateway.database, id).catch(() => null),
      10_000,
    );
    const own = await (await chat.gateway.get(`/requests/${id}`, caller.key)).text();
    const listed = await (await chat.gateway.get("/requests?limit=100", caller.key)).text();
    return { record, seen: own + listed };
  }

  async function sendTold(model: string, stream: boolean): Promise<string> {
    const error = { message: said, code: "engine_down", type: "server_error" };
    chat.upstream.scriptFor({ model: nameUpstream(model), apiKey: tellerKey }, refuse(500, { error }));
    const response = await caller.post({ model, stream, messages: [{ role: "user", content: "Hello" }] });
    await response.text();
    return response.headers.get("x-request-id") ?? "";
  }

  function listLines(id: string): Fields[] {
    return chat.gateway.logs.filter((line) => line.request_id === id);
  }

  test.each([true, false])(
    "is in the record and the log of a call that another upstream answered, streamed: %s",
    async (stream) => {
      const id = await sendTold("told", stream);
      const { record, seen } = await readRecords(id);
      expect(record).toMatchObject({ status: 200, upstream: "backup", model: "told", accountId: caller.accountId });
      expect(record.failedAttempts).toMatchObject([
        { upstream: "teller", upstreamModel: nameUpstream("told"), kind: "overloaded", status: 500, said: hidden },
      ]);
      for (const secret of ["teller", "backup", "engine", "failed_attempts", tellerKey])
        expect(seen).not.toContain(secret);
      const { status, code, ...rest } = attempt;
      expect(listLines(id).find(({ msg }) => msg === "upstream failed")).toMatchObject({
        ...{ ...rest, upstream_status: status, upstream_code: code, upstream_model: nameUpstream("told") },
        account_id: caller.accountId,
      });
      expect(listLines(id).find(({ msg }) => msg === "request")).toMatchObject({
        upstream: "backup",
        failed_attempts: 1,
      });
      expect(JSON.stringify(chat.gateway.logs)).not.toContain(tellerKey);
    },
  );

  test("is in the record of a failed call, and an operator can read it with a command", async () => {
    const id = await sendTold("told-alone", false);
    const { record } = await readRecords(id);
    expect(record).toMatchObject({ status: 503, errorCode: "upstream_unavailable", upstream: "teller" });
    using folder = createDataDirectory();
    const environment = { SLUICE_DATA_DIR: folder.path, SLUICE_DATABASE_URL: database.url };
    const shown = await runCommandHere(["request", "show", id, "--json"], { environment });
    expect(JSON.parse(shown.stdout)).toMatchObject({
      ...{ id, account: caller.accountId, model: "told-alone", status: 503, upstream: "teller", charge: null },
      failed_attempts: [{ ...attempt, upstream_model: nameUpstream("told-alone") }],
    });
    const text = await runCommandHere(["request", "show", id], { environment });
    expect(text.stdout).toContain(hidden);
    const unknown = await runCommandHere(["request", "show", "req_nothing"], { environment });
    expect(unknown.exitCode).not.toBe(0);
  });

  test("is absent if the first upstream answered", async () => {
    const response = await caller.post({ model: "told", messages: [{ role: "user", content: "Hello" }] });
    await response.text();
    const { record } = await readRecords(response.headers.get("x-request-id") ?? "");
    expect(record).toMatchObject({ upstream: "teller", failedAttempts: [] });
  });
});
