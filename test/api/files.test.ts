// @module-tag slow
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FilesStage, readError, readJson, startFilesStage } from "../harness/media/files-stage.ts";
import { makeMedia, mediaNames, mediaSize, mediaTable } from "../harness/media/media-files.ts";
import { waitUntil } from "../harness/wait-until.ts";

let stage: FilesStage;
let film: Buffer;
let filmId: string;

beforeAll(async () => {
  stage = await startFilesStage();
  film = await makeMedia("mp4");
  filmId = await uploadId(film, "film.mp4");
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

async function uploadId(bytes: Buffer, filename?: string, as = stage.accountId): Promise<string> {
  const response = await stage.upload(bytes, { as, ...(filename === undefined ? {} : { filename }) });
  expect(response.status).toBe(200);
  return (await readJson(response)).file_id;
}

async function readUsage(): Promise<number> {
  const usages = stage.database.selectFrom("file_usages").select("files").where("account_id", "=", stage.accountId);
  return Number((await usages.executeTakeFirst())?.files ?? 0);
}

const missing = { status: 404, code: "file_not_found", param: "file_id" };

describe("an upload", () => {
  test.each(mediaNames)("of a real %s is stored with its detected type, whatever its name", async (name) => {
    const bytes = await makeMedia(name);
    const response = await stage.upload(bytes, { filename: "notes.txt", type: "text/html" });
    const now = stage.clock.now();
    const body = await readJson(response);
    expect([response.status, body]).toEqual([
      200,
      {
        object: "file",
        file_id: expect.stringMatching(/^file_[0-9a-z]{26}$/),
        id: body.file_id,
        bytes: bytes.length,
        content_type: mediaTable[name].contentType,
        filename: "notes.txt",
        purpose: "generation",
        created: Math.floor(now.getTime() / 1000),
        created_at: Math.floor(now.getTime() / 1000),
        status: "processed",
        expires_at: new Date(now.getTime() + 30 * 24 * 60 * 60 * 1000).toISOString(),
      },
    ]);
    expect(await readJson(await stage.call(`/files/${body.id}`))).toEqual(body);
    const content = await stage.call(`/files/${body.id}/content`);
    expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
    const kinds = [mediaTable[name].kind];
    const file = await stage.files.getFile(stage.accountId, body.id, { param: "file", kinds });
    expect(file).toMatchObject({ kind: kinds[0], sha256: createHash("sha256").update(bytes).digest("hex") });
    const { width, height } = kinds[0] === "audio" ? { width: null, height: null } : mediaSize;
    expect([file.width, file.height]).toEqual([width, height]);
    const seconds = kinds[0] === "image" ? null : Math.round((file.durationMs ?? 0) / 100) / 10;
    expect(seconds).toBe(kinds[0] === "image" ? null : mediaSize.seconds);
  });
});

describe("a list of files", () => {
  test("contains all of the account's files, newest first, in pages", async () => {
    const png = await makeMedia("png");
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      stage.clock.advance(1000);
      ids.unshift(await uploadId(png, `${count}.png`, stage.otherAccountId));
    }
    const seen: string[] = [];
    let query: string | null = "";
    for (let pages = 0; query !== null && pages < 10; pages += 1) {
      const page = await readJson(await stage.call(`/files?limit=2${query}`, { as: stage.otherAccountId }));
      expect(page).toMatchObject({ object: "list", has_more: page.next_cursor !== null });
      seen.push(...page.data.map(({ id }: { id: string }) => id));
      query = page.next_cursor === null ? null : `&after=${page.next_cursor}`;
    }
    expect(seen).toEqual(ids);
    const outputs = await readJson(await stage.call("/files?purpose=output", { as: stage.otherAccountId }));
    expect(outputs).toEqual({ object: "list", data: [], has_more: false, next_cursor: null });
  });

  test.each([
    ["limit=0", "invalid_parameter", "limit"],
    ["limit=101", "invalid_parameter", "limit"],
    ["after=../x", "invalid_parameter", "after"],
    ["after=%00", "invalid_parameter", "after"],
    ["purpose=x", "invalid_parameter", "purpose"],
    ["before=x", "unknown_parameter", "before"],
  ])("rejects ?%s", async (query, code, param) => {
    expect(await readError(await stage.call(`/files?${query}`))).toEqual({ status: 400, code, param });
  });
});

describe("a missing file", () => {
  test.each(["file_00000000000000000000000000", "file_", "%00", "%2e%2e%2fx", "x".repeat(300)])(
    "is a 404 everywhere: %s",
    async (id) => {
      for (const [path, method] of [
        [`/files/${id}/content`, "GET"],
        [`/files/${id}`, "DELETE"],
        [`/files/${id}`, "GET"],
      ] as const) {
        const { status } = await stage.call(path, { method });
        expect(status).toBe(404);
      }
    },
  );

  test("is the same as the file of another account", async () => {
    const as = stage.otherAccountId;
    expect(await readError(await stage.call(`/files/${filmId}`, { as }))).toEqual(missing);
    expect(await readError(await stage.call(`/files/${filmId}/content`, { as }))).toEqual(missing);
    expect(await readError(await stage.call(`/files/${filmId}`, { as, method: "DELETE" }))).toEqual(missing);
    const wanted = { param: "avatar_file_id", kinds: ["video"] } as const;
    await expect(stage.files.getFile(as, filmId, wanted)).rejects.toMatchObject({
      code: "file_not_found",
      param: "avatar_file_id",
    });
    expect((await stage.call(`/files/${filmId}`)).status).toBe(200);
  });

  test("is a deleted file, at once, with its bytes", async () => {
    const before = stage.listStored().length;
    const id = await uploadId(await makeMedia("png"));
    const link = new URL(stage.files.signLink(id as "file_", stage.clock.now()).url);
    expect(stage.listStored()).toHaveLength(before + 1);
    const response = await stage.call(`/files/${id}`, { method: "DELETE" });
    expect([response.status, await readJson(response)]).toEqual([200, { id, object: "file", deleted: true }]);
    expect(stage.listStored()).toHaveLength(before);
    expect(await readError(await stage.call(`/files/${id}`, { method: "DELETE" }))).toEqual(missing);
    expect(await readError(await stage.call(`/files/${id}`))).toEqual(missing);
    expect((await fetch(`${stage.siteUrl}${link.pathname}${link.search}`)).status).toBe(404);
  });

  test("is not counted twice after two concurrent deletions", async () => {
    const id = await uploadId(await makeMedia("png"));
    const before = await readUsage();
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => stage.call(`/files/${id}`, { method: "DELETE" })),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(404)]);
    expect(before - (await readUsage())).toBe(1);
  });
});

describe("content", () => {
  const readPart = async (range: string, headers: Record<string, string> = {}) => {
    const response = await stage.call(`/files/${filmId}/content`, { headers: { range, ...headers } });
    return { response, body: Buffer.from(await response.arrayBuffer()) };
  };

  test("has headers that keep a browser from running it", async () => {
    const response = await stage.call(`/files/${filmId}/content`);
    await response.arrayBuffer();
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "video/mp4",
      "content-length": String(film.length),
      "content-disposition": `inline; filename="film.mp4"; filename*=UTF-8''film.mp4`,
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox; default-src 'none'",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "private, max-age=3600, immutable",
      "accept-ranges": "bytes",
      etag: `"${createHash("sha256").update(film).digest("hex")}"`,
    });
  });

  test.each([
    ["bytes=0-0", 0, 1],
    ["bytes=100-199", 100, 200],
    ["bytes=100-", 100, Number.POSITIVE_INFINITY],
    ["bytes=-100", -100, Number.POSITIVE_INFINITY],
    ["bytes=0-999999999", 0, Number.POSITIVE_INFINITY],
    ["bytes=-999999999", 0, Number.POSITIVE_INFINITY],
  ])("answers %s with those bytes only", async (range, start, end) => {
    const { response, body } = await readPart(range);
    const wanted = film.subarray(start, Math.min(end, film.length));
    expect([response.status, response.headers.get("content-length")]).toEqual([206, String(wanted.length)]);
    const first = start < 0 ? film.length + start : start;
    expect(response.headers.get("content-range")).toBe(`bytes ${first}-${first + wanted.length - 1}/${film.length}`);
    expect(body.equals(wanted)).toBe(true);
  });

  test.each(["bytes=0-1,3-4", "bytes=5-2", "bytes=x", "bytes=-", "lines=1-2"])("is complete for %s", async (range) => {
    const { response, body } = await readPart(range);
    expect([response.status, body.equals(film)]).toEqual([200, true]);
  });

  test("has no range that starts after its end", async () => {
    for (const range of [`bytes=${film.length}-`, "bytes=-0"]) {
      const response = await stage.call(`/files/${filmId}/content`, { headers: { range } });
      expect(response.headers.get("content-range")).toBe(`bytes */${film.length}`);
      expect(await readError(response)).toEqual({ status: 416, code: "invalid_parameter", param: "Range" });
    }
  });

  test("is complete if the range is for another version of the file", async () => {
    const etag = `"${createHash("sha256").update(film).digest("hex")}"`;
    expect((await readPart("bytes=0-9", { "if-range": etag })).body).toHaveLength(10);
    expect((await readPart("bytes=0-9", { "if-range": '"other"' })).body).toHaveLength(film.length);
    expect((await readPart("bytes=0-9", { "if-range": stage.clock.now().toUTCString() })).body).toHaveLength(
      film.length,
    );
    const unchanged = await stage.call(`/files/${filmId}/content`, { headers: { "if-none-match": etag } });
    expect([unchanged.status, await unchanged.text()]).toEqual([304, ""]);
  });

  test("is described without a body in the response to HEAD", async () => {
    const response = await stage.call(`/files/${filmId}/content`, { method: "HEAD" });
    expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([
      200,
      String(film.length),
      "",
    ]);
    const part = await stage.call(`/files/${filmId}/content`, { method: "HEAD", headers: { range: "bytes=0-9" } });
    expect([part.status, part.headers.get("content-length")]).toEqual([206, "10"]);
  });
});

test("a reader who disconnects ends the read", async () => {
  const opened: Readable[] = [];
  await using slow = await startFilesStage({
    wrapBytes: (bytes) => ({
      ...bytes,
      async open(): Promise<Readable> {
        const stalling = new Readable({ read: () => {} });
        stalling.push(film.subarray(0, 1000));
        opened.push(stalling);
        return stalling;
      },
    }),
  });
  const { id } = await readJson(await slow.upload(film));
  await slow.call(`/files/${id}/content`, { method: "HEAD" });
  expect(opened, "who asks for the head reads nothing").toEqual([]);
  const reader = new AbortController();
  const response = await slow.call(`/files/${id}/content`, { signal: reader.signal });
  expect(response.status).toBe(200);
  expect(opened[0]?.destroyed).toBe(false);
  reader.abort();
  await waitUntil("the end of the reading", () => opened[0]?.destroyed === true);
});

describe("a signed link", () => {
  /** The link as a client requests it. */
  const follow = (url: string, init?: RequestInit) => {
    const { pathname, search } = new URL(url);
    return fetch(`${stage.siteUrl}${pathname}${search}`, init);
  };
  const sign = () => stage.files.signLink(filmId as "file_", stage.clock.now()).url;

  test("serves the file without a key, and ranges of it", async () => {
    expect(sign()).toMatch(
      /^https:\/\/files\.example\.com\/files\/file_[0-9a-z]{26}\?expires=\d+&signature=[\w-]{43}$/,
    );
    const whole = await follow(sign());
    expect(Buffer.from(await whole.arrayBuffer()).equals(film)).toBe(true);
    expect(whole.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    expect(whole.headers.get("content-security-policy")).toBe("sandbox; default-src 'none'");
    expect((await follow(sign(), { headers: { range: "bytes=5-9" } })).status).toBe(206);
    expect((await follow(sign(), { method: "HEAD" })).status).toBe(200);
    const renamed = await follow(`${sign()}&download=${encodeURIComponent("a/harbour.exe\r\n")}`, { method: "HEAD" });
    expect(renamed.headers.get("content-disposition")).toContain('filename="aharbour.exe.mp4"');
  });

  test("serves a thumbnail of an image and of a video, which is made once and deleted with its file", async () => {
    const follow = (id: string, path = "/thumbnail") => {
      const { pathname, search } = new URL(stage.files.signLink(id as "file_", stage.clock.now()).url);
      return fetch(`${stage.siteUrl}${pathname}${path}${search}`);
    };
    const pictureId = await uploadId(await makeMedia("png"));
    const before = stage.listStored().length;
    const [first, second] = await Promise.all([follow(pictureId), follow(pictureId)]);
    expect([first.status, first.headers.get("content-type")]).toEqual([200, "image/webp"]);
    expect(first.headers.get("content-security-policy")).toBe("sandbox; default-src 'none'");
    const bytes = Buffer.from(await first.arrayBuffer());
    expect(bytes.toString("latin1", 8, 12)).toBe("WEBP");
    expect(Buffer.from(await second.arrayBuffer()).equals(bytes)).toBe(true);
    expect(Buffer.from(await (await follow(pictureId)).arrayBuffer()).equals(bytes)).toBe(true);
    expect(stage.listStored()).toHaveLength(before + 1);
    const poster = await follow(filmId);
    expect([poster.status, poster.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
    expect(await readError(await follow(await uploadId(await makeMedia("wav"))))).toMatchObject({ status: 404 });
    const wrong = stage.files.signLink(filmId as "file_", stage.clock.now()).url.replace(filmId, pictureId);
    const { pathname, search } = new URL(wrong);
    expect((await fetch(`${stage.siteUrl}${pathname}/thumbnail${search}`)).status).toBe(404);
    await stage.call(`/files/${pictureId}`, { method: "DELETE" });
    expect((await follow(pictureId)).status).toBe(404);
    expect(stage.listStored().filter((name) => name.endsWith(".thumbnail"))).toHaveLength(1);
  });

  test("for one file does not serve another", async () => {
    const otherId = await uploadId(await makeMedia("png"));
    expect((await follow(sign())).status).toBe(200);
    expect((await follow(sign().replace(filmId, otherId))).status).toBe(404);
  });

  test("expires after a day", async () => {
    const { url, expiresAt } = stage.files.signLink(filmId as "file_", stage.clock.now());
    stage.clock.advance(expiresAt.getTime() - stage.clock.now().getTime() - 1);
    expect((await follow(url)).status).toBe(200);
    stage.clock.advance(1);
    expect((await follow(url)).status).toBe(404);
    expect(expiresAt.getTime() - stage.clock.now().getTime()).toBe(0);
  });

  test.each([
    ["no such file", (url: string) => url.replace(/file_./, "file_z")],
    ["a later expiry", (url: string) => url.replace(/expires=(\d+)/, (_, expires) => `expires=${Number(expires) + 1}`)],
    ["an invalid expiry", (url: string) => url.replace(/expires=\d+/, "expires=x")],
    ["two expiries", (url: string) => `${url}&expires=1`],
    ["no expiry", (url: string) => url.replace(/expires=\d+&/, "")],
    ["no signature", (url: string) => url.replace(/&signature=.*/, "")],
    ["an empty signature", (url: string) => url.replace(/signature=.*/, "signature=")],
    ["a short signature", (url: string) => url.slice(0, -1)],
    [
      "another signature",
      (url: string) => url.replace(/signature=./, (text) => `signature=${text.endsWith("A") ? "B" : "A"}`),
    ],
  ])("with %s serves nothing", async (_name, change) => {
    expect(await readError(await follow(change(sign())))).toEqual({ status: 404, code: "file_not_found", param: null });
  });
});
