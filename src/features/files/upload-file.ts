import { createHash } from "node:crypto";
import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../../platform/database/database.ts";
import type { AppError } from "../../platform/errors/app-error.ts";
import type { Spool, SpooledFile } from "../../platform/storage/create-spool.ts";
import { createQuotaError, findQuota, isWithin } from "./check-usage.ts";
import type { StoredFile } from "./file.ts";
import { presentFile } from "./file-schema.ts";
import { findFile, findUsage } from "./file-store.ts";
import { anyMedia, type InspectionParts, inspectSpooled, type WantedMedia } from "./inspect-spooled.ts";
import type { KeyClaim, KeyedRequests, RememberedAnswer } from "./keyed-requests.ts";
import { createTooLarge, type FormPart, readUploadForm, type UploadForm } from "./read-upload-form.ts";
import { type StoreParts, storeFile } from "./store-file.ts";

export type UploadParts = StoreParts & InspectionParts & { spool: Spool; keyedRequests: KeyedRequests };

export type Upload = {
  accountId: AccountId;
  requestId: string;
  /** The `Idempotency-Key`. */
  key: string | null;
  /** How long the file must be at least, by what was said of the body's length. */
  bytesMin: number;
  form: AsyncIterable<FormPart>;
  /** Aborted when the caller has gone. */
  signal: AbortSignal;
};

type UploadOutcome = { kind: "stored"; file: StoredFile } | { kind: "answered"; answer: RememberedAnswer };

export type KeptUpload = {
  accountId: AccountId;
  filename: string;
  spooled: SpooledFile;
  wanted: WantedMedia;
  signal: AbortSignal;
};

const answerType = "application/json; charset=utf-8";

/** Reads an upload, finds out what it is, keeps it. Nothing of it stays behind where that fails. */
export async function uploadFile(parts: UploadParts, upload: Upload): Promise<UploadOutcome> {
  const { signal } = upload;
  const form = await readUploadForm(parts.spool, upload.form, { ...(await findRoom(parts, upload)), signal });
  try {
    if (upload.key !== null) return await storeKeyed(parts, upload, { form, key: upload.key });
    return { kind: "stored", file: await storeUpload(parts, upload, { form, signal }) };
  } finally {
    await form.spooled.remove();
  }
}

/**
 * How much may be read. A quota that is used up is told before anything is; the last word on it is spoken when the file
 * is stored. What was sent before may be among what is stored, and is answered again.
 */
async function findRoom(
  parts: UploadParts,
  { accountId, key, bytesMin }: Upload,
): Promise<{ bytesMax: number; refuse: () => AppError }> {
  const { database, clock, limits, keyedRequests } = parts;
  const quota = await findQuota(parts, database, accountId);
  const used = await findUsage(database, accountId, clock.now());
  const whole = { bytesMax: limits.uploadBytesMax, refuse: () => createTooLarge(limits.uploadBytesMax) };
  const left = quota.bytesMax - used.bytes;
  if (isWithin({ files: used.files + 1, bytes: used.bytes + Math.max(bytesMin, 1) }, quota)) {
    return left < whole.bytesMax ? { bytesMax: left, refuse: () => createQuotaError(quota) } : whole;
  }
  if (key !== null && (await keyedRequests.isKeyKnown({ accountId, key }))) return whole;
  throw createQuotaError(quota);
}

/** With a key, a caller who goes away does not end it: whoever sends it again gets the answer. */
async function storeKeyed(
  parts: UploadParts,
  upload: Upload,
  { form, key }: { form: UploadForm; key: string },
): Promise<UploadOutcome> {
  const { keyedRequests } = parts;
  const claim: KeyClaim = { accountId: upload.accountId, key, requestId: upload.requestId };
  const wanted = { ...claim, fingerprint: computeFingerprint(form) };
  let outcome = await keyedRequests.claimKey(wanted);
  if (outcome.kind === "answered" && (await isGone(parts, outcome.answer))) {
    // What the key remembers is not there any more: the upload is a new one.
    await keyedRequests.forgetAnswer(claim, outcome.answer);
    outcome = await keyedRequests.claimKey(wanted);
  }
  if (outcome.kind === "answered") return outcome;
  const stopRenewing = keyedRequests.renewClaim(claim);
  try {
    const file = await storeUpload(parts, upload, {
      form,
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

/** Whether the file that an answer tells of was deleted, or has expired. */
async function isGone({ database, clock }: UploadParts, { body }: RememberedAnswer): Promise<boolean> {
  if (body === null) return false;
  // It was written by `describeAnswer`.
  const { id } = JSON.parse(body.toString()) as { id: string };
  const file = await findFile(database, id);
  return file === null || file.expiresAt <= clock.now();
}

type Conclusion = {
  form: UploadForm;
  signal: AbortSignal;
  begin?(tx: Database): Promise<void>;
  conclude?(tx: Database, file: StoredFile): Promise<void>;
};

async function storeUpload(
  parts: UploadParts,
  { accountId }: Upload,
  { form: { filename, spooled, purpose }, ...surroundings }: Conclusion,
): Promise<StoredFile> {
  const media = await inspectSpooled(parts, spooled.path, { ...anyMedia("file"), signal: surroundings.signal });
  const id = parts.ids.next("file");
  const file = await storeFile(parts, { id, accountId, purpose, filename, spooled, media }, surroundings);
  invariant(file !== null, `${id} was not new`);
  return file;
}

/** Keeps a file that came with another request, as an upload of the account. */
export async function keepUpload(
  parts: StoreParts & InspectionParts,
  { accountId, filename, spooled, wanted, signal }: KeptUpload,
): Promise<StoredFile> {
  const media = await inspectSpooled(parts, spooled.path, { ...wanted, signal });
  const id = parts.ids.next("file");
  const file = await storeFile(parts, { id, accountId, purpose: "generation", filename, spooled, media }, { signal });
  invariant(file !== null, `${id} was not new`);
  return file;
}

/** The boundary between the parts of a form differs from try to try; what is in them does not. */
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
