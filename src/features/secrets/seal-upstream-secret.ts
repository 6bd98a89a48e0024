import type { MasterKey } from "../../platform/config/master-key.ts";
import { openSecret, sealNonceBytes, sealSecret } from "../../platform/config/seal-secret.ts";

type Named = { name: string; version: number };

export type UpstreamSecretSeal = {
  seal(owner: Named, value: string, randomBytes: (count: number) => Uint8Array): Buffer;
  /** `null` if another key sealed it. */
  open(owner: Named, sealed: Buffer): string | null;
};

export function createUpstreamSecretSeal(masterKey: MasterKey): UpstreamSecretSeal {
  const key = masterKey.derive("upstream-secrets");
  const findPlace = ({ name, version }: Named) => ({ key, ownerId: `${name} ${version}` });
  return {
    seal: (owner, value, randomBytes) => sealSecret(findPlace(owner), Buffer.from(value), randomBytes(sealNonceBytes)),
    open(owner, sealed) {
      try {
        return openSecret(findPlace(owner), sealed).toString();
      } catch {
        // Operators see the secret as unreadable.
        return null;
      }
    },
  };
}
