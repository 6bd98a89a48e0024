import { createCipheriv, createDecipheriv } from "node:crypto";
import type { MasterKey } from "../../platform/config/master-key.ts";

/** Seals secrets for the database, and opens them for whoever signs. */
export type SecretBox = {
  /** A new secret, sealed for its owner: an endpoint or an account. */
  make(ownerId: string): { text: string; sealed: Buffer };
  /** The secret as customers know it. Throws where it was sealed for another owner or with another key. */
  open(ownerId: string, sealed: Buffer): string;
};

const secretPrefix = "whsec_";
const secretBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const cipherName = "aes-256-gcm";

export function createSecretBox(masterKey: MasterKey, randomBytes: (count: number) => Uint8Array): SecretBox {
  const key = masterKey.derive("webhook-secrets");
  return {
    make(ownerId) {
      const secret = Buffer.from(randomBytes(secretBytes));
      const nonce = Buffer.from(randomBytes(nonceBytes));
      // Bound to its owner, so that a row's secret cannot be put into another row.
      const cipher = createCipheriv(cipherName, key, nonce).setAAD(Buffer.from(ownerId));
      const hidden = Buffer.concat([cipher.update(secret), cipher.final()]);
      return {
        text: secretPrefix + secret.toString("base64"),
        sealed: Buffer.concat([nonce, cipher.getAuthTag(), hidden]),
      };
    },
    open(ownerId, sealed) {
      const nonce = sealed.subarray(0, nonceBytes);
      const tag = sealed.subarray(nonceBytes, nonceBytes + tagBytes);
      const decipher = createDecipheriv(cipherName, key, nonce, { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(ownerId)).setAuthTag(tag);
      const secret = Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()]);
      return secretPrefix + secret.toString("base64");
    },
  };
}
