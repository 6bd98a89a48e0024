import { createHash } from "node:crypto";

/** The time of all examples. */
const shownAt = Date.parse("2026-11-17T09:00:00Z");
const graceMs = 5 * 60_000;
const dayMs = 24 * 60 * 60_000;
const yearMs = 366 * dayMs;
const itemsMax = 2;
const numbersMax = 8;
const shownMs = 420;

const idPattern = /\b([a-z]{2,9})([_-])[0-9a-z]{26}(?![0-9a-z])/g;
const timePattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const secretPattern = /\bwhsec_[A-Za-z0-9+/=]+/g;
const quotePattern = /\bquote_[\w-]{40,}/g;
const signaturePattern = /signature=[\w-]+|\bv1,[\w+/=]{40,}/g;
const hashPattern = /\b[0-9a-f]{32,64}\b/g;

type Recording = { startedAt: Date; receiverUrl: string };

/**
 * Makes a recording reproducible: moves all times to one moment, replaces ids, hashes and signatures in order of
 * appearance, and cuts long lists.
 */
export function evenOut(recorded: unknown, { startedAt, receiverUrl }: Recording): unknown {
  const known = new Map<string, string>();
  const started = startedAt.getTime();

  const replace = (kind: string, met: string, write: (digest: Buffer) => string): string => {
    const made = known.get(met) ?? write(createHash("sha256").update(`${kind}${known.size}`).digest());
    known.set(met, made);
    return made;
  };
  /** Moves times within the recording to one moment. */
  const moveTime = (ms: number): number => {
    // Midnight stays midnight.
    if (ms % dayMs === 0) return ms + Math.floor(shownAt / dayMs) * dayMs - Math.floor(started / dayMs) * dayMs;
    return shownAt + Math.floor((ms - started + graceMs / 2) / graceMs) * graceMs;
  };
  const isRecent = (ms: number): boolean => Math.abs(ms - started) < yearMs;

  const evenText = (text: string): string =>
    text
      .replaceAll(receiverUrl, "https://example.com")
      .replaceAll(timePattern, (time) => new Date(moveTime(Date.parse(time))).toISOString().replace(".000Z", "Z"))
      .replaceAll(/\b(\d{10})\b/g, (seconds) =>
        isRecent(Number(seconds) * 1000) ? String(moveTime(Number(seconds) * 1000) / 1000) : seconds,
      )
      .replaceAll(secretPattern, (met) => replace("whsec", met, (digest) => `whsec_${digest.toString("base64")}`))
      .replaceAll(quotePattern, (met) => replace("quote", met, (digest) => `quote_${digest.toString("base64url")}`))
      .replaceAll(signaturePattern, (met) =>
        replace("signature", met, (digest) =>
          met.startsWith("v1,") ? `v1,${digest.toString("base64")}` : `signature=${digest.toString("base64url")}`,
        ),
      )
      .replaceAll(hashPattern, (met) => replace("hash", met, (digest) => digest.toString("hex").slice(0, met.length)))
      .replaceAll(idPattern, (met, prefix: string, mark: string) =>
        replace(prefix, met, (digest) => `${prefix}${mark}01kh2n8v7m${writeLetters(digest).slice(0, 16)}`),
      );

  const even = (value: unknown, name = ""): unknown => {
    if (typeof value === "string") return evenText(value);
    if (typeof value === "number") {
      if (/(_ms|^p\d+)$/.test(name)) return shownMs;
      return Number.isInteger(value) && isRecent(value * 1000) ? moveTime(value * 1000) / 1000 : value;
    }
    if (Array.isArray(value)) {
      const isNumbers = value.every((item) => typeof item === "number");
      return value.slice(0, isNumbers ? numbersMax : itemsMax).map((item) => even(item, name));
    }
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([field, item]) => [evenText(field), even(item, field)]));
  };
  return even(recorded);
}

/** The alphabet of ids: no i, l, o or u. */
function writeLetters(digest: Buffer): string {
  return [...digest].map((byte) => "0123456789abcdefghjkmnpqrstvwxyz"[byte % 32]).join("");
}
