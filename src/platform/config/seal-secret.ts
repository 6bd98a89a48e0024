import { createCipheriv, createDecipheriv } from "node:crypto";

const cipherName = "aes-256-gcm";
const tagBytes = 16;

export const sealNonceBytes = 12;

export type SealPlace = { key: Buffer; ownerId: string };

/** Encrypts a secret for the database. The owner is authenticated data, so it cannot be moved to another row. */
export function sealSecret({ key, ownerId }: SealPlace, secret: Buffer, nonce: Uint8Array): Buffer {
  const cipher = createCipheriv(cipherName, key, nonce).setAAD(Buffer.from(ownerId));
  const hidden = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), hidden]);
}

/** Throws if the owner or the key differs. */
export function openSecret({ key, ownerId }: SealPlace, sealed: Buffer): Buffer {
  const nonce = sealed.subarray(0, sealNonceBytes);
  const tag = sealed.subarray(sealNonceBytes, sealNonceBytes + tagBytes);
  const decipher = createDecipheriv(cipherName, key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(ownerId)).setAuthTag(tag);
  return Buffer.concat([decipher.update(sealed.subarray(sealNonceBytes + tagBytes)), decipher.final()]);
}
