import { createHash, createHmac } from "node:crypto";
import type { RecordedRequest } from "../servers/recording-server.ts";

export type AwsKey = { secretAccessKey: string; sessionToken?: string | undefined; expiresAt?: number };

type Verifier = {
  service: "bedrock" | "sts";
  region: string;
  /** By the id of an access key. */
  findKey(accessKeyId: string): AwsKey | undefined;
  /** Whether the signature must be of now. */
  now?: Date;
};

const skewMsMax = 5 * 60_000;

/** What AWS finds wrong with a signature (Signature Version 4); `null` if nothing. From the IAM guide on signing. */
export function findSignatureFault(
  { method, path, headers, body }: RecordedRequest,
  { service, region, findKey, now }: Verifier,
): "key" | "region" | "expired" | "late" | "signature" | null {
  const [, id = "", date = "", givenRegion, givenService, names = "", signature] =
    /^AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/([\w-]+)\/(\w+)\/aws4_request, SignedHeaders=([\w;-]+), Signature=(\w{64})$/.exec(
      headers.authorization ?? "",
    ) ?? [];
  const key = findKey(id);
  if (key === undefined) return "key";
  if (givenRegion !== region || givenService !== service) return "region";
  const isEnded = key.expiresAt !== undefined && now !== undefined && key.expiresAt <= now.getTime();
  if (isEnded || headers["x-amz-security-token"] !== key.sessionToken) return "expired";
  const signed = names.split(";");
  const sentAt = String(headers["x-amz-date"]);
  const mustSign = ["host", ...Object.keys(headers).filter((name) => name.startsWith("x-amz-"))];
  const isComplete = mustSign.includes("x-amz-date") && mustSign.every((name) => signed.includes(name));
  if (!isComplete || signed.join() !== signed.toSorted().join() || !sentAt.startsWith(date)) return "signature";
  if (now !== undefined && Math.abs(readMoment(sentAt) - now.getTime()) > skewMsMax) return "late";
  const canonical = [
    method,
    // The path is encoded once more than it is sent.
    path.split("/").map(encodeURIComponent).join("/"),
    "",
    ...signed.map((name) => `${name}:${String(headers[name]).trim()}`),
    "",
    names,
    sha256(body),
  ].join("\n");
  const scope = `${date}/${region}/${service}/aws4_request`;
  const signingKey = [date, region, service, "aws4_request"].reduce(
    (secret: Buffer, part) => hmac(secret, part),
    Buffer.from(`AWS4${key.secretAccessKey}`),
  );
  const expected = hmac(signingKey, ["AWS4-HMAC-SHA256", sentAt, scope, sha256(canonical)].join("\n")).toString("hex");
  return signature === expected ? null : "signature";
}

/** `20261119T081500Z`. */
function readMoment(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, "$1-$2-$3:$4:$5"));
}

function sha256(text: string | Buffer): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
