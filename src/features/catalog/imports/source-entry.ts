import type { Capability, ModelLimits, ModelType } from "../model.ts";
import type { BillingType, OwnPriceName } from "../price.ts";
import type { Decimal } from "./exact-decimal.ts";

export type AmountName = "price" | "input_price" | "output_price" | OwnPriceName;

/** The limits that the lists have. */
export type ImportedLimits = Pick<ModelLimits, "context_window" | "max_output_tokens" | "max_n">;

/** A model of a vendor's list, in the catalog's words. Amounts are the vendor's own. */
export type ImportedModel = {
  upstreamModel: string;
  name: string;
  type: ModelType;
  capabilities: Capability[];
  limits: ImportedLimits;
  price: { billing_type: BillingType; unit: string; amounts: Partial<Record<AmountName, Decimal>> };
};

/** A model, or why it cannot be imported. */
export type SourceEntry = { id: string; model: ImportedModel } | { id: string; reason: string };

export type SourceOptions = {
  /** The vendor's name in a file of many vendors. */
  vendor: string;
  /** The type and the price of models whose file has none. */
  type?: ModelType;
  price?: Decimal;
  now: Date;
};

export type Fields = Readonly<Record<string, unknown>>;

export function asFields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function readText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** A count of tokens; numbers are texts, as `parseExactJson` returns them. */
function readCount(value: unknown): number | null {
  const count = typeof value === "string" ? Number(value) : Number.NaN;
  return Number.isInteger(count) && count > 0 && count <= 1_000_000_000 ? count : null;
}

/** Parses JSON with every number as the text that was written: a price as a float would lose digits. */
export function parseExactJson(text: string): unknown {
  const keepNumbers = (_name: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === "number" ? (context?.source ?? String(value)) : value;
  return JSON.parse(text, keepNumbers);
}

export function listTokenLimits(context: unknown, output: unknown): ImportedLimits {
  const [window, max] = [readCount(context), readCount(output)];
  return {
    ...(window === null ? {} : { context_window: window }),
    // Some lists repeat the context as the output.
    ...(max === null ? {} : { max_output_tokens: window === null ? max : Math.min(max, window) }),
  };
}

/** What a chat model can do, by what its list says. */
export function listChatCapabilities(can: Partial<Record<Capability, boolean>>): Capability[] {
  const known = (["tools", "vision", "json_schema", "reasoning"] as const).filter((name) => can[name] === true);
  return ["chat", "streaming", ...known];
}
