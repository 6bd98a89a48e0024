import { brotliCompressSync, constants, gzipSync } from "node:zlib";

type Compressed = { encoding: "br" | "gzip" | null; body: Buffer | string };

/** Each page has a few documents, one for each theme, and each of them is compressed once. */
const documentsMax = 500;

/** Smaller ones fit into the first packet as they are. */
const compressedBytesMin = 1_024;

/** Compresses documents that hold nothing of their readers', and remembers them. */
export function createDocumentCompressor(): (document: string, acceptedEncodings: string) => Compressed {
  const kept = new Map<string, Buffer>();
  return (document, acceptedEncodings) => {
    const offered = acceptedEncodings.split(",").map((word) => word.trim());
    const encoding = offered.includes("br") ? "br" : offered.includes("gzip") ? "gzip" : null;
    if (encoding === null || document.length < compressedBytesMin) return { encoding: null, body: document };
    const key = `${encoding} ${document}`;
    let body = kept.get(key);
    if (body === undefined) {
      body = encoding === "br" ? brotliCompressSync(document, { params: brotliParams }) : gzipSync(document);
      if (kept.size < documentsMax) kept.set(key, body);
    }
    return { encoding, body };
  };
}

const brotliParams = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT };
