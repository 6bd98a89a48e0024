// @module-tag extended

import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { createAccount, createApiKey } from "../../src/features/accounts/index.ts";
import { applyCatalog } from "../../src/features/catalog/index.ts";
import { dramaFailpoints } from "../../src/features/dramas/index.ts";
import { bookCredit, findViolations } from "../../src/features/ledger/index.ts";
import { openEventInbox } from "../../src/features/webhooks/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { createDatabase, type Database } from "../../src/platform/database/database.ts";
import { dataParent } from "../harness/data-parent.ts";
import { writeDramaCatalog } from "../harness/dramas/drama-catalog.ts";
import { monologue } from "../harness/dramas/drama-play.ts";
import { listDramaChildren, performPlay, readQuestion, type SeenDrama } from "../harness/dramas/drama-stage.ts";
import { findFileViolations, findTaskViolations } from "../harness/tasks/check-tasks.ts";
import { startTaskProcess, type TaskCrash, type TaskProcess } from "../harness/tasks/task-process.ts";
import { createTestDatabase } from "../harness/test-database.ts";
import { type FakeUpstreams, findCanary, startFakeUpstreams } from "../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../harness/wait-until.ts";

const patienceMs = 60_000;

/**
 * One drama is killed repeatedly, each time a little further on; `when` names the work that is in progress or just
 * done. Each process dies after reaching its failpoint this many times.
 */
const deaths: readonly (TaskCrash & { when: string })[] = [
  { point: "steps-written", after: 1, when: "the script is begun" },
  { point: "document-written", after: 1, when: "the script is written, but not kept" },
  { point: "document-kept", after: 1, when: "the script is kept" },
  { point: "steps-written", after: 2, when: "the script is done, and the roles are begun" },
  { point: "document-kept", after: 1, when: "the roles are kept" },
  { point: "document-kept", after: 2, when: "the list of shots is kept" },
  { point: "steps-written", after: 1, when: "the picture is ordered" },
  { point: "submitted", after: 1, when: "the upstream has the picture, but the job id is not stored" },
  { point: "output-stored", after: 1, when: "the picture is in our storage" },
  { point: "finished", after: 1, when: "the picture's task is over" },
  { point: "document-kept", after: 1, when: "the storyboard is kept" },
  { point: "steps-written", after: 2, when: "the voice is ordered" },
  { point: "steps-written", after: 1, when: "the clip is ordered" },
  { point: "film-made", after: 1, when: "the film is made, but not kept" },
  { point: "film-kept", after: 1, when: "the film is kept" },
  { point: "finish-written", after: 1, when: "the drama's end is written, but not committed" },
  { point: "finished", after: 1, when: "the drama is over" },
];

test("a drama whose gateway is killed at any point resumes: nothing is created or paid twice, and the video is complete", {
  timeout: 600_000,
}, async () => {
  await using place = await openPlace();
  const startedAt = performance.now();
  const missed: string[] = [];
  let id: string | null = null;
  for (const { when, ...crash } of deaths) {
    await place.restart(crash);
    id ??= await place.send();
    await place.dies(when);
    if (!place.hasHit()) missed.push(when);
    // As if the dead gateway's leases had expired.
    await sql`update task_leases set next_poll_at = now()`.execute(place.database);
  }
  await place.restart(null);
  const drama = await place.finish(id ?? "");
  console.log(`drama crashes: ${deaths.length} deaths of one drama in ${Math.round(performance.now() - startedAt)} ms`);
  expect(missed).toEqual([]);
  const points: readonly string[] = deaths.map(({ point }) => point);
  expect(dramaFailpoints.filter((point) => !points.includes(point))).toEqual([]);
  expect(drama).toMatchObject({ status: "succeeded", usage: { charge: "0.53" } });
  expect(drama.output.map(({ type }) => type)).toEqual([
    ...["video", "subtitles", "image", "storyboard", "image", "roles", "script"],
  ]);
  // Only the script was written before it could be stored.
  expect(place.countQuestions()).toEqual({ drama_script: 2, drama_roles: 1, drama_storyboard: 1 });
  const asked = place.upstream.media.submissions.map(({ model }) => /(image|speech|avatar)-\d$/.exec(model)?.[0]);
  // The first image was lost with the process.
  expect(asked).toEqual(["image-1", "image-1", "speech-1", "avatar-1"]);
  const children = await listDramaChildren(place.database, drama.id);
  expect(children.map(({ step, purpose, state }) => `${step}: ${purpose} ${state}`).toSorted()).toEqual([
    "shots: shot-1 succeeded",
    "speech: shot-1 line 1 succeeded",
    "storyboard: shot-1 succeeded",
  ]);
  await place.checkAll([drama], { paid: ["530000000"], fileCount: filesOfDrama });
});

const shotDeaths: typeof deaths = [
  { point: "steps-written", after: 1, when: "the picture is ordered" },
  { point: "submitted", after: 1, when: "the upstream has the picture, but the job id is not stored" },
  { point: "steps-written", after: 1, when: "the clip is ordered" },
  { point: "film-made", after: 1, when: "the film is made, but not kept" },
  { point: "film-kept", after: 1, when: "the film is kept" },
  { point: "finish-written", after: 1, when: "the end is written, but not committed" },
];

test("a shot that is made again survives the same deaths, and costs once", { timeout: 600_000 }, async () => {
  await using place = await openPlace();
  await place.restart(null);
  const drama = await place.finish(await place.send());
  const missed: string[] = [];
  let id: string | null = null;
  for (const { when, ...crash } of shotDeaths) {
    await place.restart(crash);
    id ??= await place.send(drama.id);
    await place.dies(when);
    if (!place.hasHit()) missed.push(when);
    await sql`update task_leases set next_poll_at = now()`.execute(place.database);
  }
  await place.restart(null);
  const again = await place.finish(id ?? "");
  expect(missed).toEqual([]);
  expect(again).toMatchObject({ status: "succeeded", usage: { charge: "0.40" } });
  const asked = place.upstream.media.submissions.map(({ model }) => /(image|speech|avatar)-\d$/.exec(model)?.[0]);
  // One image was lost with the process.
  expect(asked.toSorted()).toEqual(["avatar-1", "avatar-1", "image-1", "image-1", "image-1", "speech-1"]);
  await place.checkAll([drama, again], { paid: ["400000000", "530000000"], fileCount: filesOfDrama + filesOfShot });
});

/** Two documents and a list of shots for the storyboard, three files of the video, and its parts. */
const filesOfDrama = 4 + 3 + 3;
/** An image, a clip, and three files of the new video. */
const filesOfShot = 1 + 1 + 3;

type Place = AsyncDisposable & {
  database: Database;
  upstream: FakeUpstreams;
  restart(crash: TaskCrash | null): Promise<void>;
  /** Sends the drama, or its first shot again; the gateway may die before it answers. */
  send(earlierId?: string): Promise<string>;
  dies(when: string): Promise<void>;
  hasHit(): boolean;
  finish(id: string): Promise<SeenDrama>;
  /** How often each document was requested. */
  countQuestions(): Record<string, number>;
  checkAll(dramas: readonly SeenDrama[], wanted: { paid: readonly string[]; fileCount: number }): Promise<void>;
};

async function openPlace(): Promise<Place> {
  const upstream = await startFakeUpstreams();
  const testDatabase = await createTestDatabase();
  const dataDir = mkdtempSync(join(dataParent, "sluice-drama-crash-"));
  const address = { connectionString: testDatabase.url };
  const database = createDatabase({ address, connectionsMax: 4, onConnectionError: () => {} });
  const key = await prepare(database, upstream);
  const seen: string[] = [];
  let gateway: TaskProcess | null = null;

  async function call(path: string, init: RequestInit = {}): Promise<{ status: number; text: string } | null> {
    const type = init.body === undefined ? {} : { "content-type": "application/json" };
    const headers = { authorization: `Bearer ${key}`, "idempotency-key": path, ...type };
    try {
      const response = await fetch(`${gateway?.baseUrl}${path}`, { ...init, headers });
      const text = await response.text();
      seen.push(JSON.stringify([...response.headers]), text);
      return { status: response.status, text };
    } catch {
      // The gateway was killed before it answered.
      return null;
    }
  }

  return {
    database,
    upstream,
    async restart(crash) {
      await gateway?.[Symbol.asyncDispose]();
      gateway = await startTaskProcess({ url: testDatabase.url, dataDir, crash });
    },
    async send(earlierId) {
      const whole = { model: "drama", title: "The Lighthouse", script: "Anna finds the lamp out." };
      const body = JSON.stringify(earlierId === undefined ? whole : { prompt: "Anna lights a match." });
      const path = earlierId === undefined ? "/dramas/generations" : `/dramas/${earlierId}/shots/1`;
      await call(path, { method: "POST", body });
      const query = database.selectFrom("tasks").select("id").where("type", "=", "drama").orderBy("id", "desc");
      return (await query.executeTakeFirstOrThrow()).id;
    },
    async dies(when) {
      await waitUntil(`the end when ${when}`, () => gateway?.isAlive() === false, patienceMs);
    },
    hasHit: () => gateway?.hasHit() === true,
    async finish(id) {
      await waitUntil(
        "the drama to end",
        async () => {
          const query = database.selectFrom("tasks").select("phase").where("id", "=", id);
          return (await query.executeTakeFirst())?.phase === "ended";
        },
        patienceMs,
      );
      return JSON.parse((await call(`/tasks/${id}`))?.text ?? "null");
    },
    countQuestions() {
      const asked = Map.groupBy(upstream.requests, (request) => String(readQuestion(request)));
      return Object.fromEntries([...asked].map(([question, requests]) => [question, requests.length]));
    },
    async checkAll(dramas, { paid: paidWanted, fileCount }) {
      const now = systemClock.now();
      expect(await findViolations(database, { kind: "whole", accountIds: "all", now })).toEqual([]);
      expect(await findTaskViolations(database)).toEqual([]);
      expect(await findFileViolations(database, dataDir)).toEqual([]);
      const charges = await database.selectFrom("charges").select("paid").execute();
      expect(charges.map(({ paid }) => String(paid)).toSorted()).toEqual(paidWanted);
      const events = await database.selectFrom("events").select("type").execute();
      expect(events).toEqual(dramas.map(() => ({ type: "task.succeeded" })));
      const siteUrl = (gateway?.baseUrl ?? "").replace(/\/v1$/, "");
      for (const { url, sha256 } of dramas.flatMap(({ steps }) => steps.flatMap(({ output }) => output))) {
        const response = await fetch(url.replace(/^https?:\/\/[^/]+/, siteUrl));
        const bytes = Buffer.from(await response.arrayBuffer());
        expect([response.status, createHash("sha256").update(bytes).digest("hex")]).toEqual([200, sha256]);
      }
      expect(await database.selectFrom("files").select("id").execute()).toHaveLength(fileCount);
      expect(upstream.media.refusals()).toEqual([]);
      expect(findCanary(seen.join("\n"))).toBeNull();
    },
    async [Symbol.asyncDispose]() {
      await gateway?.[Symbol.asyncDispose]();
      await database.destroy();
      await upstream[Symbol.asyncDispose]();
      await testDatabase.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function prepare(database: Database, upstream: FakeUpstreams): Promise<string> {
  performPlay(upstream, monologue);
  const ids = createIdSource({ clock: systemClock, randomBytes });
  const parts = { database, clock: systemClock, ids, randomBytes, hasModel: () => true };
  const none = { planIds: new Set<string>(), accountIds: new Set<string>() };
  const surroundings = { currency: "USD", ...none, hasSecret: () => true, findPackageFault: () => null };
  const source = writeDramaCatalog(upstream, [{ name: "drama", drawsInQueue: true }]);
  expect(await applyCatalog({ ...parts, surroundings }, source)).toMatchObject({ kind: "accepted" });
  const { id: accountId } = await createAccount(parts, { email: "crash@example.com" });
  const { text: key } = await createApiKey(parts, { accountId, name: "crash" });
  const booking = { kind: "top-up", amount: nano(100_000_000_000n) } as const;
  await bookCredit(parts, { accountId, booking, actor: "test", reason: "test", reference: null });
  await openEventInbox(database, accountId, systemClock.now());
  return key;
}
