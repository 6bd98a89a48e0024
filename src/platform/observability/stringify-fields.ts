/**
 * The fields of a line. What many lines are about has one name everywhere, so that a search for it finds all of them:
 * `request_id`, `account_id`, `key_id`, `user_id`, `task_id`, `hold_id`, `endpoint_id`, `model`, `upstream`,
 * `upstream_model`, `upstream_key`. Other names for these are errors.
 */
export type LogFields = Record<string, unknown> & { [Name in MistakenName]?: never };

type MistakenName =
  | ("request" | "requestId" | "account" | "accountId" | "keyId" | "user" | "userId" | "task" | "taskId")
  | ("hold" | "holdId" | "endpointId" | "modelId" | "provider" | "providerId" | "key_number" | "keyNumber");

/** An error can be its own cause; nobody reads further than this. */
const causesMax = 5;

/** The fields as an object of JSON, whatever their values are. */
export function stringifyFields(fields: LogFields): string {
  return isPlain(fields) ? JSON.stringify(fields) : stringifyEach(fields);
}

/** Texts and numbers alone, as in the line of a request, are best left to `JSON.stringify` as they are. */
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

/** One by one, so that a value that cannot be told does not cost the line. */
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
    // Whatever was thrown is told in the form of an error.
    return JSON.stringify(name === "error" && value !== undefined ? presentError(value) : value, createReplacer());
  } catch {
    return '"[cannot be told]"';
  }
}

/** Errors are presented wherever they are; what JSON has no form for becomes a text. */
function createReplacer(): (this: unknown, name: string, value: unknown) => unknown {
  const holders: unknown[] = [];
  return function replace(_name, value) {
    if (typeof value === "bigint") return String(value);
    if (typeof value !== "object" || value === null) return value;
    while (holders.length > 0 && holders.at(-1) !== this) holders.pop();
    if (holders.includes(value)) return "[circular]";
    const told = value instanceof Error ? presentError(value) : value;
    holders.push(told);
    return told;
  };
}

/**
 * What a log may know of an error. Messages and stacks are ours or a library's; a database error's `detail` and
 * `where` quote values that customers sent, so they stay out.
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
