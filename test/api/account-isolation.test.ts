// @module-tag slow
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { repositoryDir } from "../harness/repository-files.ts";
import { type StripeServer, startStripeServer } from "../harness/servers/stripe-server.ts";
import { type FurnishedAccount, type FurnishedKind, furnishAccount } from "../harness/site/furnished-account.ts";
import { type SiteVisitor, signUpVisitor, visitorSettings, visitSite } from "../harness/site/site-visitor.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

type Method = "GET" | "POST" | "PATCH" | "DELETE";
type Route = { method: Method; path: string; name: string };
type Call = (method: Method, path: string, body: unknown) => Promise<{ status: number; text: string }>;

const api = readRoutes("docs/api/openapi.json");
const consoleApi = readRoutes("docs/api/console-openapi.json");

/** Public routes. `/outbox` exists only on a developer's machine and needs its secret. */
const openRoutes = new Set([
  "GET /site",
  "GET /outbox",
  "POST /outbox/open",
  "GET /showcase",
  "GET /status",
  "GET /uptime",
  "POST /sign-up",
  "POST /email/verify",
  "POST /email/resend",
  "POST /sign-in",
  "POST /sign-in/totp",
  "POST /sign-in/backup-code",
  "POST /sign-in/passkey/options",
  "POST /sign-in/passkey",
  "POST /sign-out",
  "POST /password/forgot",
  "POST /password/reset",
]);

/** Valid bodies for routes that change the resource in the path: only its owner can be wrong. */
const bodies: Record<string, unknown> = {
  "PATCH /keys/{id}": { name: "Taken over" },
  "POST /keys/{id}/rotate": { overlap_minutes: 0 },
  "POST /conversations/{conversation_id}": { metadata: { taken: "over" } },
  "POST /conversations/{conversation_id}/items": { items: [{ role: "user", content: "Hi" }] },
  "PATCH /webhook_endpoints/{id}": { description: "Taken over" },
  "POST /dramas/{task_id}/shots/{shot_number}": { prompt: "Taken over" },
};

/** Bodies for routes without a resource in the path. They name another account's resource where the route accepts one. */
const attempts: Record<string, (ids: FurnishedAccount["ids"]) => unknown> = {
  "POST /quote": ({ tasks }) => ({ path: `/dramas/${tasks}/shots/1`, request: {} }),
  "POST /avatars/generations": ({ files }) => ({
    model: "sandbox-avatar",
    avatar_file_id: files,
    audio_file_id: files,
  }),
  "POST /dramas/generations": ({ files, tasks }) => ({
    model: "sandbox-drama",
    title: "Theirs",
    from_task_id: tasks,
    characters: [{ name: "Anna", reference_file_id: files }],
    stage: "storyboard",
  }),
  "POST /responses": ({ conversations }) => ({ model: "sandbox-chat", input: "Hi", conversation: conversations }),
  "POST /responses/input_tokens": ({ conversations }) => ({ input: "Hi", conversation: conversations }),
  "POST /responses/compact": ({ responses }) => ({ model: "sandbox-chat", previous_response_id: responses }),
  "POST /keys": () => ({ name: "x", models: [""] }),
  "POST /codes/redeem": () => ({ code: "x" }),
  "POST /connect/device/lookup": () => ({ user_code: "BCDF-GHJK" }),
  "PATCH /account": () => ({ time_zone: "Nowhere" }),
  "POST /auto_top_up": () => ({ threshold: "10", amount: "20", month_max: "100" }),
  "PATCH /alerts": () => ({ low_balance: "0" }),
  "POST /checkouts": () => ({ amount: "nothing" }),
  "POST /passkeys": () => ({ name: "x", response: {} }),
};

/** These routes accept no resource id: they act on the caller only. */
const ownOnly = new Set([
  "PATCH /billing_details",
  "POST /plans/own",
  "DELETE /plans/own",
  // This stream never ends; test/api/open-streams.test.ts checks that it is limited to the session's account.
  "GET /changes",
  "POST /chat/completions",
  "POST /completions",
  "POST /conversations",
  "POST /embeddings",
  "POST /messages",
  "POST /messages/count_tokens",
  "POST /files",
  "POST /images/generations",
  "POST /images/edits",
  "POST /videos/generations",
  "POST /audio/speech",
  "POST /audio/transcriptions",
  "POST /audio/translations",
  "POST /webhook_endpoints",
  "POST /webhook_secret/rotate",
  "POST /webhook_sessions",
  "POST /event_inbox",
  "DELETE /event_inbox",
  "DELETE /auto_top_up",
  "DELETE /saved_card",
  "POST /reauthenticate",
  "DELETE /sessions",
  "POST /password",
  "POST /totp",
  "DELETE /totp",
  "POST /totp/confirm",
  "POST /totp/backup-codes",
  "POST /passkeys/options",
]);

let stripe: StripeServer;
let gateway: TestGateway;
let owner: FurnishedAccount;
let stranger: SiteVisitor;
let strangersKey: string;

beforeAll(async () => {
  stripe = await startStripeServer({ clock: systemClock });
  gateway = await startGateway({
    settings: {
      ...visitorSettings,
      stripe_secret_key: stripe.secretKey,
      stripe_webhook_secret: stripe.webhookSecret,
    },
    stripe: { url: stripe.url },
  });
  owner = await furnishAccount(gateway);
  ({ visitor: stranger } = await signUpVisitor(gateway));
  strangersKey = (await stranger.post("/keys", { name: "stranger" })).body.key;
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await stripe[Symbol.asyncDispose]();
});

function readRoutes(file: string): Route[] {
  const { paths } = JSON.parse(readFileSync(join(repositoryDir, file), "utf8")) as {
    paths: Record<string, Record<string, unknown>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((word) => {
      const method = word.toUpperCase() as Method;
      return { method, path, name: `${method} ${path}` };
    }),
  );
}

const hasId = ({ path }: Route): boolean => path.includes("{") && !path.startsWith("/models/");
const isList = ({ method, path, name }: Route): boolean =>
  method === "GET" && !path.includes("{") && !openRoutes.has(name) && name !== "GET /changes";

const callAsStranger: Record<"api" | "console", Call> = {
  async api(method, path, body) {
    const response = await fetch(`${gateway.baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${strangersKey}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  },
  console: (method, path, body) => callConsole(stranger, method, path, body),
};

async function callConsole(visitor: SiteVisitor, method: Method, path: string, body: unknown) {
  const answer =
    method === "GET"
      ? await visitor.get(path)
      : method === "DELETE"
        ? await visitor.delete(path)
        : await visitor[method === "POST" ? "post" : "patch"](path, body ?? {});
  return { status: answer.status, text: JSON.stringify(answer.body) };
}

/** No response contains the owner's data; ids that the stranger sent do not count. */
function expectNothingTold(text: string, sent = ""): void {
  expect(owner.secrets.filter((secret) => !sent.includes(secret) && text.includes(secret))).toEqual([]);
}

function fillPath(path: string, id: string): string {
  return path
    .replace(/\{[^}]+\}/, id)
    .replace("{shot_number}", "1")
    .replaceAll(/\{[^}]+\}/g, "x");
}

/** The resource type in a path: its first segment. A drama is a task. */
function findKind(path: string): FurnishedKind {
  const [, first = ""] = path.split("/");
  const kind = first === "dramas" ? "tasks" : first;
  if (!Object.hasOwn(owner.ids, kind)) throw new Error(`Nothing is known that ${path} could name: furnish it.`);
  return kind as FurnishedKind;
}

/** An id of the right form that does not exist. */
function makeUpId(id: string): string {
  const last = id.at(-1) === "a" ? "b" : "a";
  return id.slice(0, -1) + last;
}

test("this test covers every route of both documents", () => {
  for (const routes of [api, consoleApi]) {
    const untried = routes.filter(
      (route) =>
        !hasId(route) &&
        !isList(route) &&
        !route.path.startsWith("/models/") &&
        !openRoutes.has(route.name) &&
        !ownOnly.has(route.name) &&
        !Object.hasOwn(attempts, route.name),
    );
    expect(untried.map(({ name }) => name)).toEqual([]);
  }
  const known = new Set([...api, ...consoleApi].map(({ name }) => name));
  const stale = [...openRoutes, ...ownOnly, ...Object.keys(bodies), ...Object.keys(attempts)];
  expect(stale.filter((name) => !known.has(name))).toEqual([]);
});

describe.each([
  ["api", api],
  ["console", consoleApi],
] as const)("a stranger on the %s", (place, routes) => {
  test.each(routes.filter(hasId))(
    "$name returns the same error for another account's resource as for a missing one",
    async (route) => {
      const id = owner.ids[findKind(route.path)];
      const noId = makeUpId(id);
      const body = bodies[route.name] ?? (route.method === "POST" ? {} : undefined);
      const call = callAsStranger[place];
      const theirs = await call(route.method, fillPath(route.path, id), body);
      const nobodys = await call(route.method, fillPath(route.path, noId), body);
      expect(theirs.status).toBe(404);
      expectNothingTold(theirs.text, id);
      const presentWithout = (text: string, sent: string) =>
        JSON.stringify(JSON.parse(text).error).replaceAll(sent, "the id");
      expect(presentWithout(theirs.text, id)).toBe(presentWithout(nobodys.text, noId));
    },
  );

  test.each(routes.filter(isList))("$name returns no data of another account", async (route) => {
    const { text } = await callAsStranger[place](route.method, route.path, undefined);
    expectNothingTold(text);
  });

  test.each(routes.filter(({ name }) => Object.hasOwn(attempts, name)))(
    "$name cannot use another account's resource",
    async (route) => {
      const body = attempts[route.name]?.(owner.ids);
      const { status, text } = await callAsStranger[place](route.method, route.path, body);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      expectNothingTold(text, JSON.stringify(body));
    },
  );
});

test.each(consoleApi.filter(({ name }) => !openRoutes.has(name)))(
  "$name of the console rejects callers without a session, with or without an API key",
  async (route) => {
    const nobody = visitSite(gateway);
    const path = route.path.includes("{")
      ? fillPath(route.path, hasId(route) ? owner.ids[findKind(route.path)] : "x")
      : route.path;
    const headers = { authorization: `Bearer ${owner.key}` };
    const withKey =
      route.method === "GET"
        ? await nobody.get(path, headers)
        : route.method === "DELETE"
          ? await nobody.delete(path, headers)
          : await nobody[route.method === "POST" ? "post" : "patch"](path, {}, headers);
    // An upload is rejected for its form first.
    expect([401, 415]).toContain(withKey.status);
    expect(withKey.body.error.code).toMatch(/^(not_signed_in|unsupported_media_type)$/);
  },
);

test.each(api)("$name of the API rejects a session without a key", async (route) => {
  const cookie = [...owner.visitor.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const path = route.path.includes("{")
    ? fillPath(route.path, hasId(route) ? owner.ids[findKind(route.path)] : "x")
    : route.path;
  const response = await fetch(`${gateway.baseUrl}${path}`, { method: route.method, headers: { cookie } });
  expect(response.status).toBe(401);
});

describe("the console search", () => {
  const find = async (visitor: SiteVisitor, text: string) => {
    const { status, body } = await visitor.get(`/search?q=${encodeURIComponent(text)}`);
    expect(status).toBe(200);
    return body.data as { object: string; id: string; name: string; task_id: string | null }[];
  };

  test.for([
    ["keys", "key"],
    ["files", "file"],
    ["tasks", "task"],
    ["webhook_endpoints", "webhook_endpoint"],
    ["events", "event"],
    ["charges", "charge"],
    ["requests", "request"],
  ] as const)("finds %s by full id and by prefix, for the owner only", async ([kind, object]) => {
    const id = owner.ids[kind];
    for (const text of [id, ` ${id.toUpperCase()} `, id.slice(0, -4)]) {
      expect((await find(owner.visitor, text)).map((hit) => [hit.object, hit.id])).toEqual([[object, id]]);
      expect(await find(stranger, text)).toEqual([]);
    }
  });

  test("leads from an output or an event to its task, and from other money movements to the ledger", async () => {
    const { body: task } = await owner.visitor.get(`/tasks/${owner.ids.tasks}`);
    expect((await find(owner.visitor, task.output[0].file_id))[0]).toMatchObject({ object: "file", task_id: task.id });
    expect((await find(owner.visitor, owner.ids.events))[0]).toMatchObject({ task_id: task.id });
    const { body: ledger } = await owner.visitor.get("/ledger?limit=100");
    const topUp = ledger.data.find((entry: { kind: string }) => entry.kind === "top_up");
    const [transaction = ""] = topUp.id.split(":");
    expect(await find(owner.visitor, transaction)).toMatchObject([{ object: "ledger_entry", name: "top_up" }]);
    expect(await find(stranger, transaction)).toEqual([]);
  });

  test("searches names and prompts, and treats its input as literal text", async () => {
    const word = owner.secrets[0]?.slice(2) ?? "";
    const found = await find(owner.visitor, word.toUpperCase());
    const connected = owner.ids["connected-clients"];
    expect(
      found
        .map(({ id }) => id)
        .filter((id) => id !== connected)
        .toSorted(),
    ).toEqual([owner.ids.keys, owner.ids.files, owner.ids.tasks, owner.ids.webhook_endpoints].toSorted());
    expect(await find(stranger, word)).toEqual([]);
    expect(await find(owner.visitor, "%")).toEqual([]);
    expect((await owner.visitor.get("/search?q=")).status).toBe(400);
  });
});

test("two accounts with the same idempotency key create two tasks", async () => {
  const body = { model: "sandbox-image", prompt: "The same" };
  const headers = { "idempotency-key": "one-key" };
  const [theirs, own] = [
    await owner.visitor.post("/images/generations", body, headers),
    await stranger.post("/images/generations", body, headers),
  ];
  expect(theirs.status).toBe(202);
  expect(own.status).toBe(402);
});

test("the owner's resources are unchanged after all of these attempts", async () => {
  const { visitor, ids } = owner;
  for (const route of ["DELETE /event_inbox", "DELETE /sessions"] as const) {
    const [method, path] = route.split(" ") as ["DELETE", string];
    expect((await callConsole(stranger, method, path, undefined)).status).toBeLessThan(300);
  }
  const found = await Promise.all(
    ["keys", "files", "tasks", "webhook_endpoints", "charges", "checkouts"].map(
      async (kind) => (await visitor.get(`/${kind}/${ids[kind as FurnishedKind]}`)).body,
    ),
  );
  expect(found.map(({ id }) => id)).toEqual([
    ids.keys,
    ids.files,
    ids.tasks,
    ids.webhook_endpoints,
    ids.charges,
    ids.checkouts,
  ]);
  expect(found[0]).toMatchObject({ revoked_at: null, name: expect.stringContaining("canary") });
  expect(found[3].description).toContain("canary");
  expect((await visitor.get("/event_inbox")).body.is_open).toBe(true);
  expect((await visitor.get("/passkeys")).body.data).toHaveLength(1);
  expect((await visitor.get("/connected-clients")).body.data).toHaveLength(1);
  expect((await visitor.get("/sessions")).body.data).toHaveLength(1);
  expect((await gateway.get("/models", owner.key)).status).toBe(200);
});
