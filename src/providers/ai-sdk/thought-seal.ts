import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { isPlainObject, parseJson } from "./read-json.ts";

/**
 * What a vendor signed of its thoughts and wants to see again when a tool's result comes. OpenAI's format has no place
 * for it and gateways remember nothing, so it travels inside the id of the tool call, which callers send back unread.
 */
export type Thought = {
  /** The vendor's own fields, as its package gives and takes them. */
  marks: Record<string, string>;
  /** The text that was signed is in the message's `reasoning_content`: so many characters, with this fingerprint. */
  textLength: number;
  textFingerprint: string;
};

export type ThoughtSeal = {
  /** The id that the caller sees. Thoughts that do not fit into it are left out. */
  sealCallId(callId: string, thoughts: readonly Thought[]): string;
  /** The first part of an id, and its thoughts where they were sealed by this seal. */
  openCallId(text: string): { callId: string; thoughts: Thought[] };
};

/** Callers keep ids in places that were not made for much more. */
export const toolCallIdLengthMax = 4096;

const separator = "~";
const nonceBytes = 12;
const tagBytes = 16;
const openedBytesMax = 64 * 1024;

/**
 * Encrypted, because signatures tell whose they are: some have the model's name inside. What was made with another
 * secret, for another vendor or for another call does not open, and counts as not there.
 */
export function createThoughtSeal(parts: { secret: string; vendor: string }): ThoughtSeal {
  const key = Buffer.from(hkdfSync("sha256", parts.secret, "", `sluice thoughts ${parts.vendor}`, 32));

  function seal(callId: string, thoughts: readonly Thought[]): string {
    const rows = thoughts.map(({ marks, textLength, textFingerprint }) => [marks, textLength, textFingerprint]);
    const plain = deflateRawSync(JSON.stringify(rows));
    // The same thoughts of the same call give the same nonce and no others do, so none is ever used for two texts.
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
      // Not ours: another upstream's call in the same conversation, or an id that the caller invented.
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

/** Nobody else can write them, but an earlier version of us may have. */
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
