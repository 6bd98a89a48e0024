import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

type VendorRequest = { method: string; path: string; headers: IncomingHttpHeaders; body: unknown };

/** A reply with a status and JSON, a file's bytes, or a broken connection. */
type VendorReply = { status: number; body: unknown; headers?: Record<string, string> } | Buffer | "reset";

/** A vendor that answers each request with the next reply of its script, and records the requests. */
export type ScriptedVendor = AsyncDisposable & {
  origin: string;
  requests: VendorRequest[];
  /** Replies to the next requests, in order. */
  script(...replies: readonly VendorReply[]): void;
  /** The number of replies that nothing asked for. */
  left(): number;
};

export async function startScriptedVendor(): Promise<ScriptedVendor> {
  const requests: VendorRequest[] = [];
  const replies: VendorReply[] = [];
  const server = createServer(async (request, response) => {
    const text = String(await buffer(request));
    const { method = "", url: path = "", headers } = request;
    const isJson = String(headers["content-type"] ?? "application/json").startsWith("application/json");
    requests.push({ method, path, headers, body: text === "" ? null : isJson ? JSON.parse(text) : text });
    const reply = replies.shift();
    if (reply === undefined || reply === "reset") {
      request.socket.resetAndDestroy();
      return;
    }
    if (Buffer.isBuffer(reply)) {
      response.writeHead(200, { "content-type": "application/octet-stream" }).end(reply);
      return;
    }
    response
      .writeHead(reply.status, { "content-type": "application/json", ...reply.headers })
      .end(reply.body === undefined ? "" : JSON.stringify(reply.body));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    script: (...more) => void replies.push(...more),
    left: () => replies.length,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
