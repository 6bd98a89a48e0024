import type { ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { vi } from "vitest";
import { waitUntil } from "../wait-until.ts";
import { type RecordedRequest, startRecordingServer } from "./recording-server.ts";

export type WebhookReceiver = AsyncDisposable & {
  url: string;
  deliveries: readonly RecordedRequest[];
  /** The status of the next answers, in this order; 200 afterwards. */
  answerWith(...statuses: readonly number[]): void;
  waitForDeliveries(count: number): Promise<readonly RecordedRequest[]>;
};

/** A customer's server: records deliveries and answers with the scripted statuses. */
export async function startWebhookReceiver(
  answer?: (request: RecordedRequest, response: ServerResponse) => void | Promise<void>,
): Promise<WebhookReceiver> {
  const statuses: number[] = [];
  const server = await startRecordingServer(
    answer ??
      ((_request, response) => {
        response.writeHead(statuses.shift() ?? 200).end();
      }),
  );
  return {
    url: `${server.url}/`,
    deliveries: server.requests,
    answerWith: (...next) => {
      statuses.push(...next);
    },
    waitForDeliveries: (count) =>
      waitUntil(`${count} webhook deliveries`, () => server.requests.length >= count && server.requests),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The event in a request; throws if the official library rejects its signature at that time. */
export function verifyDelivery(request: RecordedRequest, secret: string, now: Date): Record<string, unknown> {
  vi.useFakeTimers({ toFake: ["Date"], now });
  try {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    return new Webhook(secret).verify(request.body.toString(), headers) as Record<string, unknown>;
  } finally {
    vi.useRealTimers();
  }
}
