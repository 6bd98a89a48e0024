import { Readable } from "node:stream";
import { BedrockRuntimeClient } from "@aws-sdk/client-bedrock-runtime";

type Account = { region: string; accessKeyId: string; secretAccessKey: string };

/** AWS's own client, which signs as AWS requires. */
export function connectBedrock(endpoint: string, { region, ...credentials }: Account): BedrockRuntimeClient {
  return new BedrockRuntimeClient({
    ...{ region, endpoint, credentials, maxAttempts: 1, authSchemePreference: ["sigv4"] },
    requestHandler: { handle: sendOverHttp1 },
  });
}

/** The client speaks HTTP/2 by default, the fake only HTTP/1.1. */
async function sendOverHttp1(request: {
  method: string;
  hostname: string;
  port?: number;
  path: string;
  headers: Record<string, string>;
  body?: NonNullable<Parameters<typeof fetch>[1]>["body"];
}) {
  const { method, hostname, port, path, headers, body } = request;
  const answer = await fetch(`http://${hostname}:${port}${path}`, { method, headers, body: body ?? null });
  const stream =
    answer.body === null ? Readable.from([]) : Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]);
  return { response: { statusCode: answer.status, headers: Object.fromEntries(answer.headers), body: stream } };
}
