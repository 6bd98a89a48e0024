import { type ChatRequest, isNeutral, openAiChatFields } from "../../chat-request.ts";
import type { ChatObstacle } from "../../contract.ts";
import { asRecord } from "../json-value.ts";
import { adaptMessages, findMessagesObstacle } from "./adapt-messages.ts";
import type { ChatDialect, FieldTreatment } from "./chat-dialect.ts";

/** A dialect, ready for requests. Fields in `passthrough` are the operator's: they are neither checked nor changed. */
export type CompiledDialect = {
  findObstacle(request: ChatRequest, passthrough: readonly string[]): ChatObstacle | null;
  /** Changes a request for the vendor, in place. It must have no obstacle. `undefined` fields are not sent. */
  write(body: Record<string, unknown>, passthrough: readonly string[]): void;
  /** The caller's name of a vendor's field. */
  nameField(field: string): string;
};

/** Written by the adapter itself. */
const ownFields: ReadonlySet<string> = new Set([
  ...["model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens"],
]);

export function compileDialect(dialect: ChatDialect): CompiledDialect {
  const treatments = new Map(Object.entries(dialect.fields));
  const constants = Object.entries(dialect.constants ?? {});
  const callersNames = new Map(
    Object.entries(dialect.fields).flatMap(([field, treatment]) => {
      const name = typeof treatment === "object" && "as" in treatment ? treatment.as : undefined;
      return name === undefined ? [] : [[name, field] as const];
    }),
  );

  return {
    findObstacle(request, passthrough) {
      for (const field in request) {
        if (ownFields.has(field) || passthrough.includes(field)) continue;
        const obstacle = findFieldObstacle(field, request[field], treatments.get(field));
        if (obstacle !== null) return obstacle;
      }
      return findToolObstacle(request) ?? findMessagesObstacle(request.messages, dialect);
    },

    write(body, passthrough) {
      for (const field of Object.keys(body)) {
        if (ownFields.has(field) || passthrough.includes(field)) continue;
        const treatment = treatments.get(field);
        if (treatment !== undefined) writeField(body, field, treatment);
        // Only defaults are left in these.
        else if (openAiChatFields.has(field)) body[field] = undefined;
      }
      for (const [field, constant] of constants) body[field] = { ...constant, ...asRecord(body[field]) };
      body.messages = adaptMessages(body.messages as ChatRequest["messages"], dialect);
      if (dialect.needsParameters === true) body.tools = addParameters(body.tools as ChatRequest["tools"]);
    },

    nameField: (field) => callersNames.get(field) ?? field,
  };
}

/** Fields outside OpenAI's API are checked with the route, which may name them. */
function findFieldObstacle(field: string, value: unknown, treatment: FieldTreatment | undefined): ChatObstacle | null {
  if (isNeutral(field, value)) return null;
  if (treatment === undefined) {
    return openAiChatFields.has(field)
      ? { param: field, message: `This model does not support \`${field}\`. Remove it.` }
      : null;
  }
  if (treatment === "sent" || "dropped" in treatment) return null;
  const { only, listMax } = treatment;
  if (only !== undefined && !only.includes(readWord(value))) {
    return { param: field, message: `This model supports these values of \`${field}\`: ${only.join(", ")}.` };
  }
  if (listMax !== undefined && [value].flat().length > listMax) {
    return { param: field, message: `This model takes at most ${listMax} in \`${field}\`.` };
  }
  return null;
}

/** An object counts by its type: `{"type": "json_schema", …}`. */
function readWord(value: unknown): string {
  return String(asRecord(value)?.type ?? value);
}

function findToolObstacle({ tools = [] }: ChatRequest): ChatObstacle | null {
  const custom = tools.findIndex(({ type }) => type !== "function");
  return custom === -1 ? null : { param: `tools[${custom}]`, message: "This model does not support custom tools." };
}

function writeField(body: Record<string, unknown>, field: string, treatment: FieldTreatment): void {
  if (treatment === "sent") return;
  const value = body[field];
  body[field] = undefined;
  if ("dropped" in treatment || value === undefined || value === null) return;
  const { as: name = field, values = {}, instead = {}, listMax } = treatment;
  const word = readWord(value);
  if (Object.hasOwn(instead, word)) Object.assign(body, instead[word]);
  else if (Object.hasOwn(values, word)) body[name] = values[word];
  else body[name] = listMax === undefined ? value : [value].flat();
}

/** A function without parameters takes none. */
const noParameters = { type: "object", properties: {} };

function addParameters(tools: ChatRequest["tools"]): ChatRequest["tools"] {
  if (tools?.some((tool) => tool.type === "function" && tool.function.parameters === undefined) !== true) return tools;
  return tools.map((tool) =>
    tool.type === "function" ? { ...tool, function: { parameters: noParameters, ...tool.function } } : tool,
  );
}
