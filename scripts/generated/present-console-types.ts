// Generates the types of the console's client from the gateway's OpenAPI document. A short generator suffices for our own
// schemas; general tools need an older TypeScript version.

type Schema = {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
};
type Media = { content?: Record<string, { schema?: Schema }> };
type Parameter = { in: string; name: string; required?: boolean; schema?: Schema };
type Operation = { parameters?: Parameter[]; requestBody?: Media; responses?: Record<string, Media> };
export type OpenApiDocument = { paths: Record<string, Record<string, Operation>> };

const writeHeading = (
  source: string,
) => `// Written by \`npm run generate\` from ${source}. Change the routes' schemas, not this file.
// The names at the top follow what openapi-fetch expects.

`;

/** Generates one type for all paths in openapi-fetch's format. */
export function presentConsoleTypes(document: OpenApiDocument, source: string): string {
  const paths = Object.entries(document.paths).map(([path, methods]) => {
    const operations = Object.entries(methods).map(
      ([method, operation]) => `${method}: ${indent(writeOperation(operation))};`,
    );
    return `${JSON.stringify(path)}: ${indent(writeBlock(operations))};`;
  });
  return `${writeHeading(source)}export type paths = ${writeBlock(paths)};\n`;
}

function writeOperation({ parameters = [], requestBody, responses = {} }: Operation): string {
  // All errors have the same shape, which the console parses in one place.
  const answers = Object.entries(responses)
    .filter(([status]) => status.startsWith("2"))
    .map(([status, answer]) => `${status}: ${indent(writeMedia(keepJson(answer)))};`);
  return writeBlock([
    `parameters: ${indent(writeParameters(parameters))};`,
    ...(requestBody === undefined ? [] : [`requestBody: ${indent(writeMedia(requestBody))};`]),
    `responses: ${indent(writeBlock(answers))};`,
  ]);
}

function writeParameters(parameters: readonly Parameter[]): string {
  const groups = Object.entries(Object.groupBy(parameters, (parameter) => parameter.in));
  return writeBlock(
    groups.map(([place, group = []]) => {
      const fields = group.map(({ name, required, schema }) =>
        writeField({ name, isRequired: required === true, schema: schema ?? {} }),
      );
      const isRequired = group.some(({ required }) => required === true);
      return `${place}${isRequired ? "" : "?"}: ${indent(writeBlock(fields))};`;
    }),
  );
}

/** Keeps only JSON: pages link to other formats instead of fetching them. */
function keepJson({ content = {} }: Media): Media {
  const json = content["application/json"];
  return json === undefined ? { content } : { content: { "application/json": json } };
}

function writeMedia({ content = {} }: Media): string {
  const kinds = Object.entries(content).map(
    ([type, { schema = {} }]) => `${JSON.stringify(type)}: ${indent(writeSchema(schema))};`,
  );
  return kinds.length === 0 ? "{ content?: never }" : `{ content: ${writeBlock(kinds)} }`;
}

function writeSchema(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(writeSchema))].join(" | ");
  if (schema.allOf !== undefined) return schema.allOf.map((part) => `(${writeSchema(part)})`).join(" & ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => writeSchema({ ...schema, type })).join(" | ");
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "number":
    case "integer":
      return "number";
    case "array":
      return `(${writeSchema(schema.items ?? {})})[]`;
    case "object":
      return writeObject(schema);
    default:
      return "unknown";
  }
}

function writeObject({ properties, required = [], additionalProperties, patternProperties = {} }: Schema): string {
  if (properties === undefined) {
    const [values] = Object.values(patternProperties);
    const rest = values ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
    return `Record<string, ${rest === undefined ? "unknown" : writeSchema(rest)}>`;
  }
  return writeBlock(
    Object.entries(properties).map(([name, schema]) =>
      writeField({ name, isRequired: required.includes(name), schema }),
    ),
  );
}

function writeField({ name, isRequired, schema }: { name: string; isRequired: boolean; schema: Schema }): string {
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
  return `${key}${isRequired ? "" : "?"}: ${indent(writeSchema(schema))};`;
}

function writeBlock(lines: readonly string[]): string {
  return lines.length === 0 ? "Record<never, never>" : `{\n${lines.map((line) => `  ${line}\n`).join("")}}`;
}

/** Indents all lines but the first. */
function indent(text: string): string {
  return text.replaceAll("\n", "\n  ");
}
