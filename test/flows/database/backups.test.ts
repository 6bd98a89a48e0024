import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBackup } from "../../../src/features/backups/index.ts";
import { readCopyState } from "../../../src/platform/database/copy-state.ts";
import { createDatabase, type Database } from "../../../src/platform/database/database.ts";
import { createDiskStore } from "../../../src/platform/storage/create-disk-store.ts";
import { upstreamKeyName } from "../../harness/chat/chat-catalog.ts";
import { dataParent } from "../../harness/data-parent.ts";
import { createDataDirectory, findFreePort, runCommand, spawnCommand } from "../../harness/gateway-process.ts";
import { makeMedia } from "../../harness/media/media-files.ts";
import { runCommandHere } from "../../harness/run-command-here.ts";
import { type S3Server, startS3Server } from "../../harness/servers/s3-server.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../harness/servers/webhook-receiver.ts";
import { openTaskStage, paths, type StageCaller, type TaskStage } from "../../harness/tasks/task-stage.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";
import { startGateway } from "../../harness/test-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const storedKey = "stored-before-the-backup";
let stage: TaskStage;
let original: TestDatabase;
let caller: StageCaller;
let picture: Buffer;
let bucket: S3Server;
let receiver: WebhookReceiver;
const folder = mkdtempSync(join(dataParent, "sluice-backups-"));

beforeAll(async () => {
  original = await createTestDatabase();
  stage = await openTaskStage({ sharedDatabase: original });
  caller = await stage.createCaller({ cash: "100" });
  picture = await makeMedia("png");
  bucket = await startS3Server();
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await original.close();
  await bucket[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

type Environment = Record<string, string>;

function describeEnvironment(url: string, dataDir: string): Environment {
  return {
    DATABASE_URL: url,
    SLUICE_DATA_DIR: dataDir,
    SLUICE_S3_ENDPOINT: bucket.endpoint,
    SLUICE_S3_ACCESS_KEY_ID: "S3RVER",
    SLUICE_S3_SECRET_ACCESS_KEY: "S3RVER",
    SLUICE_S3_PATH_STYLE: "on",
  };
}

/** The gateway that is backed up. */
const here = (): Environment => describeEnvironment(original.url, stage.dataDir);

type Target = AsyncDisposable & { database: TestDatabase; dataDir: string; environment: Environment };

/** An empty target for a restore. */
async function createTarget(): Promise<Target> {
  const database = await createTestDatabase({ content: "nothing" });
  const data = createDataDirectory();
  return {
    ...{ database, dataDir: data.path, environment: describeEnvironment(database.url, data.path) },
    async [Symbol.asyncDispose]() {
      await database.close();
      data[Symbol.dispose]();
    },
  };
}

async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = createDatabase({ address: { connectionString: url }, connectionsMax: 1, onConnectionError() {} });
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}

async function succeed(words: readonly string[], environment: Environment): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await runCommandHere([...words, "--json"], { environment });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout);
}

async function fail(words: readonly string[], environment: Environment): Promise<string> {
  const { exitCode, stderr } = await runCommandHere(words, { environment });
  expect(exitCode).toBe(1);
  return stderr;
}

/** Every file that a database lists, and whether its bytes are in the data directory. */
function listFiles(url: string, dataDir: string): Promise<{ id: string; isWhole: boolean }[]> {
  return withDatabase(url, async (database) => {
    const rows = await database.selectFrom("files").select(["id", "storage_key", "sha256"]).orderBy("id").execute();
    return rows.map(({ id, storage_key: key, sha256 }) => {
      const path = join(dataDir, "files", key);
      const isWhole = existsSync(path) && createHash("sha256").update(readFileSync(path)).digest().equals(sha256);
      return { id, isWhole };
    });
  });
}

/** Sends calls, uploads, deletions and tasks, one after another, until aborted. */
async function makeLoad(signal: AbortSignal): Promise<void> {
  for (let round = 0; !signal.aborted; round += 1) {
    const chat = { model: "talk", messages: [{ role: "user", content: `Round ${round}` }] };
    expect((await caller.post("/chat/completions", chat)).status).toBe(200);
    const kept = await caller.upload(picture);
    const gone = await caller.upload(picture);
    const headers = { authorization: `Bearer ${caller.key}` };
    await stage.fetch(`${stage.gateway.baseUrl}/files/${gone}`, { method: "DELETE", headers });
    await caller.submit(paths.image, { model: "image", prompt: `From ${kept}`, input_images: [kept] });
  }
}

test("a file that is deleted during a backup is in it, and its bytes are deleted afterwards", async () => {
  const fileId = await caller.upload(picture);
  const [{ storage_key: storageKey = "" } = {}] = await stage.database
    .selectFrom("files")
    .select("storage_key")
    .where("id", "=", fileId)
    .execute();
  const path = join(stage.dataDir, "files", storageKey);
  const files = await createDiskStore({ folder: join(stage.dataDir, "files") });
  const place = await createDiskStore({ folder: join(folder, "deleted") });
  const headers = { authorization: `Bearer ${caller.key}` };
  const deleteFile = (): Promise<Response> =>
    stage.fetch(`${stage.gateway.baseUrl}/files/${fileId}`, { method: "DELETE", headers });
  // The database has been copied by now, and the files are next.
  const open: typeof files.open = async (key, range) => {
    if (key === storageKey) expect((await deleteFile()).status).toBe(200);
    expect(existsSync(path)).toBe(true);
    return await files.open(key, range);
  };
  const { signal } = new AbortController();
  const address = { connectionString: original.url };
  const dependencies = { address, files: { ...files, open }, place, randomBytes, signal, onProgress() {} };
  const { id } = await createBackup(dependencies, { secret: null, includesSecret: false });
  expect(readFileSync(join(folder, "deleted", id, "files", storageKey)).equals(picture)).toBe(true);
  expect((await stage.gateway.get(`/files/${fileId}`, caller.key)).status).toBe(404);
  await sql`update unowned_bytes set due_at = now() where storage_key = ${storageKey}`.execute(stage.database);
  await succeed(["file", "purge"], here());
  expect(existsSync(path)).toBe(false);
});

test("a killed backup leaves no backup and does not block the next; a concurrent one is refused", async () => {
  const place = join(folder, "killed");
  const { path, putBack } = await replaceByPipe(await caller.upload(picture));
  const backup = spawnCommand(["backup", place], { environment: here() });
  await waitUntil("the files are next", () => existsSync(place) && list(place).includes("files-list-0001.gz"));
  expect(await fail(["backup", place], here())).toContain("Another backup of this database is running.");
  backup.kill("SIGKILL");
  await backup.exited;
  putBack();
  expect(existsSync(path)).toBe(true);
  expect(await succeed(["backup", "list", place], here())).toEqual([{ id: expect.any(String), complete: false }]);
  expect(await fail(["restore", place], here())).toContain("There is no complete backup in that place.");
  // The server takes a moment to notice that the connection is gone.
  await waitUntil("the next backup", async () => {
    return (await runCommandHere(["backup", place], { environment: here() })).exitCode === 0;
  });
  expect(await succeed(["backup", "check", place], here())).toMatchObject({ ok: true });
});

/** Replaces a file by a pipe: readers block. */
async function replaceByPipe(fileId: string, root = join(stage.dataDir, "files")) {
  const row = await stage.database
    .selectFrom("files")
    .select("storage_key")
    .where("id", "=", fileId)
    .executeTakeFirst();
  const path = join(root, row?.storage_key ?? "");
  renameSync(path, join(folder, "aside"));
  execFileSync("mkfifo", [path]);
  const putBack = (): void => renameSync(join(folder, "aside"), path);
  return { path, putBack };
}

function list(place: string): string[] {
  return readdirSync(place, { recursive: true, encoding: "utf8" }).map((path) => path.split("/").at(-1) ?? "");
}

test("a killed restore leaves a directory that no gateway starts on, and can be repeated", async () => {
  const place = join(folder, "half");
  const fileId = await caller.upload(picture);
  const { id } = await succeed(["backup", place, "--secrets", "include"], here());
  await using target = await createTarget();
  const { path, putBack } = await replaceByPipe(fileId, join(place, String(id), "files"));
  const restore = spawnCommand(["restore", place], { environment: target.environment });
  // A restore reads everything once before it writes anything, and again to restore it.
  await writeFile(path, picture);
  const readState = () => withDatabase(target.database.url, readCopyState);
  await waitUntil("the restore has begun", async () => (await readState()) === "restoring");
  restore.kill("SIGKILL");
  await restore.exited;
  const environment = { ...target.environment, SLUICE_PORT: await findFreePort() };
  const start = await runCommand(["serve"], { environment });
  expect(start.exitCode).toBe(1);
  expect(start.stderr).toContain("This database is half restored");
  expect(await fail(["account", "list"], target.environment)).toContain("Run the same `sluice restore` again");
  putBack();
  await succeed(["restore", place], target.environment);
  expect(await readState()).toBe("unconfirmed");
  expect((await listFiles(target.database.url, target.dataDir)).filter(({ isWhole }) => !isWhole)).toEqual([]);
});

test("a restore refuses a target that is not empty, a damaged backup, and one whose secrets it could not decrypt", async () => {
  const place = join(folder, "refused");
  await caller.upload(picture);
  const { id } = await succeed(["backup", place], here());
  expect(await fail(["restore", place], here())).toContain("The database is not empty: it has");
  await using target = await createTarget();
  const { environment, dataDir } = target;
  expect(await fail(["restore", place], environment)).toContain("The backup contains no secret key");
  writeFileSync(join(dataDir, "secret.key"), "x".repeat(32));
  expect(await fail(["restore", place], environment)).toContain("not the backup");
  copyFileSync(join(stage.dataDir, "secret.key"), join(dataDir, "secret.key"));
  mkdirSync(join(dataDir, "files", "acct_other"), { recursive: true });
  expect(await fail(["restore", place], environment)).toContain("files has acct_other");
  rmSync(join(dataDir, "files"), { recursive: true });
  const part = join(place, String(id), "database", "accounts-0001.gz");
  const whole = readFileSync(part);
  writeFileSync(part, Buffer.concat([whole.subarray(0, -1), Buffer.from("x")]));
  expect(await fail(["restore", place], environment)).toContain("accounts-0001.gz has the wrong checksum");
  expect((await runCommandHere(["backup", "check", place], { environment })).exitCode).toBe(1);
  rmSync(part);
  expect(await fail(["restore", place], environment)).toContain("accounts-0001.gz is missing");
  expect(await withDatabase(target.database.url, listTables)).toEqual([]);
  writeFileSync(part, whole);
  expect(await succeed(["restore", place, "--backup", String(id)], environment)).toMatchObject({ id });
});

async function listTables(database: Database): Promise<unknown[]> {
  return (await sql`select 1 from pg_class where relnamespace = 'public'::regnamespace`.execute(database)).rows;
}

test.each([
  ["chck", '"chck" is neither a folder path nor an s3:// URL.'],
  ["ftp://somewhere/else", "is neither a folder path nor an s3:// URL."],
])("a backup to %s is refused", async (place, sentence) => {
  expect(await fail(["backup", place], here())).toContain(sentence);
});

test("a backup under load is restored completely; the copy spends and sends nothing until it is confirmed", async () => {
  const stored = { environment: here(), input: storedKey };
  expect(await runCommandHere(["secret", "set", upstreamKeyName], stored)).toMatchObject({ exitCode: 0 });
  receiver.answerWith(500);
  const told = await caller.submit(paths.image, { model: "image", prompt: "Tell me", callback_url: receiver.url });
  await caller.awaitTask(told.id);
  await receiver.waitForDeliveries(1);
  await caller.submit(paths.image, { model: "image", prompt: "Endless <<fault:queue=9999>>" });
  const place = `s3://${bucket.bucket}/backups`;
  const ending = new AbortController();
  const load = [makeLoad(ending.signal), makeLoad(ending.signal)];
  const backup = await succeed(["backup", place, "--secrets", "include"], here());
  ending.abort();
  await Promise.all(load);
  expect(await succeed(["backup", "check", place], here())).toMatchObject({ id: backup.id, ok: true });
  expect(await succeed(["backup", "list", place], here())).toEqual([backup]);

  await using target = await createTarget();
  const restored = await succeed(["restore", place], target.environment);
  expect(restored).toEqual({ ...backup, ledger: { ok: true, violations: 0 } });
  const files = await listFiles(target.database.url, target.dataDir);
  expect(files).toHaveLength(Number(backup.files));
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter(({ isWhole }) => !isWhole)).toEqual([]);
  await expectConfirmationNeeded(target);
});

/** Work that is due in the copy runs after confirmation, and not before. */
async function expectConfirmationNeeded({ database, dataDir, environment }: Target): Promise<void> {
  await withDatabase(database.url, (copy) =>
    sql`update deliveries set due_at = now() where state = 'pending'`.execute(copy),
  );
  const before = { deliveries: receiver.deliveries.length, calls: stage.media.calls.length };
  await stage.gateway.close();
  await using gateway = await startGateway({ sharedDatabase: database, settings: { data_dir: dataDir } });
  const ready = await fetch(`${gateway.siteUrl}/readyz`);
  expect([ready.status, await ready.text()]).toEqual([200, expect.stringContaining("restored copy")]);
  const chat = { model: "talk", messages: [{ role: "user", content: "Is it you?" }] };
  const send = () => caller.post("/chat/completions", chat, { gateway });
  const refused = await send();
  expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: "overloaded" } }]);
  const [file] = await listFiles(database.url, dataDir);
  const headers = { authorization: `Bearer ${caller.key}` };
  const deletion = await fetch(`${gateway.baseUrl}/files/${file?.id}`, { method: "DELETE", headers });
  expect(deletion.status).toBe(503);
  expect((await gateway.get(`/files/${file?.id}/content`, caller.key)).status).toBe(200);
  expect((await gateway.get("/balance", caller.key)).status).toBe(200);
  const signIn = await fetch(`${gateway.siteUrl}/console/api/sign-in`, { method: "POST" });
  expect(signIn.status).not.toBe(503);
  expect({ deliveries: receiver.deliveries.length, calls: stage.media.calls.length }).toEqual(before);

  expect(await succeed(["restore", "confirm"], environment)).toEqual({ confirmed: true });
  await receiver.waitForDeliveries(before.deliveries + 1);
  await waitUntil("tasks go on", () => stage.media.calls.length > before.calls);
  // With the vendor's key that was stored in the original, not with that of the environment.
  const resumed = stage.media.calls.slice(before.calls).map(({ headers }) => headers.authorization);
  expect(resumed).toEqual(resumed.map(() => expect.stringContaining(storedKey)));
  expect((await send()).status).toBe(200);
  expect(await (await fetch(`${gateway.siteUrl}/readyz`)).json()).toEqual({ status: "ok" });
  expect(await succeed(["restore", "confirm"], environment)).toEqual({ confirmed: false });
  expect(await succeed(["ledger", "verify"], environment)).toMatchObject({ ok: true, violations: [] });
}
