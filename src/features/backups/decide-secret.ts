import { fingerprintSecret } from "../../platform/config/master-key.ts";
import { OperatorError } from "../../platform/errors/operator-error.ts";

type SecretQuestion = {
  /** The fingerprint of the key that encrypts the backup's secrets; `null` if it had none yet. */
  fingerprint: string | null;
  /** The configured key, or the one in the data directory. */
  here: string | null;
  /** The key in the backup. */
  inBackup: string | null;
  /** The operator accepts losing what the old key encrypted. */
  acceptsNew: boolean;
};

/** The secret key to write into the data directory, or `null` to leave it alone. Throws if the copy would not work. */
export function decideSecret({ fingerprint, here, inBackup, acceptsNew }: SecretQuestion): string | null {
  if (fingerprint === null || acceptsNew) return null;
  if (here !== null && fingerprintSecret(here) === fingerprint) return null;
  if (here === null && inBackup !== null) return inBackup;
  throw new OperatorError(
    here === null
      ? "The backup contains no secret key, and there is none here."
      : "The secret key here is not the backup's.",
    "Put the original's secret.key into data_dir, or set secret_key. With --secrets new the copy gets a new key: stored vendor keys, the secrets of webhooks and second factors are lost then.",
  );
}
