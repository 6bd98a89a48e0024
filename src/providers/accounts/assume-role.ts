import type { Clock } from "../../lib/clock.ts";
import { readWhole } from "../../platform/net/guarded-client.ts";
import { ProviderError, type ProviderErrorKind } from "../contract.ts";
import { failureTable } from "../failures/failure-table.ts";
import { readVendorRefusal } from "../failures/read-vendor-refusal.ts";
import { createMediaClient } from "../media-client.ts";
import { judgeError } from "../read-vendor-reply.ts";
import type { AwsCredentials } from "./aws-credentials.ts";
import { signAwsRequest } from "./sign-aws-request.ts";

type AccessKey = Extract<AwsCredentials, { kind: "access-key" }>;

/** A role that calls are made as, instead of as the user whose access key is stored. */
export type AwsRole = { arn: string; externalId: string | null; region: string; stsUrl: string };

type Session = { value: AccessKey; expiresAt: number };

/** The longest that every role allows. */
const lifetimeSeconds = 3600;
/** In CloudTrail, calls have this name. */
const sessionName = "sluice";
const timeoutMs = 15_000;
const answerBytesMax = 64 * 1024;

const kinds: readonly (readonly [code: RegExp, kind: ProviderErrorKind])[] = [
  [/^(?:AccessDenied|InvalidClientTokenId|SignatureDoesNotMatch|ExpiredToken|IncompleteSignature)/, "key-refused"],
  [/^(?:Throttling|RequestLimitExceeded)/, "rate-limited"],
  [/^RegionDisabled/, "misconfigured"],
];

/** Credentials of a role, from AWS's Security Token Service. Its errors have `role` in their detail. */
export async function assumeRole(
  key: AccessKey,
  { role, clock, signal }: { role: AwsRole; clock: Clock; signal: AbortSignal },
): Promise<Session> {
  const now = clock.now();
  const { origin, pathname } = new URL(role.stsUrl);
  const body = String(
    new URLSearchParams({
      ...{ Action: "AssumeRole", Version: "2011-06-15", RoleArn: role.arn, RoleSessionName: sessionName },
      DurationSeconds: String(lifetimeSeconds),
      ...(role.externalId === null ? {} : { ExternalId: role.externalId }),
    }),
  );
  const request = { method: "POST", url: origin + pathname, body } as const;
  const signed = await signAwsRequest(key, { ...request, service: "sts", region: role.region, now });
  const client = createMediaClient({
    ...{ origin, headers: {}, connectionsMax: 1, auth: { name: "authorization", prefix: "" } },
  });
  try {
    const { status, headers, read, drop } = await client.send({
      ...{ method: "POST", path: pathname, apiKey: null, body, timeoutMs, signal },
      headers: { ...signed, "content-type": "application/x-www-form-urlencoded", accept: "text/xml" },
    });
    const text = String(await readWhole({ status, headers, read, drop }, { bytesMax: answerBytesMax }));
    if (status < 300) return readSession(text, now);
    const said = { error: { code: readElement(text, "Code"), message: readElement(text, "Message") } };
    throw judgeError(readVendorRefusal({ status, headers, body: said }, { now, findParam: () => null }), kinds);
  } catch (error) {
    throw error instanceof ProviderError ? blameRole(error, role) : error;
  } finally {
    await client.close();
  }
}

function readSession(text: string, now: Date): Session {
  const accessKeyId = readElement(text, "AccessKeyId");
  const secretAccessKey = readElement(text, "SecretAccessKey");
  const sessionToken = readElement(text, "SessionToken");
  const expiresAt = Date.parse(readElement(text, "Expiration") ?? "");
  if (accessKeyId === null || secretAccessKey === null || sessionToken === null || !(expiresAt > now.getTime())) {
    throw new ProviderError("bad-answer", "The answer of AWS STS has no credentials.");
  }
  return { value: { kind: "access-key", accessKeyId, secretAccessKey, sessionToken }, expiresAt };
}

/** The customer's request has no part in it. */
function blameRole(error: ProviderError, { arn, stsUrl }: AwsRole): ProviderError {
  const { kind, message, retryAfterMs, detail, cause } = error;
  const own = failureTable[kind].fault === "request" ? "misconfigured" : kind;
  return new ProviderError(own, message, { retryAfterMs, cause, detail: { ...detail, role: arn, stsUrl } });
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The text of the first element with this name; `null` if there is none. */
function readElement(xml: string, name: string): string | null {
  const [, text = ""] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? [];
  const decoded = text.replaceAll(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => entities[entity] ?? "").trim();
  return decoded === "" ? null : decoded;
}
