import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFileStorage } from "../../../src/features/files/create-file-storage.ts";
import { archiveBytes, createFileRemoval, releaseOutputs } from "../../../src/features/files/index.ts";
import { insertUnarchivedBytes } from "../../../src/features/files/unarchived-bytes-store.ts";
import type { FileId } from "../../../src/lib/ids.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import type { ByteStore } from "../../../src/platform/storage/byte-store.ts";
import { createDiskStore } from "../../../src/platform/storage/create-disk-store.ts";
import { createSpool } from "../../../src/platform/storage/create-spool.ts";
import { createDataDirectory } from "../../harness/gateway-process.ts";
import { type FilesStage, readJson, stageLimits, startFilesStage } from "../../harness/media/files-stage.ts";
import { makeMedia } from "../../harness/media/media-files.ts";

const dayMs = 24 * 60 * 60 * 1000;
const { signal } = new AbortController();

let stage: FilesStage;
/** The operation that the store fails at, as if the machine or the network broke. */
let broken: "nothing" | "put" | "delete" = "nothing";

const breakable = (bytes: ByteStore): ByteStore => ({
  ...bytes,
  async put(key, source, options) {
    await bytes.put(key, source, options);
    if (broken === "put") throw new Error("The store broke.");
  },
  async delete(key) {
    if (broken === "delete") throw new Error("The store broke.");
    await bytes.delete(key);
  },
});

beforeEach(async () => {
  broken = "nothing";
  stage = await startFilesStage({ wrapBytes: breakable });
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

function sweep() {
  return stage.files.removeExpired();
}

async function uploadId(): Promise<FileId> {
  return (await readJson(await stage.upload(await makeMedia("png")))).id as FileId;
}

async function keep(id: FileId, bytes: Buffer, kind: "image" | "audio" | "video" = "image") {
  return await stage.files.keepOutput({ id, accountId: stage.accountId, kind, bytes: Readable.from([bytes]), signal });
}

async function readTables() {
  const count = async (table: "files" | "unowned_bytes"): Promise<number> =>
    (await stage.database.selectFrom(table).selectAll().execute()).length;
  const usage = await stage.database.selectFrom("file_usages").selectAll().executeTakeFirst();
  return {
    files: await count("files"),
    unowned: await count("unowned_bytes"),
    used: Number(usage?.files ?? 0),
    usedBytes: Number(usage?.bytes ?? 0),
    stored: stage.listStored().length,
  };
}

const nothing = { files: 0, unowned: 0, used: 0, usedBytes: 0, stored: 0 };

test("bytes that are not archived yet stay when their file is deleted, and are deleted after they are archived", async () => {
  const id = await uploadId();
  const { storage_key: key } = await stage.database.selectFrom("files").select("storage_key").executeTakeFirstOrThrow();
  await insertUnarchivedBytes(stage.database, key);
  await stage.files.deleteFile(stage.accountId, id);
  expect(await readTables()).toMatchObject({ files: 0, unowned: 1, stored: 1 });
  using place = createDataDirectory();
  const archive = await createDiskStore({ folder: place.path });
  const { database, bytes } = stage;
  const archiveAll = () =>
    archiveBytes({ database, bytes, archive, signal, onTrouble: (error) => stage.troubles.push(error) });
  await archiveAll();
  expect((await buffer(await archive.open(`files/${key}`))).equals(await makeMedia("png"))).toBe(true);
  stage.clock.advance(dayMs);
  expect(await sweep()).toEqual({ files: 0, removedBytes: 1 });
  expect(await readTables()).toEqual(nothing);
  // Lost bytes are reported, and do not delay the others.
  await insertUnarchivedBytes(stage.database, key);
  await archiveAll();
  expect(stage.troubles).toHaveLength(1);
});

describe("an expired file", () => {
  test("is gone to the millisecond, and its bytes with the next sweep", async () => {
    const id = await uploadId();
    stage.clock.advance(30 * dayMs - 1);
    expect((await stage.call(`/files/${id}`)).status).toBe(200);
    expect(await sweep()).toEqual({ files: 0, removedBytes: 0 });
    stage.clock.advance(1);
    expect((await stage.call(`/files/${id}`)).status).toBe(404);
    expect((await stage.call(`/files/${id}/content`)).status).toBe(404);
    expect((await readJson(await stage.call("/files"))).data).toEqual([]);
    await expect(
      stage.files.getFile(stage.accountId, id, { param: "audio_file_id", kinds: ["image"] }),
    ).rejects.toMatchObject({ code: "file_not_found", param: "audio_file_id" });
    const { url } = stage.files.signLink(id, stage.clock.now());
    expect((await fetch(`${stage.siteUrl}${url.slice(url.indexOf("/files/"))}`)).status).toBe(404);
    expect((await readTables()).stored).toBe(1);
    expect(await sweep()).toEqual({ files: 1, removedBytes: 1 });
    expect(await readTables()).toEqual(nothing);
  });

  test("and many others are swept together, and none that is younger", async () => {
    for (let count = 0; count < 12; count += 1) await uploadId();
    stage.clock.advance(15 * dayMs);
    const young = await uploadId();
    stage.clock.advance(15 * dayMs);
    const sweeps = await Promise.all([sweep(), sweep(), sweep()]);
    expect(sweeps.reduce((sum, { files }) => sum + files, 0)).toBe(12);
    expect(await readTables()).toMatchObject({ files: 1, unowned: 0, used: 1, stored: 1 });
    expect((await stage.call(`/files/${young}`)).status).toBe(200);
  });

  test("leaves bytes that cannot be removed to a later sweep", async () => {
    await uploadId();
    stage.clock.advance(30 * dayMs);
    broken = "delete";
    expect(await sweep()).toEqual({ files: 1, removedBytes: 0 });
    expect(stage.troubles).toHaveLength(1);
    expect(await readTables()).toMatchObject({ files: 0, unowned: 1, used: 0, stored: 1 });
    broken = "nothing";
    // The process that began to remove them has some time.
    expect(await sweep()).toEqual({ files: 0, removedBytes: 0 });
    stage.clock.advance(10 * 60_000);
    expect(await sweep()).toEqual({ files: 0, removedBytes: 1 });
    expect(await readTables()).toEqual(nothing);
  });
});

describe("a failure of the store", () => {
  test("while writing leaves nothing, and the caller may retry", async () => {
    broken = "put";
    expect((await stage.upload(await makeMedia("png"))).status).toBe(500);
    expect(await readTables()).toEqual(nothing);
    broken = "nothing";
    expect((await stage.upload(await makeMedia("png"))).status).toBe(200);
  });

  test("while deleting does not bring the file back", async () => {
    const id = await uploadId();
    broken = "delete";
    expect((await stage.call(`/files/${id}`, { method: "DELETE" })).status).toBe(200);
    expect((await stage.call(`/files/${id}`)).status).toBe(404);
    expect(await readTables()).toMatchObject({ files: 0, unowned: 1, used: 0, stored: 1 });
    broken = "nothing";
    stage.clock.advance(10 * 60_000);
    await sweep();
    expect(await readTables()).toEqual(nothing);
  });
});

describe("a process that died", () => {
  /** The state after a crash between writing the bytes and creating the file. */
  async function leaveBytes(): Promise<string> {
    const storageKey = `${stage.accountId}/2026/11/left`;
    const dueAt = new Date(stage.clock.now().getTime() + 60 * 60_000);
    await stage.database
      .insertInto("unowned_bytes")
      .values({ storage_key: storageKey, due_at: dueAt, is_doomed: false })
      .execute();
    await stage.bytes.put(storageKey, Readable.from([Buffer.from("x")]), { signal });
    return storageKey;
  }

  test("leaves bytes that a sweep finds after an hour, and not while they may still be written", async () => {
    await leaveBytes();
    stage.clock.advance(59 * 60_000);
    expect(await sweep()).toEqual({ files: 0, removedBytes: 0 });
    stage.clock.advance(60_000);
    expect(await sweep()).toEqual({ files: 0, removedBytes: 1 });
    expect(await readTables()).toEqual(nothing);
  });

  test("never leaves a file half created", async () => {
    await uploadId();
    // The file's row and the record of unowned bytes change in one transaction, so exactly one of them exists.
    expect(await readTables()).toMatchObject({ files: 1, unowned: 0, stored: 1 });
    stage.clock.advance(2 * 60 * 60_000);
    expect(await sweep()).toEqual({ files: 0, removedBytes: 0 });
    expect(await readTables()).toMatchObject({ files: 1, stored: 1 });
  });

  test("and resumes after its bytes were swept creates no file from them", async () => {
    await stage[Symbol.asyncDispose]();
    stage = await startFilesStage({
      wrapBytes: (bytes) => ({
        ...bytes,
        async put(key, source, options) {
          await bytes.put(key, source, options);
          stage.clock.advance(61 * 60_000);
          await sweep();
        },
      }),
    });
    expect((await stage.upload(await makeMedia("png"))).status).toBe(500);
    expect(await readTables()).toEqual(nothing);
  });
});

test("bytes whose removal has begun cannot become a file, even while they still exist", async () => {
  await stage[Symbol.asyncDispose]();
  stage = await startFilesStage({
    wrapBytes: (bytes) => ({
      ...breakable(bytes),
      async put(key, source, options) {
        await bytes.put(key, source, options);
        stage.clock.advance(61 * 60_000);
        broken = "delete";
        await sweep();
      },
    }),
  });
  expect((await stage.upload(await makeMedia("png"))).status).toBe(500);
  expect(await readTables()).toMatchObject({ files: 0, unowned: 1, used: 0, stored: 1 });
});

test("a file whose commit was not acknowledged keeps its bytes", async () => {
  const lossy = new Proxy(stage.database, {
    get(database, name) {
      const value = Reflect.get(database, name, database);
      if (name !== "transaction") return typeof value === "function" ? value.bind(database) : value;
      return () => ({
        async execute(work: (tx: Database) => Promise<unknown>) {
          await database.transaction().execute(work);
          throw new Error("Connection terminated");
        },
      });
    },
  });
  const [source, output] = [await keep(stage.ids.next("file"), await makeMedia("png")), stage.ids.next("file")];
  const place = createDataDirectory();
  const spool = await createSpool({ folder: place.path });
  const spooled = await spool.write(Readable.from([await makeMedia("png")]), { bytesMax: 1e9, signal });
  const onTrouble = (error: unknown): void => void stage.troubles.push(error);
  const { clock, ids, bytes } = stage;
  const storage = createFileStorage({
    ...{ database: lossy, clock, ids, bytes, limits: stageLimits, hasMoney: async () => true, isArchived: false },
    removal: createFileRemoval({ database: lossy, clock, bytes, onTrouble }),
  });
  const stored = storage.storeFile(
    { id: output, accountId: stage.accountId, purpose: "output", filename: "x", spooled, media: source },
    { signal },
  );
  await expect(stored).rejects.toThrow("Connection terminated");
  place[Symbol.dispose]();
  expect(await readTables()).toMatchObject({ files: 2, unowned: 0, stored: 2 });
  expect((await stage.call(`/files/${output}/content`)).status).toBe(200);
});

describe("a task output", () => {
  test("is stored under its reserved id, once, and counts in no quota", async () => {
    const png = await makeMedia("png");
    const id = stage.ids.next("file");
    const file = await keep(id, png);
    expect(file).toMatchObject({ id, purpose: "output", kind: "image", filename: "output.png", bytes: png.length });
    expect(await keep(id, await makeMedia("gif"))).toEqual(file);
    expect((await buffer(await stage.files.openFile(file))).equals(png)).toBe(true);
    expect((await buffer(await stage.files.openFile(file, { start: 0, end: 7 }))).equals(png.subarray(0, 8))).toBe(
      true,
    );
    expect(await readTables()).toMatchObject({ files: 1, unowned: 0, used: 0, stored: 1 });
    const listOutputs = async () => (await readJson(await stage.call("/files?purpose=output"))).data;
    expect(await listOutputs()).toEqual([]);
    await releaseOutputs(stage.database, [id]);
    expect(await listOutputs()).toMatchObject([{ id }]);
    stage.clock.advance(30 * dayMs);
    await sweep();
    expect(await readTables()).toEqual(nothing);
  });

  test("is stored once even by concurrent writers", async () => {
    const id = stage.ids.next("file");
    const [png, gif] = [await makeMedia("png"), await makeMedia("gif")];
    const kept = await Promise.all([keep(id, png), keep(id, gif), keep(id, png), keep(id, gif)]);
    const [file] = kept;
    expect(kept).toEqual([file, file, file, file]);
    const bytes = file === undefined ? Buffer.alloc(0) : await buffer(await stage.files.openFile(file));
    expect(bytes.equals(file?.contentType === "image/png" ? png : gif)).toBe(true);
    expect(await readTables()).toMatchObject({ files: 1, unowned: 0, stored: 1 });
  });

  test("is refused if it has the wrong type, is too large, or breaks off", async () => {
    const id = stage.ids.next("file");
    const invalid = { code: "invalid_file", param: "output" };
    await expect(keep(id, await makeMedia("mp3"))).rejects.toMatchObject(invalid);
    await expect(keep(id, Buffer.from("no picture"))).rejects.toMatchObject(invalid);
    await expect(keep(id, randomBytes(4 * 1024 * 1024 + 1))).rejects.toMatchObject({
      ...invalid,
      message: "The file is larger than 4194304 bytes.",
    });
    const breaking = new Readable({ read: () => breaking.destroy(new Error("broke off")) });
    const output = { id, accountId: stage.accountId, kind: "image", bytes: breaking, signal } as const;
    await expect(stage.files.keepOutput(output)).rejects.toThrow("broke off");
    const silent = new Readable({ read: () => {} });
    const leaving = AbortSignal.timeout(50);
    await expect(stage.files.keepOutput({ ...output, bytes: silent, signal: leaving })).rejects.toThrow();
    expect(await readTables()).toEqual(nothing);
    expect((await keep(id, await makeMedia("png"))).id).toBe(id);
  });

  test("may be raw samples, whose count gives the duration", async () => {
    const id = stage.ids.next("file");
    const samples = { contentType: "audio/pcm", bytesPerSecond: 48_000 };
    const output = { id, accountId: stage.accountId, kind: "audio", signal, samples } as const;
    const empty = stage.files.keepOutput({ ...output, bytes: Readable.from([]) });
    await expect(empty).rejects.toMatchObject({ code: "invalid_file", param: "output" });
    const file = await stage.files.keepOutput({ ...output, bytes: Readable.from([randomBytes(72_000)]) });
    expect(file).toMatchObject({ kind: "audio", contentType: "audio/pcm", durationMs: 1500, filename: "output.pcm" });
  });

  test("is readable, and an error once it is deleted", async () => {
    await uploadId();
    const file = await keep(stage.ids.next("file"), await makeMedia("png"));
    await stage.call(`/files/${file.id}`, { method: "DELETE" });
    await expect(stage.files.openFile(file)).rejects.toMatchObject({ code: "file_not_found" });
    expect(await readTables()).toMatchObject({ files: 1, used: 1, stored: 1 });
  });
});

describe("bytes from a URL", () => {
  test("are recognized like an upload, and not stored", async () => {
    const wanted = { param: "input_images", kinds: ["image"] } as const;
    const media = await stage.files.inspect(await makeMedia("webp"), wanted);
    expect(media).toMatchObject({ kind: "image", contentType: "image/webp" });
    const invalid = { code: "invalid_file", param: "input_images" };
    await expect(stage.files.inspect(await makeMedia("mp4"), wanted)).rejects.toMatchObject(invalid);
    await expect(stage.files.inspect(Buffer.from("<svg/>"), wanted)).rejects.toMatchObject(invalid);
    await expect(stage.files.inspect(Buffer.alloc(0), wanted)).rejects.toMatchObject(invalid);
    expect(await readTables()).toEqual(nothing);
  });

  test("must be of an accepted type, also in a file of the account", async () => {
    const id = await uploadId();
    const wanted = { param: "audio_file_id", kinds: ["audio"] } as const;
    await expect(stage.files.getFile(stage.accountId, id, wanted)).rejects.toMatchObject({
      code: "invalid_file",
      param: "audio_file_id",
      message: "The file is an image, but audio is required.",
    });
  });
});
