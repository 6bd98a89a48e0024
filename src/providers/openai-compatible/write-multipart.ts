import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { ProviderError } from "../contract.ts";

export type FormFile = {
  name: string;
  filename: string;
  contentType: string;
  bytes: number;
  open(): Promise<Readable>;
};

export type Multipart = { contentType: string; length: number; body: AsyncIterable<Uint8Array> };

type FormFields = Readonly<Record<string, string | readonly string[]>>;

/**
 * A multipart form with files, which are read only when they are sent. The field names are ours and need no escaping;
 * the boundary is random, so no value can contain it.
 */
export function writeMultipart(fields: FormFields, files: readonly FormFile[]): Multipart {
  const boundary = `sluice-${randomUUID()}`;
  const open = (disposition: string): string => `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n`;
  const texts = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value) => `${open(`name="${name}"`)}\r\n${value}\r\n`),
  );
  const heads = files.map(
    ({ name, filename, contentType }) =>
      `${open(`name="${name}"; filename="${filename}"`)}content-type: ${contentType}\r\n\r\n`,
  );
  const end = `--${boundary}--\r\n`;
  const written = [...texts, ...heads, end].join("");
  const length = files.reduce((total, { bytes }) => total + bytes + "\r\n".length, Buffer.byteLength(written));

  async function* write(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(texts.join(""));
    for (const [index, file] of files.entries()) {
      yield Buffer.from(heads[index] ?? "");
      yield* readWholeFile(file);
      yield Buffer.from("\r\n");
    }
    yield Buffer.from(end);
  }

  return { contentType: `multipart/form-data; boundary=${boundary}`, length, body: write() };
}

/** Fails the request if a file has another length than declared, so that the vendor never takes a part for the whole. */
export async function* readWholeFile({ bytes, open }: Pick<FormFile, "bytes" | "open">): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    for await (const chunk of await open()) {
      length += chunk.length;
      yield chunk;
    }
  } catch (error) {
    throw createUnreadable(error);
  }
  if (length !== bytes) throw createUnreadable(new Error(`It has ${length} bytes instead of ${bytes}.`));
}

/** Not the upstream's fault. */
function createUnreadable(cause: unknown): ProviderError {
  return new ProviderError("unreachable", "An input file cannot be read.", { isIsolated: true, cause });
}
