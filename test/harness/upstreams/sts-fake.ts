import { type RecordedRequest, startRecordingServer } from "../servers/recording-server.ts";
import { type AwsKey, findSignatureFault } from "./aws-signature.ts";

/**
 * AWS's Security Token Service: `AssumeRole` by its Query API, with signatures that it verifies. From the API reference
 * of `AssumeRole` and its common errors.
 */
export type StsFake = AsyncDisposable & {
  url: string;
  requests: readonly RecordedRequest[];
  /** The next requests get this error; `null` accepts those that are valid. */
  refuse(name: keyof typeof refusals | null): void;
  /** Requests wait until the returned function is called. */
  hold(): () => void;
  /** Of a session that it has issued. */
  findKey(accessKeyId: string): AwsKey | undefined;
  countSessions(): number;
};

type Role = { arn: string; externalId?: string };
type StsOptions = { region: string; key: AwsKey & { accessKeyId: string }; role: Role; clock: { now(): Date } };
type Refusal = readonly [status: number, code: string, message: string];

const refusals = {
  denied: [
    403,
    "AccessDenied",
    "User: arn:aws:iam::123456789012:user/gateway is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::123456789012:role/sluice",
  ],
  key: [403, "InvalidClientTokenId", "The security token included in the request is invalid."],
  late: [403, "SignatureDoesNotMatch", "Signature expired: 20260101T000000Z is now earlier than 20260101T010000Z"],
  signature: [
    403,
    "SignatureDoesNotMatch",
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.",
  ],
  expired: [403, "ExpiredToken", "The security token included in the request is expired"],
  region: [403, "SignatureDoesNotMatch", "Credential should be scoped to a valid region. "],
  inactive: [
    403,
    "RegionDisabledException",
    "STS is not activated in this region for account:123456789012. Your account administrator can activate STS in this region using the IAM Console.",
  ],
  invalid: [400, "ValidationError", "Request ARN is invalid"],
  rate: [400, "Throttling", "Rate exceeded"],
  fault: [500, "InternalFailure", "We encountered an internal error. Please try again."],
} as const satisfies Record<string, Refusal>;

export async function startStsFake({ region, key, role, clock }: StsOptions): Promise<StsFake> {
  const sessions = new Map<string, AwsKey>();
  let refusal: keyof typeof refusals | null = null;
  let held: Promise<void> | null = null;

  function judge(request: RecordedRequest): Refusal | Record<string, string> {
    const fault = findSignatureFault(request, {
      ...{ service: "sts", region, now: clock.now() },
      findKey: (id) => (id === key.accessKeyId ? key : undefined),
    });
    if (fault !== null) return refusals[fault];
    if (refusal !== null) return refusals[refusal];
    const asked = Object.fromEntries(new URLSearchParams(String(request.body)));
    const { Action, Version, RoleArn, RoleSessionName = "", DurationSeconds, ExternalId, ...others } = asked;
    if (Action !== "AssumeRole" || Version !== "2011-06-15" || Object.keys(others).length > 0) return refusals.invalid;
    if (!/^[\w+=,.@-]{2,64}$/.test(RoleSessionName) || !/^arn:aws:iam::\d{12}:role\//.test(RoleArn ?? "")) {
      return refusals.invalid;
    }
    const seconds = Number(DurationSeconds);
    if (!(seconds >= 900 && seconds <= 3600)) return refusals.invalid;
    if (RoleArn !== role.arn || ExternalId !== role.externalId) return refusals.denied;
    const number = String(sessions.size + 1).padStart(4, "0");
    const expiresAt = clock.now().getTime() + seconds * 1000;
    const issued = {
      AccessKeyId: `ASIATESTTESTTEST${number}`,
      SecretAccessKey: `session/secret+${number}`,
      SessionToken: `FwoGZXIvYXdzEXAMPLE${number}==`,
    };
    const { AccessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken } = issued;
    sessions.set(AccessKeyId, { secretAccessKey, sessionToken, expiresAt });
    return { ...issued, Expiration: new Date(expiresAt).toISOString().replace(/\.\d{3}Z$/, "Z") };
  }

  const server = await startRecordingServer(async (request, response) => {
    await held;
    const judged = judge(request);
    const isRefused = Array.isArray(judged);
    response.writeHead(isRefused ? judged[0] : 200, { "content-type": "text/xml" });
    response.end(isRefused ? writeError(judged as unknown as Refusal) : writeSession(judged as Record<string, string>));
  });
  return {
    url: server.url,
    requests: server.requests,
    refuse(name) {
      refusal = name;
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return () => {
        held = null;
        resolve();
      };
    },
    findKey: (id) => sessions.get(id),
    countSessions: () => sessions.size,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function writeSession(fields: Record<string, string>): string {
  const credentials = Object.entries(fields).map(([name, value]) => `      <${name}>${value}</${name}>`);
  return `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleResult>
    <AssumedRoleUser>
      <AssumedRoleId>AROATESTTESTTESTTEST1:sluice</AssumedRoleId>
      <Arn>arn:aws:sts::123456789012:assumed-role/sluice/sluice</Arn>
    </AssumedRoleUser>
    <Credentials>
${credentials.join("\n")}
    </Credentials>
  </AssumeRoleResult>
  <ResponseMetadata>
    <RequestId>c6104cbe-af31-11e0-8154-cbc7ccf896c7</RequestId>
  </ResponseMetadata>
</AssumeRoleResponse>
`;
}

function writeError([status, code, message]: Refusal): string {
  return `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <Error>
    <Type>${status < 500 ? "Sender" : "Receiver"}</Type>
    <Code>${code}</Code>
    <Message>${message.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}</Message>
  </Error>
  <RequestId>4c5d6e7f-0000-4000-8000-000000000001</RequestId>
</ErrorResponse>
`;
}
