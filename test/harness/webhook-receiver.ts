import { type RecordedRequest, startRecordingServer } from "./recording-server.ts";
import { waitUntil } from "./wait-until.ts";

export type WebhookReceiver = AsyncDisposable & {
  url: string;
  deliveries: readonly RecordedRequest[];
  /** The status of the next answers, in this order; 200 afterwards. */
  answerWith(...statuses: readonly number[]): void;
  waitForDeliveries(count: number): Promise<readonly RecordedRequest[]>;
};

/** Stands in for a customer's server: records what is delivered and answers as told. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const statuses: number[] = [];
  const server = await startRecordingServer((_request, response) => {
    response.writeHead(statuses.shift() ?? 200).end();
  });
  return {
    url: server.url,
    deliveries: server.requests,
    answerWith: (...next) => {
      statuses.push(...next);
    },
    waitForDeliveries: (count) =>
      waitUntil(`${count} webhook deliveries`, () => server.requests.length >= count && server.requests),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
