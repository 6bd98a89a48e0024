import { createHash, createHmac, hash, timingSafeEqual } from "node:crypto";
import { presentCanonically } from "../../lib/canonical-json.ts";
import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { guardDepth } from "./guard-depth.ts";
import type { QuotedTerms } from "./quotable.ts";

/** A request, as the quote and the paid endpoint see it. */
type QuotedRequest = { accountId: AccountId; path: string; body: unknown };

type PlannedTerms = Pick<QuotedTerms, "modelId" | "units" | "basis">;

export type OpenedQuote = {
  /** Returns the most that the request costs. Throws if it is planned otherwise than it was quoted. */
  cap(terms: PlannedTerms): Nano;
};

export type Quotes = {
  /** Reads the request at once: planning may change its body. */
  describe(request: QuotedRequest): Buffer;
  issue(accountId: AccountId, request: Buffer, terms: PlannedTerms & { most: Nano }): { id: string; expiresAt: Date };
  /** Throws if the id is not a quote of this account for this request, or has expired. */
  open(id: string, request: QuotedRequest): OpenedQuote;
};

const prefix = "quote_";
const version = 1;
const quoteMs = 15 * 60_000;
const digestBytes = 16;
/** Version, expiry, amount, and the digests of the request and of its terms. */
const sealedBytes = 1 + 6 + 8 + 2 * digestBytes;
const param = "X-Quote-Id";

/** Quote ids carry what they promise, sealed with a key that all gateways share. */
export function createQuotes({ key, clock }: { key: Buffer; clock: Pick<Clock, "now"> }): Quotes {
  /** The account is part of the seal only, so another account's quote looks like none. */
  const seal = (accountId: AccountId, sealed: Buffer): Buffer =>
    createHmac("sha256", key).update(`${accountId}\n`).update(sealed).digest().subarray(0, digestBytes);

  function unseal(id: string, accountId: AccountId): Buffer {
    const bytes = id.startsWith(prefix) ? Buffer.from(id.slice(prefix.length), "base64url") : Buffer.alloc(0);
    const sealed = bytes.subarray(0, sealedBytes);
    const isOurs = bytes.length === sealedBytes + digestBytes && sealed[0] === version;
    if (isOurs && timingSafeEqual(bytes.subarray(sealedBytes), seal(accountId, sealed))) return sealed;
    const message = "`X-Quote-Id` is not a quote of this account. Ask for one with `POST /v1/quote`.";
    throw new AppError("quote_not_found", message, { param });
  }

  return {
    describe: digestRequest,
    issue(accountId, request, terms) {
      const expiresAt = new Date(clock.now().getTime() + quoteMs);
      const head = Buffer.alloc(1 + 6 + 8);
      head.writeUInt8(version, 0);
      head.writeUIntBE(expiresAt.getTime(), 1, 6);
      head.writeBigUInt64BE(terms.most, 7);
      const sealed = Buffer.concat([head, request, digestTerms(terms)]);
      const id = prefix + Buffer.concat([sealed, seal(accountId, sealed)]).toString("base64url");
      return { id, expiresAt };
    },
    open(id, request) {
      const sealed = unseal(id, request.accountId);
      const expiresAt = new Date(sealed.readUIntBE(1, 6));
      if (expiresAt <= clock.now()) {
        const message = `The quote expired at ${expiresAt.toISOString()}. Ask for a new one.`;
        throw new AppError("quote_expired", message, { param });
      }
      if (!sealed.subarray(15, 15 + digestBytes).equals(digestRequest(request))) {
        const message = "The quote is for another request. Send the request as it was quoted, or ask for a new quote.";
        throw new AppError("quote_mismatch", message, { param });
      }
      const most = nano(sealed.readBigUInt64BE(7));
      const quotedTerms = sealed.subarray(15 + digestBytes);
      return {
        cap(terms) {
          if (quotedTerms.equals(digestTerms(terms))) return most;
          const message = "The model, or what the request refers to, has changed since the quote. Ask for a new one.";
          throw new AppError("quote_mismatch", message, { param });
        },
      };
    },
  };
}

function digestRequest({ path, body }: QuotedRequest): Buffer {
  const digest = createHash("sha256").update(`${path.replace(/^\/v1(?=\/)/, "")}\n`);
  const text = guardDepth(() => presentCanonically(body));
  return digest.update(text).digest().subarray(0, digestBytes);
}

function digestTerms({ modelId, units, basis = "" }: PlannedTerms): Buffer {
  return hash("sha256", `${modelId}\n${units}\n${basis}`, "buffer").subarray(0, digestBytes);
}
