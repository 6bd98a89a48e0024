import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export type RecordedRequest = { method: string; path: string; headers: IncomingHttpHeaders; body: Buffer };

export type RecordingServer = AsyncDisposable & { url: string; requests: RecordedRequest[] };

/** A real HTTP server on loopback that records requests and answers as the test scripts it. */
export async function startRecordingServer(
  answer: (request: RecordedRequest, response: ServerResponse) => void | Promise<void>,
): Promise<RecordingServer> {
  const requests: RecordedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const request = await record(incoming);
    if (request === null) return;
    requests.push(request);
    await answer(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** `null` if the sender disconnected midway. */
async function record(incoming: IncomingMessage): Promise<RecordedRequest | null> {
  try {
    const body = await buffer(incoming);
    return { method: incoming.method ?? "", path: incoming.url ?? "", headers: incoming.headers, body };
  } catch {
    // Tests cut requests on purpose; the sender sees it too.
    return null;
  }
}
