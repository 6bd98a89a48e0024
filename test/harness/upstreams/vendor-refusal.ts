/** A vendor's rejection of an invalid request. */
export class VendorRefusal extends Error {
  override readonly name = "VendorRefusal";
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;

  constructor(message: string, { status = 400, param = null, code = null }: RefusalOptions = {}) {
    super(message);
    this.status = status;
    this.param = param;
    this.code = code;
  }
}

type RefusalOptions = { status?: number; param?: string | null; code?: string | null };

/** Refuses unless the claim holds. `param` is the field at fault. */
export function demand(claim: boolean, param: string, message: string): asserts claim {
  if (!claim) throw new VendorRefusal(message, { param });
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function demandRecord(value: unknown, param: string): Record<string, unknown> {
  demand(isRecord(value), param, `Invalid type for '${param}': expected an object.`);
  return value;
}

export function demandList(value: unknown, param: string): readonly unknown[] {
  demand(Array.isArray(value), param, `Invalid type for '${param}': expected an array.`);
  return value;
}

export function demandText(value: unknown, param: string): string {
  demand(typeof value === "string" && value !== "", param, `Invalid type for '${param}': expected a non-empty string.`);
  return value;
}

/** Refuses any defined value that is not a number within the bounds. */
export function demandRange(value: unknown, param: string, [low, high]: readonly [number, number]): void {
  const isMet = value === undefined || value === null || (typeof value === "number" && value >= low && value <= high);
  demand(isMet, param, `Invalid '${param}': expected a number between ${low} and ${high}.`);
}

/** Refuses unknown fields. */
export function demandKnownFields(record: Record<string, unknown>, known: readonly string[], where = ""): void {
  for (const field of Object.keys(record)) {
    demand(known.includes(field), `${where}${field}`, `Unrecognized request argument supplied: ${where}${field}`);
  }
}

export function demandBase64(value: unknown, param: string): void {
  demand(typeof value === "string" && isBase64(value), param, `Invalid base64 data in '${param}'.`);
}

/** Searches for an invalid character: matching megabytes of valid ones can overflow the stack. */
function isBase64(text: string): boolean {
  const [most, end] = [text.slice(0, -2), text.slice(-2)];
  return text !== "" && text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(most) && /^[A-Za-z0-9+/]*=*$/.test(end);
}

export const toolNamePattern = /^[a-zA-Z0-9_-]{1,64}$/;
