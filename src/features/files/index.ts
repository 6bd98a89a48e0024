/**
 * Files: uploads of callers and outputs of tasks.
 *
 * Promises: a file exists only after its content was read to the end and checked, unless the gateway itself wrote it: a
 * document, or a drama's video. Its bytes are durable before the response, and a failed upload leaves nothing behind.
 * Outputs are listed once their task is charged. Quotas hold under any concurrency. Links are signed and valid for a day.
 * An expired or deleted file, or one of another account, does not exist.
 */
export { archiveBytes } from "./archive-bytes.ts";
export { createFileRemoval } from "./create-file-removal.ts";
export { createFiles, type Files } from "./create-files.ts";
export type { FileLimits, StoredFile } from "./file.ts";
export { listFiles, releaseOutputs } from "./file-store.ts";
export type { FormDescription, FormEntry, FormFile } from "./form-routes.ts";
export type { KeyedRequests } from "./keyed-requests.ts";
export { forgetUnarchivedBytes } from "./unarchived-bytes-store.ts";
