import { brotliCompressSync, constants, gzipSync } from "node:zlib";

type Encoding = "br" | "gzip";
type Compressed = { encoding: Encoding | null; body: Buffer | string };

type NamedDocument = {
  /** What it was written from; whatever is kept of an older one is forgotten. */
  files: object;
  /** Two documents of the same files and name are the same. */
  name: string;
  write(): string;
};

/** Each page has a few documents, one for each theme, and each of them is compressed once while it is asked for. */
const documentsMax = 500;

/** Smaller ones fit into the first packet as they are. */
const compressedBytesMin = 1_024;

/** Compresses documents that hold nothing of their readers', and remembers them. */
export function createDocumentCompressor(): (document: NamedDocument, acceptedEncodings: string) => Compressed {
  let keptFiles: object | null = null;
  const kept = new Map<string, Buffer>();

  return ({ files, name, write }, acceptedEncodings) => {
    if (files !== keptFiles) kept.clear();
    keptFiles = files;
    const offered = acceptedEncodings.split(",").map((word) => word.trim());
    const encoding = offered.includes("br") ? "br" : offered.includes("gzip") ? "gzip" : null;
    const key = `${encoding} ${name}`;
    const known = kept.get(key);
    if (encoding !== null && known !== undefined) return { encoding, body: known };
    const document = write();
    if (encoding === null || document.length < compressedBytesMin) return { encoding: null, body: document };
    const body = compress(document, encoding);
    const [oldest] = kept.keys();
    if (kept.size >= documentsMax && oldest !== undefined) kept.delete(oldest);
    kept.set(key, body);
    return { encoding, body };
  };
}

function compress(document: string, encoding: Encoding): Buffer {
  return encoding === "br" ? brotliCompressSync(document, { params: brotliParams }) : gzipSync(document);
}

/** The best one takes ten times as long, in which nobody is answered, for a fiftieth of the size. */
const quality = 5;

const brotliParams = {
  [constants.BROTLI_PARAM_QUALITY]: quality,
  [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
};
