import { AwsV4Signer } from "aws4fetch";
import type { AwsCredentials } from "./aws-credentials.ts";

type AccessKey = Extract<AwsCredentials, { kind: "access-key" }>;

type SignedRequest = {
  method: string;
  url: string;
  body: string;
  service: "bedrock" | "sts";
  region: string;
  now: Date;
};

/** The headers of a request's signature, Signature Version 4. */
export async function signAwsRequest(
  { accessKeyId, secretAccessKey, sessionToken }: AccessKey,
  { now, ...request }: SignedRequest,
): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({
    ...request,
    ...{ accessKeyId, secretAccessKey, datetime: now.toISOString().replaceAll(/[:-]|\.\d{3}/g, "") },
    ...(sessionToken === null ? {} : { sessionToken }),
  });
  return Object.fromEntries((await signer.sign()).headers);
}
