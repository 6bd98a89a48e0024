import type { AccountId, FileId } from "../../lib/ids.ts";
import type { MediaKind } from "../../platform/media/inspection.ts";

/** Documents are written by the gateway itself, so they need no inspection. */
export type FileKind = MediaKind | "document";

export type DocumentType = "application/json" | "text/vtt";

/** Accepted purposes; all mean the same, under the names OpenAI's clients use. */
export const uploadPurposes = ["generation", "vision", "user_data", "assistants"] as const;
export type UploadPurpose = (typeof uploadPurposes)[number];
/** Uploads are inputs of generations; outputs are created by tasks. */
export const filePurposes = [...uploadPurposes, "output"] as const;
export type FilePurpose = (typeof filePurposes)[number];

/** A checked file, stored until it expires or is deleted. */
export type StoredFile = {
  id: FileId;
  accountId: AccountId;
  purpose: FilePurpose;
  kind: FileKind;
  contentType: string;
  bytes: number;
  /** Hexadecimal. */
  sha256: string;
  filename: string;
  width: number | null;
  height: number | null;
  durationMs: number | null;
  createdAt: Date;
  expiresAt: Date;
  storageKey: string;
};

/** The thumbnail's storage key; it is deleted together with the file's bytes. */
export function nameThumbnail(storageKey: string): string {
  return `${storageKey}.thumbnail`;
}

/** Upload and output limits, and the retention period. */
export type FileLimits = {
  uploadBytesMax: number;
  outputBytesMax: number;
  /** All uploads of an account together; outputs do not count. */
  accountFilesMax: number;
  accountBytesMax: number;
  /** The same for an account without credit, so that signing up gives no free storage. */
  unpaidFilesMax: number;
  unpaidBytesMax: number;
  retentionMs: number;
};
