import type { AccountId, FileId } from "../../lib/ids.ts";
import type { MediaKind } from "../../platform/media/inspection.ts";

/** Documents are what the gateway itself writes: nothing in them is a stranger's to be checked. */
export type FileKind = MediaKind | "document";

export type DocumentType = "application/json" | "text/vtt";

/** What uploads can be for: generations, whatever OpenAI's clients call it. */
export const uploadPurposes = ["generation", "vision", "user_data", "assistants"] as const;
export type UploadPurpose = (typeof uploadPurposes)[number];
/** Uploads are material for generations; outputs are what tasks made of it. */
export const filePurposes = [...uploadPurposes, "output"] as const;
export type FilePurpose = (typeof filePurposes)[number];

/** A file that was checked and whose bytes are kept until it expires or is deleted. */
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

/** What callers may store, and for how long. */
export type FileLimits = {
  uploadBytesMax: number;
  outputBytesMax: number;
  /** Of an account's uploads together; what its tasks made does not count. */
  accountFilesMax: number;
  accountBytesMax: number;
  /** The same for an account without money, so that nobody gets free storage by signing up. */
  unpaidFilesMax: number;
  unpaidBytesMax: number;
  retentionMs: number;
};
