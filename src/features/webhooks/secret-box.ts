import type { MasterKey } from "../../platform/config/master-key.ts";
import { openSecret, sealNonceBytes, sealSecret } from "../../platform/config/seal-secret.ts";

/** Encrypts secrets for the database, and decrypts them for signing. */
export type SecretBox = {
  /** Creates a secret, sealed for its owner: an endpoint or an account. */
  make(ownerId: string): { text: string; sealed: Buffer };
  /** The secret as customers see it. Throws if it was sealed for another owner or with another key. */
  open(ownerId: string, sealed: Buffer): string;
};

const secretPrefix = "whsec_";
const secretBytes = 32;

export function createSecretBox(masterKey: MasterKey, randomBytes: (count: number) => Uint8Array): SecretBox {
  const key = masterKey.derive("webhook-secrets");
  return {
    make(ownerId) {
      const secret = Buffer.from(randomBytes(secretBytes));
      const sealed = sealSecret({ key, ownerId }, secret, randomBytes(sealNonceBytes));
      return { text: secretPrefix + secret.toString("base64"), sealed };
    },
    open: (ownerId, sealed) => secretPrefix + openSecret({ key, ownerId }, sealed).toString("base64"),
  };
}
