import type {
  Answer,
  Content,
  ErrorExample,
  Operation,
  OperationError,
  Parameter,
} from "../../../api/reference-document.ts";
import { resolveAnswer, type SourceContent, type SourceDocument, type SourceOperation } from "./openapi-source.ts";
import { presentBody, presentField } from "./present-fields.ts";
import { writeOperationSamples } from "./write-operation-samples.ts";

export type ErrorMeanings = ReadonlyMap<string, string>;
type Place = { method: string; path: string };

/** Longer lists in examples are truncated. */
const exampleItemsMax = 8;

export function presentOperation(
  document: SourceDocument,
  { method, path }: Place,
  source: SourceOperation,
  meanings: ErrorMeanings,
): Operation {
  const { operationId, summary, description = "", requestBody, responses } = source;
  const parameters = (source.parameters ?? []).map(presentParameter);
  const operation = {
    id: operationId,
    slug: makeSlug(operationId),
    method: method.toUpperCase(),
    path,
    summary,
    stability: source["x-stability"],
    isPaid: Object.hasOwn(responses, "402") && namesModel(source),
    description: description.split("\n\n").map((paragraph) => paragraph.replaceAll("\n", " ")),
    parameters,
    body:
      requestBody === undefined
        ? null
        : { isRequired: requestBody.required !== false, contents: presentContents(requestBody.content) },
    answers: Object.entries(responses)
      .filter(([status]) => Number(status) < 400)
      .map(([status, answer]): Answer => ({ status, contents: presentContents(answer.content ?? {}) })),
    errorExamples: listErrorExamples(document, source),
    errors: listErrors(document, source, meanings),
  };
  return { ...operation, samples: writeOperationSamples(operation, findRequest(source)) };
}

function makeSlug(operationId: string): string {
  return operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Operations with a `model` run a model and cost money. */
function namesModel({ requestBody }: SourceOperation): boolean {
  const contents = Object.values(requestBody?.content ?? {});
  return contents.some(({ schema }) => Object.hasOwn(schema?.properties ?? {}, "model"));
}

function presentParameter(parameter: NonNullable<SourceOperation["parameters"]>[number]): Parameter {
  const { in: place, name, required = false, description, schema, example } = parameter;
  const described = description === undefined ? schema : { ...schema, description };
  return {
    ...presentField(name, described, { isRequired: required }),
    place,
    ...(example === undefined ? {} : { example: String(example) }),
  };
}

function presentContents(contents: SourceContent): Content[] {
  return Object.entries(contents).map(([mediaType, { schema = {}, example }]) => ({
    mediaType,
    ...presentBody(schema),
    ...(example === undefined ? {} : { example: writeExample(example) }),
  }));
}

function writeExample(example: unknown): string {
  return typeof example === "string" ? example : JSON.stringify(shorten(example), null, 2);
}

/** Truncates vectors and the like. */
function shorten(value: unknown): unknown {
  if (Array.isArray(value)) {
    const isNumbers = value.length > exampleItemsMax && value.every((item) => typeof item === "number");
    return (isNumbers ? value.slice(0, exampleItemsMax) : value).map(shorten);
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shorten(item)]));
}

/** Error codes are the inline code of an error response's description. */
function listErrors(
  document: SourceDocument,
  { responses }: SourceOperation,
  meanings: ErrorMeanings,
): OperationError[] {
  return Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, answer]) => {
      const { description = "" } = resolveAnswer(document, answer);
      return [...description.matchAll(/`([a-z_]+)`/g)].map(([, code = ""]) => {
        const meaning = meanings.get(code);
        if (meaning === undefined) throw new Error(`The guide has no entry for the error ${code}.`);
        return { status, code, meaning };
      });
    });
}

function listErrorExamples(document: SourceDocument, { responses }: SourceOperation): ErrorExample[] {
  return Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, answer]) => {
      const example = resolveAnswer(document, answer).content?.["application/json"]?.example;
      return example === undefined ? [] : [{ status, example: writeExample(example) }];
    });
}

function findRequest({ requestBody }: SourceOperation): { mediaType: string; example: unknown } | null {
  const [content] = Object.entries(requestBody?.content ?? {});
  return content === undefined ? null : { mediaType: content[0], example: content[1].example };
}
