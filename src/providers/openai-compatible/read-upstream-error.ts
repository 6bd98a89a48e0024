import type { Clock } from "../../lib/clock.ts";
import { openAiChatFields } from "../chat-request.ts";
import type { ProviderError } from "../contract.ts";
import { readVendorRefusal, type VendorRefusal } from "../failures/read-vendor-refusal.ts";

type ErrorContext = {
  clock: Clock;
  /** The caller's name of a vendor's field. */
  nameField?: ((field: string) => string) | undefined;
};

/** Classifies an error in OpenAI's format. */
export function readUpstreamError({ clock, nameField, ...refusal }: VendorRefusal & ErrorContext): ProviderError {
  const findParam = (param: unknown): string | null => readParam(param, nameField);
  return readVendorRefusal(refusal, {
    now: clock.now(),
    findParam: ({ param, place }) => findParam(param) ?? findParam(presentPlace(place)),
  });
}

const paramPattern = /^[a-z_]+(\[\d+\])?(\.[a-z_]+(\[\d+\])?)*$/;
const paramCharactersMax = 200;
/** Fields that callers can have set besides OpenAI's. */
const vendorFields: ReadonlySet<string> = new Set(["top_k", "min_p", "reasoning"]);

function readParam(param: unknown, nameField = (field: string) => field): string | null {
  if (typeof param !== "string" || param.length > paramCharactersMax || !paramPattern.test(param)) return null;
  const vendorsName = param.split(/[.[]/, 1)[0] ?? "";
  const field = nameField(vendorsName);
  // The model is ours.
  const isCallers = field !== "model" && (openAiChatFields.has(field) || vendorFields.has(field));
  return isCallers ? field + param.slice(vendorsName.length) : null;
}

/** Validators in Python add the variants that they tried: `["body", "messages", 0, "user", "name"]`. */
const variants: ReadonlySet<unknown> = new Set(["body", "system", "user", "assistant", "tool", "function-after"]);

function presentPlace(place: readonly unknown[]): string {
  return place
    .filter((part) => !variants.has(part))
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
    .join("")
    .slice(1);
}
