import { resolveSecret } from "../platform/config/secrets.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";

/** A signing secret of Standard Webhooks: the key has at least 24 bytes. Throws with the fix. */
export function readWebhookKey(setting: string, text: string): string {
  const secret = readSecret(setting, text);
  const [, key = ""] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  if (Buffer.from(key, "base64").length >= 24) return secret;
  throw new OperatorError(
    `${setting} has the wrong format.`,
    "Write whsec_ and at least 24 random bytes in base64: echo whsec_$(openssl rand -base64 32)",
  );
}

/** A setting's value, or that of the variable that it names. */
export function readSecret(setting: string, text: string): string {
  const value = resolveSecret(text);
  if (value !== null) return value;
  throw new OperatorError(
    `The variable of ${setting} is not set.`,
    `Set ${text.slice(2, -1)} in the environment, or remove the setting.`,
  );
}
