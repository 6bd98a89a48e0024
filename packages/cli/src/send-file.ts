import { randomBytes, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { Readable } from "node:stream";
import type { ApiClient } from "./api-client.ts";

/** Streams a file to the server and returns its id. The idempotency key makes retries safe. */
export async function sendFile(api: ApiClient, path: string, signal: AbortSignal): Promise<string> {
  const boundary = `sluice-${randomBytes(16).toString("hex")}`;
  const { file_id } = await api.ask<{ file_id: string }>({
    method: "POST",
    path: "/files",
    headers: { "content-type": `multipart/form-data; boundary=${boundary}`, "idempotency-key": randomUUID() },
    makeBody: () => Readable.toWeb(Readable.from(writeForm(path, boundary))) as ReadableStream<Uint8Array>,
    isRepeatable: true,
    timeoutMs: 30 * 60_000,
    signal,
  });
  return file_id;
}

async function* writeForm(path: string, boundary: string): AsyncGenerator<Uint8Array> {
  const name = basename(path).replaceAll(/["\r\n]/g, "_");
  yield Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\ngeneration\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n` +
      "Content-Type: application/octet-stream\r\n\r\n",
  );
  yield* createReadStream(path);
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}
