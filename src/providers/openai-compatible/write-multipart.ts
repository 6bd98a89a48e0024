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
 * A form with files, which are read only when they are sent. Names are ours, and need no escaping; nobody can know the
 * boundary that would end a value.
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
      yield* readFile(file);
      yield Buffer.from("\r\n");
    }
    yield Buffer.from(end);
  }

  return { contentType: `multipart/form-data; boundary=${boundary}`, length, body: write() };
}

/** The form ends with it where it is not as long as was said, so that the vendor never takes a part for the whole. */
async function* readFile({ bytes, open }: FormFile): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    for await (const chunk of await open()) {
      length += chunk.length;
      yield chunk;
    }
  } catch (error) {
    throw createUnreadable(error);
  }
  if (length !== bytes) throw createUnreadable(new Error(`It has ${length} bytes in place of ${bytes}.`));
}

/** That is no matter of the upstream's. */
function createUnreadable(cause: unknown): ProviderError {
  return new ProviderError("unreachable", "What the work starts from cannot be read.", { isIsolated: true, cause });
}
