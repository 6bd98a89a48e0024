import { ApiError } from "../../api/console-api.ts";
import type { Field, Operation } from "../../api/reference-document.ts";

export type OperationInput = {
  /** Path and query parameters by name; empty ones are not sent. */
  parameters: Readonly<Record<string, string>>;
  /** JSON, or for a form the JSON of its fields. */
  body: string;
  files: Readonly<Record<string, readonly File[]>>;
};

export type OperationAnswer = {
  status: number;
  mediaType: string;
  requestId: string | null;
  headers: [string, string][];
  durationMs: number;
  /** The body so far; `null` for binary. */
  text: string | null;
  bytes: Blob | null;
  isComplete: boolean;
};

const shownHeaders = ["content-type", "x-request-id", "x-ratelimit-remaining", "retry-after", "location", "etag"];

export function listFileFields({ body }: Operation): Field[] {
  const [content] = body?.contents ?? [];
  if (content?.mediaType !== "multipart/form-data") return [];
  return content.fields.filter(({ type }) => /\bfiles?\b/.test(type));
}

/** The operation's URL in the console API, which mirrors the API's routes. */
export function writeAddress({ path, parameters }: Operation, values: OperationInput["parameters"]): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    // Model ids may contain slashes, which stay part of the path.
    (values[name] ?? "").split("/").map(encodeURIComponent).join("/"),
  );
  const query = parameters
    .filter(({ place, name }) => place === "query" && (values[name] ?? "") !== "")
    .map(({ name }) => [name, values[name] ?? ""]);
  return `/console/api${filled}${query.length === 0 ? "" : `?${new URLSearchParams(query)}`}`;
}

/** Why the input cannot be sent; `null` if it can. */
export function findMistake(operation: Operation, { parameters, body }: OperationInput): string | null {
  const missing = operation.parameters.find(
    ({ place, name, isRequired }) =>
      place !== "header" && isRequired === true && (parameters[name] ?? "").trim() === "",
  );
  if (missing !== undefined) return `Fill in ${missing.name}.`;
  if (operation.body === null || body.trim() === "") return null;
  try {
    JSON.parse(body);
    return null;
  } catch (error) {
    return `The body is not valid JSON: ${error instanceof Error ? error.message : "syntax error"}`;
  }
}

type SendOptions = { signal: AbortSignal; onProgress(answer: OperationAnswer): void };

/**
 * Sends an operation with the current session and streams its response. Error responses are shown like any other,
 * except a required reauthentication, which is thrown.
 */
export async function sendOperation(
  operation: Operation,
  input: OperationInput,
  { signal, onProgress }: SendOptions,
): Promise<void> {
  const startedAt = performance.now();
  // biome-ignore lint/style/noRestrictedGlobals: shows any response unchanged.
  const response = await fetch(writeAddress(operation, input.parameters), {
    method: operation.method,
    credentials: "same-origin",
    signal,
    ...writeBody(operation, input),
  });
  const mediaType = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
  const head = {
    status: response.status,
    mediaType,
    requestId: response.headers.get("x-request-id"),
    headers: shownHeaders.flatMap((name): [string, string][] => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  };
  const report = (rest: Pick<OperationAnswer, "text" | "bytes" | "isComplete">) =>
    onProgress({ ...head, ...rest, durationMs: performance.now() - startedAt });
  if (!/^(text\/|application\/json)/.test(mediaType)) {
    report({ text: null, bytes: await response.blob(), isComplete: true });
    return;
  }
  let text = "";
  for await (const piece of readText(response)) {
    text += piece;
    if (mediaType === "text/event-stream") report({ text, bytes: null, isComplete: false });
  }
  requireProof(response.status, text);
  report({ text: mediaType === "application/json" ? indent(text) : text, bytes: null, isComplete: true });
}

async function* readText({ body }: Response): AsyncGenerator<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) return;
    yield piece.value;
  }
}

function writeBody(operation: Operation, { body, files }: OperationInput): Pick<RequestInit, "body" | "headers"> {
  if (operation.method === "GET" || operation.method === "DELETE") return {};
  if (operation.body?.contents[0]?.mediaType !== "multipart/form-data") {
    return { headers: { "Content-Type": "application/json" }, body: body.trim() === "" ? "{}" : body };
  }
  const form = new FormData();
  for (const [name, value] of Object.entries<unknown>(JSON.parse(body.trim() === "" ? "{}" : body))) {
    form.append(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  for (const [name, chosen] of Object.entries(files)) for (const file of chosen) form.append(name, file, file.name);
  return { body: form };
}

/** Throws if the operation needs reauthentication; the page asks for it and repeats. */
function requireProof(status: number, text: string): void {
  if (status !== 403 || !text.includes('"reauthentication_required"')) return;
  throw new ApiError({
    status,
    code: "reauthentication_required",
    message: "Confirm your identity to continue: enter your password or code, or use a passkey.",
  });
}

function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Not JSON: shown unchanged.
    return text;
  }
}
