import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { deflate, inflate } from "node:zlib";
import type { AccountId } from "../../../lib/ids.ts";
import type { MasterKey } from "../../../platform/config/master-key.ts";
import { openSecret, type SealPlace, sealNonceBytes, sealSecret } from "../../../platform/config/seal-secret.ts";
import { type ContentTap, type TappedBody, tapLimits } from "../../../platform/http/tap-content.ts";
import { redactText } from "./redact-text.ts";
import type { KeptBody, KeptContent, StoredContent } from "./request-content.ts";

type ContentOwner = { accountId: AccountId; id: string };

/** Redacts, compresses and encrypts tapped bodies, and decrypts stored ones. */
export type ContentSeal = {
  seal(owner: ContentOwner, tap: ContentTap): Promise<StoredContent>;
  /** Throws if it was sealed for another request or with another key. */
  open(owner: ContentOwner, sealed: Buffer): Promise<KeptContent>;
};

const compress = promisify(deflate);
const expand = promisify(inflate);
/** Two bodies in which every character is a six-byte escape. */
const expandedBytesMax = 2 * 6 * (tapLimits.bytesMax + tapLimits.bytesBeyond);

export function createContentSeal({
  masterKey,
  randomBytes,
}: {
  masterKey: MasterKey;
  randomBytes: (count: number) => Uint8Array;
}): ContentSeal {
  // A key per account and an owner per request: sealed content cannot be moved to another request.
  const findPlace = ({ accountId, id }: ContentOwner): SealPlace => ({
    key: masterKey.derive(`request-contents ${accountId}`),
    ownerId: `${accountId} ${id}`,
  });
  return {
    async seal(owner, { request, answer }) {
      if (request.excerpt?.isLost === true || answer.excerpt?.isLost === true) return { state: "lost", sealed: null };
      const kept = keepBody(request);
      // Yield between the bodies: redacting each may take long.
      await nextTurn();
      const content: KeptContent = { request: kept, answer: keepBody(answer) };
      const bytes = await compress(JSON.stringify(content));
      return { state: "kept", sealed: sealSecret(findPlace(owner), bytes, randomBytes(sealNonceBytes)) };
    },
    async open(owner, sealed) {
      const bytes = openSecret(findPlace(owner), sealed);
      const text = await expand(bytes, { maxOutputLength: expandedBytesMax });
      // Authenticated by the seal, so our own format.
      return JSON.parse(text.toString()) as KeptContent;
    },
  };
}

/** Redacts before truncating, so that no part of a secret is left at the cut. */
function keepBody({ contentType, bytes, excerpt }: TappedBody): KeptBody {
  if (excerpt === null) return { contentType, bytes, text: null, isTruncated: false, leftOut: 0, hidden: 0 };
  const gathered = excerpt.read().toString();
  const { text, hidden } = redactText(gathered, { isEvents: contentType?.startsWith("text/event-stream") === true });
  const kept = cutText(text, tapLimits.bytesMax);
  const isTruncated = excerpt.isCut || kept.length < text.length;
  return { contentType, bytes: excerpt.bytes, text: kept, isTruncated, leftOut: excerpt.omittedBytes, hidden };
}

/** Truncates at a character boundary. */
function cutText(text: string, bytesMax: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytesMax));
  return text.slice(0, read);
}
