import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import sharp from "sharp";

export type MediaUpstream = {
  port: number;
  /** When each prompt arrived, by this process's monotonic clock. */
  arrivals: Map<string, number>;
  close(): Promise<void>;
};

/**
 * Two vendors in one, both instant: one returns a small image synchronously, like OpenAI's API; the other, like fal's
 * queue, stays in progress.
 */
export async function startMediaUpstream(): Promise<MediaUpstream> {
  const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#246" } })
    .png()
    .toBuffer();
  const made = JSON.stringify({ created: 0, data: [{ b64_json: picture.toString("base64") }] });
  const atWork = JSON.stringify({ status: "IN_PROGRESS" });
  const arrivals = new Map<string, number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      if (request.method === "GET") return response.end(atWork);
      const { prompt } = JSON.parse(Buffer.concat(chunks).toString()) as { prompt: string };
      arrivals.set(prompt, performance.now());
      response.end(made);
    });
  });
  await new Promise<void>((listening) => server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, listening));
  return {
    port: (server.address() as AddressInfo).port,
    arrivals,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
