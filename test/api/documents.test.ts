import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { releaseOutputs } from "../../src/features/files/index.ts";
import type { FileId } from "../../src/lib/ids.ts";
import { type FilesStage, readError, readJson, startFilesStage } from "../harness/media/files-stage.ts";
import { makeMedia } from "../harness/media/media-files.ts";

let stage: FilesStage;

beforeAll(async () => {
  stage = await startFilesStage();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const bytesMax = 8 * 1024 * 1024;
const script = Buffer.from(JSON.stringify({ object: "drama.script", title: "Zwölf — 十二 🎬" }));
const subtitles = Buffer.from("WEBVTT\n\n00:00.000 --> 00:01.000\nGrüße, 世界\n");

type DocumentFields = Partial<Parameters<FilesStage["files"]["keepDocument"]>[0]>;

function keep(fields: DocumentFields = {}) {
  return stage.files.keepDocument({
    ...{ id: stage.ids.next("file"), accountId: stage.accountId, contentType: "application/json" },
    ...{ filename: "script.json", bytes: script, signal: new AbortController().signal },
    ...fields,
  });
}

const read = (id: string, as = stage.accountId) => stage.files.readDocument(as, id, { param: "from_task_id" });

async function uploadPicture(): Promise<string> {
  return (await readJson(await stage.upload(await makeMedia("png")))).file_id;
}

/** Bytes that belong to no file. */
async function countUnowned(): Promise<number> {
  return (await stage.database.selectFrom("unowned_bytes").select("storage_key").execute()).length;
}

describe("a document", () => {
  test.each([
    ["application/json", "script.json", script],
    ["text/vtt", "film.vtt", subtitles],
  ] as const)("of the type %s is reported, listed and served like any output", async (contentType, filename, bytes) => {
    const kept = await keep({ contentType, filename, bytes });
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    expect(kept).toMatchObject({ kind: "document", contentType, bytes: bytes.length, sha256, durationMs: null });
    const told = await readJson(await stage.call(`/files/${kept.id}`));
    expect(told).toEqual({
      ...{ object: "file", file_id: kept.id, id: kept.id, bytes: bytes.length, content_type: contentType, filename },
      ...{ purpose: "output", created: Math.floor(kept.createdAt.getTime() / 1000), status: "processed" },
      created_at: Math.floor(kept.createdAt.getTime() / 1000),
      expires_at: kept.expiresAt.toISOString(),
    });
    await releaseOutputs(stage.database, [kept.id]);
    expect((await readJson(await stage.call("/files?purpose=output"))).data).toContainEqual(told);
    const { pathname, search } = new URL(stage.files.signLink(kept.id, stage.clock.now()).url);
    const answers = [
      await stage.call(`/files/${kept.id}/content`),
      await fetch(`${stage.siteUrl}${pathname}${search}`),
    ];
    for (const answer of answers) {
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        "content-type": `${contentType}; charset=utf-8`,
        "content-length": String(bytes.length),
        "content-disposition": `inline; filename="${filename}"; filename*=UTF-8''${filename}`,
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox; default-src 'none'",
        etag: `"${sha256}"`,
      });
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    }
  });

  test("counts towards no quota, and has a safe name", async () => {
    const as = stage.otherAccountId;
    const { filename } = await keep({ accountId: as, filename: "../a\r\nb/\u202e.json" });
    expect(filename).toBe("..ab.json");
    const usages = stage.database.selectFrom("file_usages").select("files").where("account_id", "=", as);
    expect(await usages.execute()).toEqual([]);
  });

  test("is stored once, however often and with whatever content it is stored again", async () => {
    const before = stage.listStored().length;
    const id = stage.ids.next("file");
    const kept = await Promise.all(Array.from({ length: 8 }, () => keep({ id })));
    const later = await keep({ id, bytes: subtitles, contentType: "text/vtt" });
    // A stored document is neither read nor written again.
    const last = await keep({ id, bytes: Buffer.alloc(0) });
    for (const file of [...kept, later, last]) expect(file).toEqual(kept[0]);
    expect(stage.listStored()).toHaveLength(before + 1);
    expect((await read(id)).equals(script)).toBe(true);
    expect([await countUnowned(), stage.troubles]).toEqual([0, []]);
  });

  test("has a size limit, and one over it leaves nothing behind", async () => {
    const before = stage.listStored().length;
    const [largest, tooLarge] = [Buffer.alloc(bytesMax, "a"), Buffer.alloc(bytesMax + 1, "a")];
    for (const bytes of [tooLarge, Buffer.alloc(0)]) {
      const id = stage.ids.next("file");
      await expect(keep({ id, bytes })).rejects.toMatchObject({ code: "invalid_file", param: "output" });
      await expect(read(id)).rejects.toMatchObject({ code: "file_not_found" });
    }
    expect([stage.listStored().length, await countUnowned()]).toEqual([before, 0]);
    const { id } = await keep({ bytes: largest });
    expect((await read(id)).equals(largest)).toBe(true);
  });

  test("is not stored for a task that has ended", async () => {
    const before = stage.listStored().length;
    const id = stage.ids.next("file");
    await expect(keep({ id, signal: AbortSignal.abort(new Error("ended")) })).rejects.toThrow();
    await expect(read(id)).rejects.toMatchObject({ code: "file_not_found" });
    expect([stage.listStored().length, await countUnowned()]).toEqual([before, 0]);
  });

  test("written but not yet registered when the task ended leaves nothing behind", async () => {
    const ending = new AbortController();
    await using cut = await startFilesStage({
      wrapBytes: (bytes) => ({
        ...bytes,
        async put(key, content, options) {
          await bytes.put(key, content, options);
          ending.abort(new Error("ended"));
        },
      }),
    });
    const id = cut.ids.next("file");
    const fields = { id, accountId: cut.accountId, contentType: "text/vtt", filename: "a.vtt" } as const;
    await expect(cut.files.keepDocument({ ...fields, bytes: subtitles, signal: ending.signal })).rejects.toThrow(
      "ended",
    );
    expect(await cut.database.selectFrom("files").select("id").execute()).toEqual([]);
    expect(cut.listStored()).toEqual([]);
  });

  test("is deleted together with its bytes", async () => {
    const before = stage.listStored().length;
    const { id } = await keep();
    expect((await stage.call(`/files/${id}`, { method: "DELETE" })).status).toBe(200);
    await expect(read(id)).rejects.toMatchObject({ code: "file_not_found" });
    expect(stage.listStored()).toHaveLength(before);
  });
});

describe("reading a document", () => {
  const missing = { code: "file_not_found", param: "from_task_id" };

  test("works for its own account only, until the document expires", async () => {
    await using other = await startFilesStage({ limits: { retentionMs: 1000 } });
    const fields = { accountId: other.accountId, contentType: "application/json", filename: "a.json" } as const;
    const id = other.ids.next("file");
    await other.files.keepDocument({ id, ...fields, bytes: script, signal: new AbortController().signal });
    const readOther = (as = other.accountId, fileId: string = id) =>
      other.files.readDocument(as, fileId, { param: "from_task_id" });
    expect((await readOther()).equals(script)).toBe(true);
    await expect(readOther(other.otherAccountId)).rejects.toMatchObject(missing);
    await expect(readOther(other.accountId, "file_../x")).rejects.toMatchObject(missing);
    other.clock.advance(1000);
    await expect(readOther()).rejects.toMatchObject(missing);
  });

  test("of another kind of file fails with a clear error", async () => {
    await expect(read(await uploadPicture())).rejects.toMatchObject({
      ...{ code: "invalid_file", param: "from_task_id" },
      message: "The file is an image, but a document is required.",
    });
  });
});

describe("only the gateway writes documents", () => {
  test("a document in place of media is rejected with a clear error", async () => {
    const { id } = await keep();
    const wanted = { param: "input_images[0]", kinds: ["image", "video"] } as const;
    await expect(stage.files.getFile(stage.accountId, id, wanted)).rejects.toMatchObject({
      ...{ code: "invalid_file", param: "input_images[0]" },
      message: "The file is a document, but an image or a video is required.",
    });
  });

  test.each([
    ["application/json", script],
    ["text/vtt", subtitles],
  ])("an upload with the type %s is rejected", async (type, bytes) => {
    const response = await stage.upload(bytes, { type });
    expect(await readError(response)).toEqual({ status: 400, code: "invalid_file", param: "file" });
  });

  test("the database rejects an uploaded document and a document of another type", async () => {
    const { id } = await keep();
    const change = (fields: { purpose?: string; content_type?: string; kind?: string }, fileId: FileId | string = id) =>
      stage.database.updateTable("files").set(fields).where("id", "=", fileId).execute();
    await expect(change({ purpose: "generation" })).rejects.toThrow("files_document_valid");
    await expect(change({ content_type: "text/html" })).rejects.toThrow("files_document_valid");
    await expect(change({ kind: "program" })).rejects.toThrow("files_kind_valid");
    await expect(change({ kind: "document" }, await uploadPicture())).rejects.toThrow("files_document_valid");
  });
});
