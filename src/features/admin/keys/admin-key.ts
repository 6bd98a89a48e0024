import { hash } from "node:crypto";
import type { AdminKeyId } from "../../../lib/ids.ts";
import type { AdminAccess, AdminScope } from "../edge/admin-endpoint-table.ts";

/** A stored admin key. Its secret is not stored, only its hash. */
export type AdminKey = {
  id: AdminKeyId;
  name: string;
  lastFour: string;
  access: AdminAccess;
  scopes: readonly AdminScope[];
  createdBy: string;
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
};

export const adminKeyPrefix = "sk-adm-";

/** 240 bits: no dictionary to try, so a plain hash suffices. */
const randomBytesCount = 30;

export function createAdminKeyText(randomBytes: (count: number) => Uint8Array): string {
  return adminKeyPrefix + Buffer.from(randomBytes(randomBytesCount)).toString("base64url");
}

export function hashAdminKey(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
