// @module-tag slow
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { countRuns } from "../harness/count-runs.ts";
import { findUntruth, type SeenAnswer } from "../harness/fuzz/check-answer.ts";
import { listOperations, type OpenApiDocument, type Operation } from "../harness/fuzz/openapi-document.ts";
import { type FuzzKind, type FuzzRequest, fuzzKinds, requestsOf } from "../harness/fuzz/request-arbitrary.ts";
import type { Hints } from "../harness/fuzz/schema-arbitrary.ts";
import { listUnstorableRequests } from "../harness/fuzz/unstorable-requests.ts";
import { makeMedia } from "../harness/media/media-files.ts";
import { repositoryDir } from "../harness/repository-files.ts";
import { type StripeServer, startStripeServer } from "../harness/servers/stripe-server.ts";
import { type FurnishedAccount, furnishAccount } from "../harness/site/furnished-account.ts";
import { goodPassword, siteOrigin, visitorSettings, visitSite } from "../harness/site/site-visitor.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { testSeed } from "../harness/test-seed.ts";

/**
 * Calls every operation of both documents with valid, nearly valid and invalid requests, and validates every response
 * against the document. The operations come from the documents; none is named here.
 */

/** Fixed cases plus random ones; `TEST_SEED` repeats those of a failure. */
const fixedSeed = 18;
const requestsPerKind = { fixed: countRuns(2, 2), fresh: 1 };
/** A caller without credentials needs no more. */
const anonymousPerKind = { fixed: 1, fresh: 1 };
/** Each run draws different cases from the hundreds of an operation with many fields. */
const unstorablePerOperation = countRuns(10, 3);

type Surface = {
  document: OpenApiDocument;
  address(): string;
  /** Headers that authenticate a request, and none for an anonymous one. */
  credentials(): Promise<Record<string, string>>;
  anonymous: Record<string, string>;
};

let stripe: StripeServer;
let testDatabase: TestDatabase;
let gateway: TestGateway;
let owner: FurnishedAccount;
let cookies = new Map<string, string>();
let key: string;
let picture: Uint8Array<ArrayBuffer>;
let pictureId: string;
let soundId: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  stripe = await startStripeServer({ clock: systemClock });
  const settings = {
    ...visitorSettings,
    stripe_secret_key: stripe.secretKey,
    stripe_webhook_secret: stripe.webhookSecret,
  };
  const common = { sharedDatabase: testDatabase, stripe: { url: stripe.url } };
  await using furnisher = await startGateway({ ...common, settings });
  owner = await furnishAccount(furnisher);
  cookies = owner.visitor.cookies;
  key = (await owner.visitor.post("/keys", { name: "fuzz" })).body.key;
  picture = new Uint8Array(await makeMedia("png"));
  const plenty = { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000, tasks_in_flight: 1_000_000 };
  await furnisher.database.updateTable("accounts").set(plenty).execute();
  // No worker runs on this one: only the account's own image was made.
  gateway = await startGateway({ ...common, settings: { ...settings, roles: ["http"] } });
  pictureId = await upload(picture);
  soundId = await upload(new Uint8Array(await makeMedia("wav")));
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await stripe[Symbol.asyncDispose]();
  await testDatabase.close();
});

async function upload(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const form = new FormData();
  form.append("purpose", "generation");
  form.append("file", new Blob([bytes]), "upload");
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${gateway.baseUrl}/files`, { method: "POST", headers, body: form });
  return ((await response.json()) as { id: string }).id;
}

let networks = 0;

/** The site limits by network, so each operation gets its own. */
function nextNetwork(): string {
  networks += 1;
  return `10.${networks >> 8}.${networks & 255}.1`;
}

const surfaces: Record<string, Surface> = {
  api: {
    document: readDocument("docs/api/openapi.json"),
    address: () => gateway.baseUrl,
    credentials: async () => ({ authorization: `Bearer ${key}` }),
    anonymous: {},
  },
  console: {
    document: readDocument("docs/api/console-openapi.json"),
    address: () => `${gateway.siteUrl}/console/api`,
    credentials: async () => ({
      cookie: await readCookie(),
      origin: siteOrigin,
      "sec-fetch-site": "same-origin",
    }),
    anonymous: { origin: siteOrigin, "sec-fetch-site": "same-origin" },
  },
};

/** Some operations end the session; then this signs in again. */
async function readCookie(): Promise<string> {
  const visitor = visitSite(gateway);
  for (const [name, value] of cookies) visitor.cookies.set(name, value);
  if ((await visitor.get("/session")).status !== 200) {
    await visitor.post("/sign-in", { email: owner.email, password: goodPassword });
  }
  cookies = visitor.cookies;
  return [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
}

function readDocument(file: string): OpenApiDocument {
  return JSON.parse(readFileSync(join(repositoryDir, file), "utf8")) as OpenApiDocument;
}

/** The account's resources, by the names of parameters and fields. */
function hintsFor({ path }: Operation): Hints {
  const [, first = ""] = path.split("/");
  const own: Record<string, string> = { ...owner.ids, files: pictureId };
  const id = own[first];
  const media = /^\/(images|videos|avatars|dramas|audio|embeddings)(?:\/|$)/.exec(path)?.[1] ?? "";
  const models: Record<string, string> = {
    images: "image",
    videos: "video",
    avatars: "avatar",
    dramas: "drama",
    audio: "speech",
    embeddings: "embedding",
  };
  return {
    ...(id === undefined ? {} : { id: [id], [`${first.replace(/s$/, "")}_id`]: [id] }),
    task_id: [own.tasks],
    file_id: [own.files],
    avatar_file_id: [own.files],
    audio_file_id: [soundId],
    reference_file_id: [own.files],
    input_images: [[own.files]],
    voice: ["alloy"],
    input: ["Hello"],
    prompt: ["A lock at dawn"],
    size: ["1024x1024"],
    aspect_ratio: ["16:9"],
    duration: [5],
    time_zone: ["Europe/Paris"],
    amount: ["20"],
    key_id: [own.keys],
    webhook_endpoint_id: [own.webhook_endpoints],
    model_id: ["sandbox-chat"],
    model: [`sandbox-${/^\/audio\/trans/.test(path) ? "transcription" : (models[media] ?? "chat")}`],
    url: ["https://example.com/hook", "http://127.0.0.1:9/hook"],
    callback_url: ["http://127.0.0.1:9/hook"],
    // No worker runs, so no request should wait.
    prefer: ["respond-async", "wait=0", "wait=x"],
    from: ["2026-11-01"],
    to: ["2026-11-20T12:00:00Z"],
    group_by: ["day", "model,key"],
    script: ["Anna meets Ben at the lock. They talk."],
    file: ["a picture"],
    messages: [[{ role: "user", content: "Hello" }]],
    range: ["bytes=0-9", "bytes=9999999-", "lines=1"],
  };
}

async function send(surface: Surface, request: FuzzRequest & { method: string }, headers: Record<string, string>) {
  const { method, path, query, body } = request;
  // By default, a request with a field of OpenAI's API would wait for an image.
  const impatient = { prefer: "wait=0" };
  const init: RequestInit = { method, redirect: "manual", headers: { ...impatient, ...request.headers, ...headers } };
  if (body.kind === "text") {
    init.body = new Blob([body.text]);
    if (body.type !== null) init.headers = { ...init.headers, "content-type": body.type };
  }
  if (body.kind === "form") init.body = writeForm(body.fields);
  const response = await fetch(`${surface.address()}${path}${query}`, init);
  return await read(response);
}

function writeForm(fields: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value === "a picture") form.append(name, new Blob([picture]), "picture.png");
    // Not `String(value)`: generated values include objects with an invalid `toString`.
    else form.append(name, typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  }
  return form;
}

/** Reads only the head of a stream, which may never end. */
async function read(response: Response): Promise<SeenAnswer> {
  const { status, headers } = response;
  if (headers.get("content-type")?.startsWith("text/event-stream") === true) {
    await response.body?.cancel();
    return { status, headers, body: null };
  }
  return { status, headers, body: await response.text() };
}

function drawRequests(
  target: Target,
  kind: FuzzKind,
  { fixed, fresh }: typeof requestsPerKind,
): { seed: number; request: FuzzRequest }[] {
  const arbitrary = requestsOf(target, kind, hintsFor(target));
  // Operations with the same requests need different idempotency keys.
  const own = hash("sha256", target.name, "buffer").readInt32LE();
  const draw = (seed: number, numRuns: number) =>
    fc.sample(arbitrary, { seed: seed ^ own, numRuns }).map((request) => ({ seed, request }));
  return [...draw(fixedSeed, fixed), ...draw(testSeed, fresh)];
}

/** Only on failure: searching the log after each of thousands of responses takes longer than the calls. */
function explain(
  problem: string | null,
  { seed, request }: { seed: number; request: object },
  answer: SeenAnswer,
): string {
  if (problem === null) return "";
  const replay = `Replay it with TEST_SEED=${seed}.`;
  const shown = JSON.stringify(request).slice(0, 2000);
  const log = gateway.logs.find(({ request_id: id }) => id === answer.headers.get("x-request-id"));
  const logged = JSON.stringify(log)?.slice(0, 1000);
  return `${problem}\n${replay}\nrequest: ${shown}\nanswer: ${answer.status} ${answer.body?.slice(0, 500)}\nlog: ${logged}`;
}

/** A deleted resource cannot be read any more. */
function rank({ method }: Operation): number {
  return method === "GET" ? 0 : method === "DELETE" ? 2 : 1;
}

type Target = Operation & { name: string; surface: Surface };

const targets: Target[] = Object.entries(surfaces)
  .flatMap(([place, surface]) =>
    listOperations(surface.document).map((operation) => {
      return { ...operation, surface, name: `${place}: ${operation.method} ${operation.path}` };
    }),
  )
  .toSorted((a, b) => rank(a) - rank(b));

/** Error codes that a valid request may not get: they mean that the document is too strict or too loose. */
const untrueRefusals = /"code":"(unknown_parameter|invalid_json|unsupported_media_type)"/;

function findProblem(target: Target, kind: FuzzKind, answer: SeenAnswer): string | null {
  if (kind === "valid" && untrueRefusals.test(answer.body ?? "")) return "it is refused for what the document allows";
  return findUntruth(target.surface.document, target, answer);
}

test.each(targets.filter(({ isPublic }) => !isPublic))("$name rejects anonymous callers", async (target) => {
  const headers = { ...target.surface.anonymous, "x-forwarded-for": nextNetwork() };
  for (const kind of fuzzKinds) {
    for (const drawn of drawRequests(target, kind, anonymousPerKind)) {
      const answer = await send(target.surface, { ...drawn.request, method: target.method }, headers);
      const problem = answer.status < 400 ? "it succeeds" : findUntruth(target.surface.document, target, answer);
      expect(problem, explain(problem, drawn, answer)).toBeNull();
    }
  }
});

test.each(targets)("$name answers as documented", async (target) => {
  const headers = { ...(await target.surface.credentials()), "x-forwarded-for": nextNetwork() };
  for (const kind of fuzzKinds) {
    for (const drawn of drawRequests(target, kind, requestsPerKind)) {
      const answer = await send(target.surface, { ...drawn.request, method: target.method }, headers);
      const problem = findProblem(target, kind, answer);
      expect(problem, explain(problem, drawn, answer)).toBeNull();
    }
  }
});

test.each(targets)("$name rejects text that cannot be stored, in any field", async (target) => {
  const headers = { ...(await target.surface.credentials()), "x-forwarded-for": nextNetwork() };
  const all = listUnstorableRequests(target, hintsFor(target), fixedSeed);
  const count = Math.min(all.length, unstorablePerOperation);
  const some = fc.subarray(all, { minLength: count, maxLength: count });
  const [drawn = []] = fc.sample(some, { seed: testSeed, numRuns: 1 });
  for (const request of drawn) {
    const answer = await send(target.surface, { ...request, method: target.method }, headers);
    const problem = answer.status >= 500 ? "it breaks" : findUntruth(target.surface.document, target, answer);
    expect(problem, explain(problem, { seed: testSeed, request }, answer)).toBeNull();
  }
});
