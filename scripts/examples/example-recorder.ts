type Operation = {
  operationId: string;
  requestBody?: { content: Record<string, { example?: unknown }> };
};
export type ApiDocument = { paths: Record<string, Record<string, Operation>> };

/** A recorded request and its responses. */
type RecordedExample = {
  path: Record<string, string>;
  query: Record<string, string>;
  request?: unknown;
  /** By status and content type. */
  responses: Record<string, Record<string, unknown>>;
};

type SentFile = { name: string; bytes: Blob };

type Call = {
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  /** JSON or form fields. Default: the OpenAPI document's example, if any. */
  body?: Record<string, unknown>;
  files?: Record<string, SentFile | readonly SentFile[]>;
  /** Records only another response; keeps the recorded request. */
  isVariant?: boolean;
  /** The maximum number of stream events to keep. */
  eventsMax?: number;
};

export type ExampleRecorder = {
  record<Answer>(operationId: string, call?: Call): Promise<Answer>;
  /** Calls an operation without recording it. */
  call<Answer>(operationId: string, call?: Call): Promise<Answer>;
  recorded: Record<string, RecordedExample>;
};

/** Calls operations by id over HTTP and records requests and responses. */
export function createExampleRecorder(
  document: ApiDocument,
  { baseUrl, key }: { baseUrl: string; key: string },
): ExampleRecorder {
  const recorded: Record<string, RecordedExample> = {};

  async function send(operationId: string, call: Call) {
    const { method, path, operation } = findOperation(document, operationId);
    const [mediaType, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [null, {}];
    const body = call.body ?? content.example;
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => call.path?.[name] ?? name);
    const query = new URLSearchParams(call.query ?? {});
    const response = await fetch(`${baseUrl}${filled}${query.size === 0 ? "" : `?${query}`}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(mediaType === "application/json" && body !== undefined ? { "content-type": mediaType } : {}),
        ...call.headers,
      },
      ...(body === undefined && call.files === undefined ? {} : { body: writeBody(mediaType, body, call.files ?? {}) }),
    });
    const type = response.headers.get("content-type")?.split(";")[0] ?? "";
    const answer = await readAnswer(response, type, call.eventsMax);
    if (!response.ok && response.status !== 304) {
      throw new Error(`${operationId} returned ${response.status}: ${JSON.stringify(answer)}`);
    }
    return { status: String(response.status), type, answer, body: nameFiles(body, call.files) };
  }

  return {
    recorded,
    call: async (operationId, call = {}) => (await send(operationId, call)).answer as never,
    async record(operationId, call = {}) {
      const { status, type, answer, body } = await send(operationId, call);
      const before = recorded[operationId];
      const example = before ?? { path: call.path ?? {}, query: call.query ?? {}, responses: {} };
      if (before === undefined || call.isVariant !== true) {
        example.path = call.path ?? {};
        example.query = call.query ?? {};
        if (body !== undefined) example.request = body;
      }
      if (isShown(type)) example.responses[status] = { ...example.responses[status], [type]: answer };
      recorded[operationId] = example;
      return answer as never;
    },
  };
}

/** Binary responses are not shown. */
function isShown(type: string): boolean {
  return type === "application/json" || type.startsWith("text/");
}

function findOperation({ paths }: ApiDocument, operationId: string) {
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId === operationId) return { method: method.toUpperCase(), path, operation };
    }
  }
  throw new Error(`The document has no operation ${operationId}.`);
}

type Files = NonNullable<Call["files"]>;

function writeBody(mediaType: string | null, body: unknown, files: Files): string | FormData {
  if (mediaType !== "multipart/form-data") return JSON.stringify(body);
  const form = new FormData();
  for (const [name, value] of Object.entries((body ?? {}) as Record<string, string>)) form.append(name, value);
  for (const [name, sent] of Object.entries(files)) {
    for (const file of [sent].flat()) form.append(name, file.bytes, file.name);
  }
  return form;
}

/** Shows form files in curl's `@name` syntax. */
function nameFiles(body: unknown, files: Files = {}): unknown {
  const write = ({ name }: SentFile): string => `@${name}`;
  const named = Object.entries(files).map(([name, sent]) => [name, "name" in sent ? write(sent) : sent.map(write)]);
  return named.length === 0 ? body : { ...(body as object), ...Object.fromEntries(named) };
}

async function readAnswer(response: Response, type: string, eventsMax?: number): Promise<unknown> {
  if (type === "application/json") return await response.json();
  if (type !== "text/event-stream") return type.startsWith("text/") ? await response.text() : await response.blob();
  let text = "";
  for await (const piece of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (eventsMax !== undefined && text.split("\n\n").length > eventsMax) break;
  }
  return eventsMax === undefined ? text : `${text.split("\n\n").slice(0, eventsMax).join("\n\n")}\n\n`;
}
