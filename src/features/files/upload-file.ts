import { createHash } from "node:crypto";
import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import type { AppError } from "../../platform/errors/app-error.ts";
import { chooseQuota, createQuotaError, isWithin } from "./check-usage.ts";
import type { NewFile, StoreOptions } from "./create-file-storage.ts";
import type { StoredFile } from "./file.ts";
import type { FileDependencies } from "./file-dependencies.ts";
import { presentFile } from "./file-schema.ts";
import { findFile, findUsage } from "./file-store.ts";
import { anyMedia, type WantedMedia } from "./inspect-spooled.ts";
import type { KeyClaim, RememberedAnswer } from "./keyed-requests.ts";
import { createTooLarge, type FormPart, readUploadForm, type UploadForm } from "./read-upload-form.ts";

type Upload = {
  accountId: AccountId;
  requestId: string;
  /** The `Idempotency-Key`. */
  key: string | null;
  /** The file's minimum size, from the `Content-Length`. */
  bytesMin: number;
  form: AsyncIterable<FormPart>;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
};

type UploadOutcome = { kind: "stored"; file: StoredFile } | { kind: "answered"; answer: RememberedAnswer };

const answerType = "application/json; charset=utf-8";

/** Reads, inspects and stores an upload. A failure leaves nothing behind. */
export async function uploadFile(dependencies: FileDependencies, upload: Upload): Promise<UploadOutcome> {
  const { signal } = upload;
  const room = await findRoom(dependencies, upload);
  const form = await readUploadForm(dependencies.spool, upload.form, { ...room, signal });
  try {
    if (upload.key !== null) return await keepKeyed(dependencies, upload, { form, key: upload.key });
    const file = await keepUpload(dependencies, describeUpload(upload, form), { signal });
    return { kind: "stored", file };
  } finally {
    await form.spooled.remove();
  }
}

/**
 * How much may be read. An exhausted quota is rejected before reading; the final check is in the transaction that stores
 * the file. A known idempotency key passes, because its first upload may be what filled the quota.
 */
async function findRoom(
  { database, clock, limits, hasMoney, keyedRequests }: FileDependencies,
  { accountId, key, bytesMin }: Upload,
): Promise<{ bytesMax: number; refuse: () => AppError }> {
  const quota = chooseQuota(limits, await hasMoney(database, accountId));
  const used = await findUsage(database, accountId, clock.now());
  const whole = { bytesMax: limits.uploadBytesMax, refuse: () => createTooLarge(limits.uploadBytesMax) };
  const left = quota.bytesMax - used.bytes;
  if (isWithin({ files: used.files + 1, bytes: used.bytes + Math.max(bytesMin, 1) }, quota)) {
    return left < whole.bytesMax ? { bytesMax: left, refuse: () => createQuotaError(quota) } : whole;
  }
  if (key !== null && (await keyedRequests.isKeyKnown({ accountId, key }))) return whole;
  throw createQuotaError(quota);
}

/** With a key, a disconnect does not cancel the upload: a retry gets its response. */
async function keepKeyed(
  dependencies: FileDependencies,
  upload: Upload,
  { form, key }: { form: UploadForm; key: string },
): Promise<UploadOutcome> {
  const { keyedRequests } = dependencies;
  const claim: KeyClaim = { accountId: upload.accountId, key, requestId: upload.requestId };
  const wanted = { ...claim, fingerprint: computeFingerprint(form) };
  let outcome = await keyedRequests.claimKey(wanted);
  if (outcome.kind === "answered" && (await isGone(dependencies, outcome.answer))) {
    // The stored response refers to a deleted file, so this is a new upload.
    await keyedRequests.forgetAnswer(claim, outcome.answer);
    outcome = await keyedRequests.claimKey(wanted);
  }
  if (outcome.kind === "answered") return outcome;
  const stopRenewing = keyedRequests.renewClaim(claim);
  try {
    const file = await keepUpload(dependencies, describeUpload(upload, form), {
      signal: new AbortController().signal,
      begin: (tx) => keyedRequests.lockClaim(tx, claim),
      conclude: (tx, stored) => keyedRequests.keepAnswer(tx, claim, describeAnswer(stored)),
    });
    return { kind: "stored", file };
  } catch (error) {
    await keyedRequests.freeKey(claim);
    throw error;
  } finally {
    stopRenewing();
  }
}

/** Whether the file of a stored response was deleted or has expired. */
async function isGone({ database, clock }: FileDependencies, { body }: RememberedAnswer): Promise<boolean> {
  if (body === null) return false;
  // Written by `describeAnswer`.
  const { id } = JSON.parse(body.toString()) as { id: string };
  const file = await findFile(database, id);
  return file === null || file.expiresAt <= clock.now();
}

function describeUpload({ accountId }: Upload, { filename, spooled, purpose }: UploadForm): KeptUpload {
  return { accountId, purpose, filename, spooled, wanted: anyMedia("file") };
}

export type KeptUpload = Omit<NewFile, "id" | "media"> & { wanted: WantedMedia };

/** Inspects a file and stores it as an upload of the account. */
export async function keepUpload(
  { ids, inspect, storage }: FileDependencies,
  { wanted, ...upload }: KeptUpload,
  options: StoreOptions,
): Promise<StoredFile> {
  const media = await inspect(upload.spooled.path, { ...wanted, signal: options.signal });
  const id = ids.next("file");
  const file = await storage.storeFile({ ...upload, id, media }, options);
  invariant(file !== null, `${id} was not new`);
  return file;
}

/** Covers the form's contents, because multipart boundaries differ between retries. */
function computeFingerprint({ filename, spooled, purpose }: UploadForm): Buffer {
  return createHash("sha256")
    .update(`POST /v1/files\n${purpose}\n${spooled.sha256.toString("hex")}\n${filename}`)
    .digest();
}

function describeAnswer(file: StoredFile): RememberedAnswer {
  return {
    status: 200,
    contentType: answerType,
    body: Buffer.from(JSON.stringify(presentFile(file))),
    summary: `Its id is ${file.id}.`,
  };
}
