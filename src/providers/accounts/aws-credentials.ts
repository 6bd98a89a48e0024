import { asRecord, parseJson } from "../openai-compatible/json-value.ts";

/** How calls to AWS are authorized: by a Bedrock API key, or signed with an access key. */
export type AwsCredentials =
  | { kind: "api-key"; apiKey: string }
  | { kind: "access-key"; accessKeyId: string; secretAccessKey: string; sessionToken: string | null };

/** An API key never has the form of an access key's id. */
const accessKeyId = /^A(?:KIA|SIA)[0-9A-Z]{16}/;

/**
 * A secret with AWS credentials: an API key, or JSON as the AWS command line prints it (`configure export-credentials`,
 * `iam create-access-key`, `sts assume-role`). `null` if it is neither.
 */
export function parseAwsCredentials(text: string): AwsCredentials | null {
  const record = asRecord(parseJson(text));
  if (record === null) {
    return /^[\x21-\x7e]+$/.test(text) && !accessKeyId.test(text) ? { kind: "api-key", apiKey: text } : null;
  }
  const keys = asRecord(record.Credentials) ?? asRecord(record.AccessKey) ?? record;
  const { AccessKeyId: id, SecretAccessKey: secret, SessionToken: sessionToken = null } = keys;
  if (!isText(id) || !isText(secret) || !(sessionToken === null || isText(sessionToken))) return null;
  return { kind: "access-key", accessKeyId: id, secretAccessKey: secret, sessionToken };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
