import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { isPlainObject, parseJson } from "./read-json.ts";

/**
 * A vendor's signed reasoning, which it wants back with a tool's result. OpenAI's format has no field for it and
 * gateways are stateless, so it travels encrypted in the tool call's id, which callers send back unread.
 */
export type Thought = {
  /** The vendor's own fields, as its package returns and expects them. */
  marks: Record<string, string>;
  /** The signed text is in the message's `reasoning_content`: this many characters, with this fingerprint. */
  textLength: number;
  textFingerprint: string;
};

export type ThoughtSeal = {
  /** The id for the caller. Reasoning that does not fit is dropped. */
  sealCallId(callId: string, thoughts: readonly Thought[]): string;
  /** The original id, and its reasoning if this seal can decrypt it. */
  openCallId(text: string): { callId: string; thoughts: Thought[] };
};

/** Callers store ids in fields that may not hold more. */
export const toolCallIdLengthMax = 4096;

const separator = "~";
const nonceBytes = 12;
const tagBytes = 16;
const openedBytesMax = 64 * 1024;

/**
 * Encrypted, because signatures reveal the vendor: some contain the model's name. Data made with another secret, for
 * another vendor or another call does not decrypt and is ignored.
 */
export function createThoughtSeal(parts: { secret: string; vendor: string }): ThoughtSeal {
  const key = Buffer.from(hkdfSync("sha256", parts.secret, "", `sluice thoughts ${parts.vendor}`, 32));

  function seal(callId: string, thoughts: readonly Thought[]): string {
    const rows = thoughts.map(({ marks, textLength, textFingerprint }) => [marks, textLength, textFingerprint]);
    const plain = deflateRawSync(JSON.stringify(rows));
    // The nonce is derived from the call and the text, so none is ever used for two texts.
    const nonce = createHmac("sha256", key).update(callId).update(plain).digest().subarray(0, nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(callId));
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString("base64url");
  }

  function open(callId: string, sealed: string): Thought[] {
    const bytes = Buffer.from(sealed, "base64url");
    if (bytes.length <= nonceBytes + tagBytes) return [];
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes));
      decipher.setAAD(Buffer.from(callId)).setAuthTag(bytes.subarray(-tagBytes));
      const plain = Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]);
      return parseThoughts(inflateRawSync(plain, { maxOutputLength: openedBytesMax }).toString());
    } catch {
      // Not ours: another upstream's call in the same conversation, or an invented id.
      return [];
    }
  }

  return {
    sealCallId(callId, thoughts) {
      if (thoughts.length === 0) return callId;
      const text = `${callId}${separator}${seal(callId, thoughts)}`;
      return text.length > toolCallIdLengthMax ? callId : text;
    },
    openCallId(text) {
      const end = text.indexOf(separator);
      if (end === -1 || text.length > toolCallIdLengthMax) return { callId: text, thoughts: [] };
      const callId = text.slice(0, end);
      return { callId, thoughts: open(callId, text.slice(end + 1)) };
    },
  };
}

export function fingerprintThought(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 11);
}

/** Authenticated, but maybe written by an earlier version. */
function parseThoughts(text: string): Thought[] {
  const rows = parseJson(text);
  if (!Array.isArray(rows)) return [];
  return rows.flatMap((row: unknown) => {
    const [marks, textLength, textFingerprint] = Array.isArray(row) ? row : [];
    if (!isPlainObject(marks) || typeof textLength !== "number" || typeof textFingerprint !== "string") return [];
    const texts = Object.entries(marks).filter((entry): entry is [string, string] => typeof entry[1] === "string");
    return [{ marks: Object.fromEntries(texts), textLength, textFingerprint }];
  });
}
