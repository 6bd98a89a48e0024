/** The subset of JSON Schema that the document uses. */
export type Schema = {
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: unknown[];
  default?: unknown;
  examples?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
};

export type SourceContent = Record<string, { schema?: Schema; example?: unknown }>;
type SourceAnswer = { $ref?: string; description?: string; content?: SourceContent };

export type SourceOperation = {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  "x-stability": string;
  parameters?: {
    in: "path" | "query" | "header";
    name: string;
    required?: boolean;
    description?: string;
    schema: Schema;
    example?: unknown;
  }[];
  requestBody?: { required?: boolean; content: SourceContent };
  responses: Record<string, SourceAnswer>;
};

/** The subset of OpenAPI that the reference shows. */
export type SourceDocument = {
  paths: Record<string, Record<string, SourceOperation>>;
  components: { responses: Record<string, SourceAnswer> };
};

/** Resolves a `$ref` to a response. */
export function resolveAnswer(document: SourceDocument, answer: SourceAnswer): SourceAnswer {
  if (answer.$ref === undefined) return answer;
  const found = document.components.responses[answer.$ref.replace("#/components/responses/", "")];
  if (found === undefined) throw new Error(`The OpenAPI document has no ${answer.$ref}.`);
  return found;
}
