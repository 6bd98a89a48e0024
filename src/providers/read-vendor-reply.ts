import { ProviderError, type ProviderErrorKind } from "./contract.ts";
import { readVendorRefusal } from "./failures/read-vendor-refusal.ts";
import type { WholeAnswer } from "./media-client.ts";
import { pickWord } from "./pick.ts";

/** How a vendor's errors are read, in addition to the general rules. */
export type VendorErrors = {
  /** Errors in replies with status 200: where their code and message are, and the codes that mean success. */
  fault?: { code: string; message: string; fine: readonly (string | number)[] };
  /** The kinds of the vendor's codes, where the general rules do not know them. */
  kinds?: readonly (readonly [code: RegExp, kind: ProviderErrorKind])[];
};

export function isRefusal({ fault }: VendorErrors, { status, body }: WholeAnswer): boolean {
  if (status >= 300) return true;
  if (fault === undefined) return false;
  const code = pickWord(body, fault.code);
  return code !== null && !fault.fine.map(String).includes(code);
}

export function readReplyError(
  { fault, kinds = [] }: VendorErrors,
  answer: WholeAnswer,
  { now, findParam }: { now: Date; findParam(field: string): string | null },
): ProviderError {
  const code = fault === undefined ? null : pickWord(answer.body, fault.code);
  const message = fault === undefined ? null : pickWord(answer.body, fault.message);
  const body = code === null && message === null ? answer.body : { error: { code, message } };
  return judgeError(
    readVendorRefusal({ ...answer, body }, { now, findParam: ({ param }) => findParam(String(param)) }),
    kinds,
  );
}

/** The kind that the vendor's own table knows for the code or the message. */
export function judgeError(error: ProviderError, kinds: NonNullable<VendorErrors["kinds"]>): ProviderError {
  const { code = "", message = "" } = (error.detail ?? {}) as { code?: string; message?: string };
  const known = kinds.find(([pattern]) => pattern.test(code) || pattern.test(message));
  return known === undefined ? error : changeKind(error, known[1]);
}

export function changeKind(
  { message, param, retryAfterMs, detail }: ProviderError,
  kind: ProviderErrorKind,
): ProviderError {
  return new ProviderError(kind, message, { param, retryAfterMs, ...(detail === undefined ? {} : { detail }) });
}
