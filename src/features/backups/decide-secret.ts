import { fingerprintSecret } from "../../platform/config/master-key.ts";
import { OperatorError } from "../../platform/errors/operator-error.ts";

type SecretQuestion = {
  /** Of the key that the backup's secrets are sealed with; `null` where it had none yet. */
  fingerprint: string | null;
  /** The key that is set or lies in the data directory here. */
  here: string | null;
  /** The key that is in the backup. */
  inBackup: string | null;
  /** The operator gives up what the old key sealed. */
  acceptsNew: boolean;
};

/** The secret key to be put into the data directory; `null` where nothing is to be done. Throws where a copy would not work. */
export function decideSecret({ fingerprint, here, inBackup, acceptsNew }: SecretQuestion): string | null {
  if (fingerprint === null || acceptsNew) return null;
  if (here !== null && fingerprintSecret(here) === fingerprint) return null;
  if (here === null && inBackup !== null) return inBackup;
  throw new OperatorError(
    here === null
      ? "The backup has no secret key, and there is none here."
      : "The secret key here is not the one of the backup.",
    "Put the original's secret.key into data_dir, or set secret_key. With --secrets new the copy gets a key of its own: secrets of webhooks and of second factors are then lost.",
  );
}
