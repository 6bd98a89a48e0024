import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createApiClient } from "./api-client.ts";
import { CliError } from "./cli-error.ts";
import { parseUrl } from "./site-address.ts";
import type { TaskOutput } from "./task-answer.ts";
import type { Terminal } from "./terminal.ts";

const downloadsMax = 3;
const diskCodes = ["EACCES", "EDQUOT", "EEXIST", "EFBIG", "ENOENT", "ENOSPC", "ENOTDIR", "EPERM", "EROFS"];

/** Downloads into a new file and verifies its size and SHA-256. Retries a corrupt download. */
export async function fetchOutput(
  output: TaskOutput,
  path: string,
  { terminal, signal }: { terminal: Terminal; signal: AbortSignal },
): Promise<void> {
  if (parseUrl(output.url) === null) throw new CliError("The server returned an invalid download URL.");
  // The URL is signed, so the key is not sent.
  const client = createApiClient({ baseUrl: output.url, key: null, onRetry: terminal.tell });
  for (let attempt = 1; attempt <= downloadsMax; attempt += 1) {
    const response = await client.open({ method: "GET", path: "", signal });
    const received = await receive(response, path, { bytesMax: output.bytes, signal });
    if (received?.bytes === output.bytes && received.sha256 === output.sha256) return;
    terminal.tell("The download is incomplete or corrupt.");
  }
  throw new CliError("Cannot download the complete result.", { remedy: "Try again: sluice tasks download <id>" });
}

/** `null` if the connection was lost. */
async function receive(
  response: Response,
  path: string,
  { bytesMax, signal }: { bytesMax: number; signal: AbortSignal },
): Promise<{ bytes: number; sha256: string } | null> {
  const hash = createHash("sha256");
  let bytes = 0;
  async function* look(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new Error("The download is larger than announced.");
      hash.update(chunk);
      yield chunk;
    }
  }
  try {
    await pipeline(Readable.from(response.body ?? []), look, createWriteStream(path, { mode: 0o666 }), { signal });
    return { bytes, sha256: hash.digest("hex") };
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof Error && "code" in error && diskCodes.includes(String(error.code))) {
      throw new CliError(`Cannot write the result: ${error.message}`, { cause: error });
    }
    return null;
  }
}
