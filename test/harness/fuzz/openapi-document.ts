/** The parts of an OpenAPI document that a client needs to call its operations. */
export type Schema = {
  type?: string | readonly string[];
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
};

export type Parameter = { in: "path" | "query" | "header"; name: string; required?: boolean; schema: Schema };
type Content = Readonly<Record<string, { schema?: Schema }>>;
type Header = { $ref: string } | { required?: boolean };
export type Answer = { content?: Content; headers?: Readonly<Record<string, Header>> };

export type Operation = {
  method: string;
  path: string;
  parameters: readonly Parameter[];
  body: { content: Content; isRequired: boolean } | null;
  answers: Readonly<Record<string, Answer>>;
  /** Whether it needs no authentication. */
  isPublic: boolean;
};

export type OpenApiDocument = {
  paths: Record<string, Record<string, WrittenOperation>>;
  components?: { headers?: Record<string, { required?: boolean }>; responses?: Record<string, Answer> };
};

type WrittenOperation = {
  parameters?: Parameter[];
  requestBody?: { content: Content; required?: boolean };
  responses: Record<string, Answer | { $ref: string }>;
  security?: readonly unknown[];
};

export function listOperations({ paths, components = {} }: OpenApiDocument): Operation[] {
  const resolve = (answer: Answer | { $ref: string }): Answer =>
    "$ref" in answer ? (components.responses?.[readReference(answer)] ?? {}) : answer;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody, responses, security }]) => ({
      method: method.toUpperCase(),
      path,
      parameters,
      body:
        requestBody === undefined ? null : { content: requestBody.content, isRequired: requestBody.required === true },
      answers: Object.fromEntries(Object.entries(responses).map(([status, answer]) => [status, resolve(answer)])),
      isPublic: security?.length === 0,
    })),
  );
}

/** The headers that an answer always has. */
export function listRequiredHeaders({ headers = {} }: Answer, { components = {} }: OpenApiDocument): string[] {
  return Object.entries(headers)
    .filter(([, header]) => {
      const named = "$ref" in header ? components.headers?.[readReference(header)] : header;
      return named?.required === true;
    })
    .map(([name]) => name);
}

function readReference({ $ref }: { $ref: string }): string {
  return $ref.split("/").at(-1) ?? "";
}
