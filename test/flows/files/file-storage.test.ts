import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { type ByteStore, MissingBytesError } from "../../../src/platform/storage/byte-store.ts";
import { createDiskStore } from "../../../src/platform/storage/create-disk-store.ts";
import { createSpool, TooManyBytesError } from "../../../src/platform/storage/create-spool.ts";
import { openByteStore, type StorageSettings } from "../../../src/platform/storage/open-byte-store.ts";
import { dataParent } from "../../harness/data-parent.ts";
import { type S3Server, startS3Server } from "../../harness/servers/s3-server.ts";

const megabyte = 1024 * 1024;
const folder = mkdtempSync(join(dataParent, "sluice-storage-"));
const { signal } = new AbortController();
let server: S3Server;
const stores = new Map<string, ByteStore>();

function createSettings(): StorageSettings {
  return {
    data_dir: folder,
    s3_bucket: server.bucket,
    s3_endpoint: server.endpoint,
    s3_region: "us-east-1",
    s3_access_key_id: "S3RVER",
    s3_secret_access_key: "S3RVER",
    s3_path_style: "on",
  };
}

beforeAll(async () => {
  server = await startS3Server();
  stores.set("a folder", await openByteStore({ ...createSettings(), s3_bucket: undefined }));
  stores.set("a bucket", await openByteStore(createSettings()));
});
afterAll(async () => {
  for (const store of stores.values()) await store.close();
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

function getStore(name: string): ByteStore {
  const store = stores.get(name);
  if (store === undefined) throw new Error(`There is no store ${name}.`);
  return store;
}

function listFiles(where: string): string[] {
  const entries = readdirSync(where, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** Bytes that arrive one piece at a time, and stall at some point. */
async function* trickle(pieces: number, atEnd: () => Promise<void>): AsyncIterable<Uint8Array> {
  for (let count = 0; count < pieces; count += 1) yield randomBytes(megabyte);
  await atEnd();
}

/** A stream that sends this many pieces, and then stalls. */
function createStalling(pieces: number, atEnd: () => void): Readable {
  let count = 0;
  return new Readable({
    read() {
      count += 1;
      if (count <= pieces) this.push(randomBytes(megabyte));
      else atEnd();
    },
  });
}

describe.each(["a folder", "a bucket"])("%s", (name) => {
  test("returns the stored bytes, whole or in part", async () => {
    const store = getStore(name);
    const content = randomBytes(100_000);
    await store.put("acct_a/2026/11/whole", Readable.from([content.subarray(0, 7), content.subarray(7)]), { signal });
    expect((await buffer(await store.open("acct_a/2026/11/whole"))).equals(content)).toBe(true);
    const part = await buffer(await store.open("acct_a/2026/11/whole", { start: 10, end: 19 }));
    expect(part.equals(content.subarray(10, 20))).toBe(true);
    await store.put("acct_a/2026/11/whole", Readable.from([Buffer.from("new")]), { signal });
    expect((await buffer(await store.open("acct_a/2026/11/whole"))).toString()).toBe("new");
  });

  test("stores 20 MB from a stream", async () => {
    const store = getStore(name);
    const pieces = Array.from({ length: 20 }, () => randomBytes(megabyte));
    await store.put("acct_a/2026/11/large", Readable.from(pieces), { signal });
    const hash = createHash("sha256");
    for await (const chunk of await store.open("acct_a/2026/11/large")) hash.update(chunk as Buffer);
    expect(hash.digest("hex")).toBe(createHash("sha256").update(Buffer.concat(pieces)).digest("hex"));
    await store.delete("acct_a/2026/11/large");
  });

  test("throws for a missing or deleted key, and deleting it again succeeds", async () => {
    const store = getStore(name);
    await expect(store.open("acct_a/none")).rejects.toThrow(MissingBytesError);
    await store.delete("acct_a/none");
    await store.put("acct_a/short", Readable.from([Buffer.from("x")]), { signal });
    await store.delete("acct_a/short");
    await expect(store.open("acct_a/short")).rejects.toThrow(MissingBytesError);
  });

  test.each([1, 12])("stores nothing of %i MB whose source fails", async (pieces) => {
    const store = getStore(name);
    const source = trickle(pieces, () => Promise.reject(new Error("the source broke")));
    await expect(store.put("acct_a/broken", source, { signal })).rejects.toThrow("the source broke");
    await expect(store.open("acct_a/broken")).rejects.toThrow(MissingBytesError);
  });

  test.each([1, 12])("stores nothing of %i MB whose writer aborts", async (pieces) => {
    const store = getStore(name);
    const writer = new AbortController();
    const source = createStalling(pieces, () => writer.abort(new Error("given up")));
    await expect(store.put("acct_a/aborted", source, writer)).rejects.toThrow(/given up|abort/i);
    await expect(store.open("acct_a/aborted")).rejects.toThrow(MissingBytesError);
    const aborted = AbortSignal.abort(new Error("given up"));
    await expect(store.put("acct_a/aborted", Readable.from([Buffer.from("x")]), { signal: aborted })).rejects.toThrow();
    await expect(store.open("acct_a/aborted")).rejects.toThrow(MissingBytesError);
  });

  test("lists the keys directly under a prefix", async () => {
    const store = getStore(name);
    for (const key of ["list/b.gz", "list/a/1", "list/a/2"]) {
      await store.put(key, Readable.from([Buffer.from("x")]), { signal });
    }
    expect(await store.list("list")).toEqual(["a", "b.gz"]);
    expect(await store.list("list/a")).toEqual(["1", "2"]);
    expect(await store.list("list/none")).toEqual([]);
    expect(await store.list("")).toContain("list");
    expect(await store.list("")).not.toContain("drafts");
  });

  test("lets its reader stop midway", async () => {
    const store = getStore(name);
    await store.put("acct_a/read", Readable.from([randomBytes(4 * megabyte)]), { signal });
    const reader = await store.open("acct_a/read");
    reader.once("data", () => reader.destroy());
    await new Promise((closed) => reader.once("close", closed));
    expect(reader.destroyed).toBe(true);
  });
});

describe("a folder", () => {
  test("leaves no drafts behind and is not readable by other users", async () => {
    await getStore("a folder").put("acct_b/2026/11/mine", Readable.from([Buffer.from("x")]), { signal });
    expect(listFiles(join(folder, "files", "drafts"))).toEqual([]);
    const { mode } = statSync(join(folder, "files/acct_b/2026/11/mine"));
    expect(mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "files/acct_b")).mode & 0o777).toBe(0o700);
  });

  test.each(["../x", "/etc/passwd", "a/../../x", "a//b", "", "a/", "a\0b", "a b", ".", "drafts/x"])(
    "rejects the key %j",
    async (key) => {
      const store = getStore("a folder");
      await expect(store.put(key, Readable.from([Buffer.from("x")]), { signal })).rejects.toThrow("is not a valid key");
      await expect(store.open(key)).rejects.toThrow("is not a valid key");
      await expect(store.delete(key)).rejects.toThrow("is not a valid key");
    },
  );

  test("follows no symbolic link", async () => {
    const outside = join(folder, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "secret"), "secret");
    symlinkSync(outside, join(folder, "files", "acct_link"));
    symlinkSync(join(outside, "secret"), join(folder, "files", "link"));
    const store = getStore("a folder");
    await expect(store.open("acct_link/secret")).rejects.toThrow("is a symbolic link");
    await expect(store.put("acct_link/new", Readable.from([Buffer.from("x")]), { signal })).rejects.toThrow(
      "is a symbolic link",
    );
    await expect(store.delete("acct_link/secret")).rejects.toThrow("is a symbolic link");
    expect(listFiles(outside)).toEqual(["secret"]);
    expect(listFiles(join(folder, "files", "drafts"))).toEqual([]);
    rmSync(join(folder, "files", "acct_link"));
    rmSync(join(folder, "files", "link"));
  });

  test("deletes drafts of dead writers, and no others, when it is opened", async () => {
    const place = join(folder, "crashed");
    mkdirSync(join(place, "drafts"), { recursive: true });
    const [old, fresh] = [join(place, "drafts", "old"), join(place, "drafts", "fresh")];
    writeFileSync(old, "x");
    writeFileSync(fresh, "x");
    const longAgo = new Date(systemClock.now().getTime() - 61 * 60_000);
    utimesSync(old, longAgo, longAgo);
    await createDiskStore({ folder: place });
    expect([existsSync(old), existsSync(fresh)]).toEqual([false, true]);
  });
});

test("a bucket's credentials are complete or absent", async () => {
  const half = { ...createSettings(), s3_secret_access_key: undefined };
  await expect(openByteStore(half)).rejects.toThrow("Only one of s3_access_key_id and s3_secret_access_key is set.");
});

describe("a spool", () => {
  const place = join(folder, "spool");

  test("counts and hashes what it writes, up to its limit", async () => {
    const spool = await createSpool({ folder: place });
    const content = randomBytes(1000);
    const spooled = await spool.write(Readable.from([content]), { bytesMax: 1000, signal });
    const { mode } = statSync(spooled.path);
    expect([spooled.bytes, mode & 0o777]).toEqual([1000, 0o600]);
    expect(spooled.sha256.equals(createHash("sha256").update(content).digest())).toBe(true);
    await spooled.remove();
    await expect(spool.write(Readable.from([content]), { bytesMax: 999, signal })).rejects.toThrow(TooManyBytesError);
    expect(listFiles(place)).toEqual([]);
  });

  test("keeps nothing after an error or an abort", async () => {
    const spool = await createSpool({ folder: place });
    const broken = trickle(1, () => Promise.reject(new Error("broken")));
    await expect(spool.write(broken, { bytesMax: 9 * megabyte, signal })).rejects.toThrow("broken");
    const writer = new AbortController();
    const slow = createStalling(1, () => writer.abort());
    await expect(spool.write(slow, { bytesMax: 9 * megabyte, signal: writer.signal })).rejects.toThrow(/abort/i);
    expect(listFiles(place)).toEqual([]);
  });
});
