/**
 * The fields of a log line. Common fields have one name everywhere, so that a search finds all lines: `request_id`,
 * `account_id`, `key_id`, `user_id`, `task_id`, `hold_id`, `endpoint_id`, `model`, `upstream`, `upstream_model`,
 * `upstream_key`. Other names for these are type errors.
 */
export type LogFields = Record<string, unknown> & { [Name in MistakenName]?: never };

type MistakenName =
  | ("request" | "requestId" | "account" | "accountId" | "keyId" | "user" | "userId" | "task" | "taskId")
  | ("hold" | "holdId" | "endpointId" | "modelId" | "provider" | "providerId" | "key_number" | "keyNumber");

/** An error can be its own cause. */
const causesMax = 5;

/** Serializes the fields as JSON. Never throws. */
export function stringifyFields(fields: LogFields): string {
  return isPlain(fields) ? JSON.stringify(fields) : stringifyEach(fields);
}

/** Fast path for request lines, which contain only primitive values. */
function isPlain(fields: LogFields): boolean {
  for (const name in fields) {
    const value = fields[name];
    if (!isPlainValue(value) || (name === "error" && value !== undefined)) return false;
  }
  return true;
}

function isPlainValue(value: unknown): boolean {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
    case "undefined":
      return true;
    default:
      return value === null;
  }
}

/** Field by field, so that one value that cannot be serialized does not lose the line. */
function stringifyEach(fields: LogFields): string {
  const parts: string[] = [];
  for (const name of Object.keys(fields)) {
    const text = stringifyField(fields, name);
    if (text !== undefined) parts.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${parts.join(",")}}`;
}

function stringifyField(fields: LogFields, name: string): string | undefined {
  try {
    const value = fields[name];
    // Thrown values other than errors get the form of an error.
    return JSON.stringify(name === "error" && value !== undefined ? presentError(value) : value, createReplacer());
  } catch {
    return '"[unserializable]"';
  }
}

/** Presents nested errors, bigints and cycles. */
function createReplacer(): (this: unknown, name: string, value: unknown) => unknown {
  const holders: unknown[] = [];
  return function replace(_name, value) {
    if (typeof value === "bigint") return String(value);
    if (typeof value !== "object" || value === null) return value;
    while (holders.length > 0 && holders.at(-1) !== this) holders.pop();
    if (holders.includes(value)) return "[circular]";
    const presented = value instanceof Error ? presentError(value) : value;
    holders.push(presented);
    return presented;
  };
}

/**
 * The loggable part of an error. A database error's `detail` and `where` quote customers' values, so they are omitted.
 */
function presentError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  return {
    name: error.name,
    message: error.message,
    ...("code" in error ? { code: error.code } : {}),
    ...("constraint" in error ? { constraint: error.constraint } : {}),
    ...("detail" in error && error.name === "AppError" ? { detail: error.detail } : {}),
    ...(error.cause === undefined || depth >= causesMax ? {} : { cause: presentError(error.cause, depth + 1) }),
    stack: error.stack,
  };
}
