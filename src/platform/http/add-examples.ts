import { errorTable } from "../errors/error-table.ts";

/** A recorded request to an operation and its responses. */
export type OperationExample = {
  path: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  request?: unknown;
  /** By status and content type. */
  responses: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

type Content = Record<string, { example?: unknown; schema?: ErrorSchema }>;
type Parameter = { in: string; name: string; example?: unknown };
type Operation = {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, { content?: Content }> };
};

type ErrorSchema = {
  properties?: {
    type?: object;
    error?: { properties?: { type?: { examples?: string[] }; code?: { examples?: string[] } } };
  };
};

const exampleRequestId = "req_01kh2n8v7m3q5x9d4c6b8a0e2f";

/** Adds the recorded examples and an example of each error to an OpenAPI document. */
export function addExamples<Written extends object>(
  written: Written,
  examples: Readonly<Record<string, OperationExample>>,
): Written {
  const document = written as Written & Document;
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    const example = examples[operation.operationId];
    if (example !== undefined) exemplify(operation, example);
  }
  for (const { content = {} } of Object.values(document.components.responses)) {
    for (const media of Object.values(content)) media.example = presentErrorExample(media.schema ?? {});
  }
  return document;
}

function exemplify({ parameters = [], requestBody, responses }: Operation, example: OperationExample): void {
  for (const parameter of parameters) {
    const value = { path: example.path, query: example.query }[parameter.in]?.[parameter.name];
    if (value !== undefined) parameter.example = value;
  }
  for (const media of Object.values(requestBody?.content ?? {})) {
    if (example.request !== undefined) media.example = example.request;
  }
  for (const [status, { content = {} }] of Object.entries(responses)) {
    for (const [type, media] of Object.entries(content)) {
      const answer = example.responses[status]?.[type];
      if (answer !== undefined) media.example = answer;
    }
  }
}

function presentErrorExample({ properties = {} }: ErrorSchema): unknown {
  const { type, code } = properties.error?.properties ?? {};
  const [shown = ""] = code?.examples ?? [];
  const entry = Object.entries<{ wireCode?: string; meaning: string }>(errorTable).find(
    ([name, { wireCode = name }]) => wireCode === shown,
  );
  return {
    ...(properties.type === undefined ? {} : { type: "error" }),
    error: { message: entry?.[1].meaning ?? "", type: type?.examples?.[0] ?? "", param: null, code: shown },
    request_id: exampleRequestId,
  };
}
