/**
 * Files: what callers upload, and what tasks made for them.
 *
 * Promises: a file exists only after its content was read to the end and found to be what it claims to be, unless it is a
 * document, which the gateway itself wrote. Its bytes are durable before it is answered, and nothing of an upload that
 * failed stays behind. What a task makes is listed once the task is charged. Quotas hold under any concurrency. Links are signed and live for a day. A file that has expired, was
 * deleted or is another account's does not exist.
 */
export { archiveBytes } from "./archive-bytes.ts";
export { createFileRemoval } from "./create-file-removal.ts";
export { createFiles, type Files } from "./create-files.ts";
export type { FileLimits, StoredFile } from "./file.ts";
export { listFiles, releaseOutputs } from "./file-store.ts";
export type { FormDescription, FormEntry, FormFile } from "./form-routes.ts";
export type { KeyedRequests } from "./keyed-requests.ts";
export { forgetUnarchivedBytes } from "./unarchived-bytes-store.ts";
