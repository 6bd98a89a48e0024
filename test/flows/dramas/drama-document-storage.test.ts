import { afterAll, beforeAll, expect, test } from "vitest";
import { createDocumentStorage } from "../../../src/features/dramas/document-storage.ts";
import type { FileId } from "../../../src/lib/ids.ts";
import { sampleRoles, sampleScript } from "../../harness/dramas/drama-samples.ts";
import { type FilesStage, startFilesStage } from "../../harness/media/files-stage.ts";

let stage: FilesStage;

beforeAll(async () => {
  stage = await startFilesStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const signal = new AbortController().signal;
const newId = (): FileId => stage.ids.next("file");
const openStorage = () => createDocumentStorage(stage.files);

function place(fileId: FileId, more: { signal?: AbortSignal } = {}) {
  return { accountId: stage.accountId, fileId, type: "script" as const, signal, ...more };
}

test("a stored document is returned, and null before one is stored", async () => {
  const fileId = newId();
  expect(await openStorage().find(stage.accountId, fileId)).toBeNull();
  await openStorage().keep(sampleScript, place(fileId));
  expect(await openStorage().find(stage.accountId, fileId)).toEqual(sampleScript);
});

test("a stored document is a task output: JSON, with its size and checksum", async () => {
  const fileId = newId();
  const { output } = await openStorage().keep(sampleScript, place(fileId));
  expect(output).toMatchObject({ type: "script", fileId, contentType: "application/json" });
  expect(output.bytes).toBe(Buffer.byteLength(JSON.stringify(sampleScript, null, 2)));
  expect(output.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect([output.width, output.height, output.durationMs]).toEqual([null, null, null]);
});

test("the first writer wins: later writers get the stored document", async () => {
  const fileId = newId();
  const first = await openStorage().keep(sampleScript, place(fileId));
  const other = { ...sampleScript, logline: "Another story." };
  const second = await openStorage().keep(other, place(fileId));
  expect(second).toEqual(first);
  expect(second.document.logline).toBe(sampleScript.logline);
});

test("of ten concurrent writers one stores the document, and all get the same", async () => {
  const fileId = newId();
  const keeping = Array.from({ length: 10 }, (_, index) =>
    openStorage().keep({ ...sampleScript, logline: `Story ${index}` }, place(fileId)),
  );
  const kept = await Promise.all(keeping);
  expect(new Set(kept.map(({ document }) => document.logline)).size).toBe(1);
  expect(new Set(kept.map(({ output }) => output.sha256)).size).toBe(1);
});

test("a document of another account is not found", async () => {
  const fileId = newId();
  await openStorage().keep(sampleScript, place(fileId));
  expect(await openStorage().find(stage.otherAccountId, fileId)).toBeNull();
  await expect(openStorage().get(stage.otherAccountId, fileId, "from_task_id")).rejects.toMatchObject({
    ...{ code: "file_not_found", param: "from_task_id" },
  });
  expect(await openStorage().get(stage.accountId, fileId, "from_task_id")).toEqual(sampleScript);
});

test("a found document is cached, and a missing one is looked up again", async () => {
  const documents = openStorage();
  const fileId = newId();
  expect(await documents.find(stage.accountId, fileId)).toBeNull();
  await openStorage().keep(sampleRoles, { ...place(fileId), type: "roles" });
  const found = await documents.find(stage.accountId, fileId);
  expect(found).toEqual(sampleRoles);
  expect(await documents.find(stage.accountId, fileId)).toBe(found);
});

test("the cache is limited to the most recently used documents", async () => {
  const asked: string[] = [];
  const documents = createDocumentStorage({
    ...stage.files,
    readDocument: (accountId, fileId, options) => {
      asked.push(fileId);
      return stage.files.readDocument(accountId, fileId, options);
    },
  });
  const ids = Array.from({ length: 501 }, newId);
  // Half a thousand writes at once would wait for a connection longer than a busy machine has time.
  for (const id of ids) await openStorage().keep(sampleScript, place(id));
  for (const id of ids) await documents.find(stage.accountId, id);
  asked.length = 0;
  await documents.find(stage.accountId, ids[500] as FileId);
  await documents.find(stage.accountId, ids[1] as FileId);
  expect(asked).toEqual([]);
  await documents.find(stage.accountId, ids[0] as FileId);
  expect(asked).toEqual([ids[0]]);
});

test("an aborted write stores nothing", async () => {
  const fileId = newId();
  const stopped = AbortSignal.abort(new Error("not wanted any more"));
  await expect(openStorage().keep(sampleScript, place(fileId, { signal: stopped }))).rejects.toThrow();
  expect(await openStorage().find(stage.accountId, fileId)).toBeNull();
});

test("an expired document is not found", async () => {
  const fileId = newId();
  await openStorage().keep(sampleScript, place(fileId));
  stage.clock.advance(31 * 24 * 60 * 60 * 1000);
  expect(await openStorage().find(stage.accountId, fileId)).toBeNull();
  await expect(openStorage().get(stage.accountId, fileId, "script")).rejects.toMatchObject({ param: "script" });
});
