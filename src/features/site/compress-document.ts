import { brotliCompressSync, constants, gzipSync } from "node:zlib";

type Encoding = "br" | "gzip";
type Compressed = { encoding: Encoding | null; body: Buffer | string };

type NamedDocument = {
  /** What the document is written from; a change invalidates all cached copies. */
  sources: readonly unknown[];
  /** Cache key: same sources and name, same document. */
  name: string;
  write(): string;
};

/** One document per page and theme, each compressed once. */
const documentsMax = 500;

/** Smaller documents fit into the first packet uncompressed. */
const compressedBytesMin = 1_024;

/** Compresses and caches documents without user data. */
export function createDocumentCompressor(): (document: NamedDocument, acceptedEncodings: string) => Compressed {
  let keptSources: readonly unknown[] = [];
  const kept = new Map<string, Buffer>();

  return ({ sources, name, write }, acceptedEncodings) => {
    if (sources.some((source, place) => source !== keptSources[place])) kept.clear();
    keptSources = sources;
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

/** The best level takes ten times as long, blocking the event loop, and saves 2 %. */
const quality = 5;

const brotliParams = {
  [constants.BROTLI_PARAM_QUALITY]: quality,
  [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
};
