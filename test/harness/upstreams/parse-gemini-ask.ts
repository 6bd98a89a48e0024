import type { Ask, OfferedTool } from "./answer-plan.ts";
import {
  demand,
  demandBase64,
  demandKnownFields,
  demandList,
  demandRange,
  demandRecord,
  demandText,
  isRecord,
  toolNamePattern,
} from "./vendor-refusal.ts";
import { countInputTokens } from "./vendor-wire.ts";

const knownFields = [
  ..."cachedContent contents generationConfig labels safetySettings serviceTier store".split(" "),
  ..."systemInstruction toolConfig tools".split(" "),
];
const knownConfigFields = [
  ..."audioTimestamp candidateCount enableEnhancedCivicAnswers frequencyPenalty imageConfig logprobs".split(" "),
  ..."maxOutputTokens mediaResolution presencePenalty responseFormat responseJsonSchema responseLogprobs".split(" "),
  ..."responseMimeType responseModalities responseSchema seed speechConfig stopSequences temperature".split(" "),
  ..."thinkingConfig topK topP".split(" "),
];
const partKinds = ["text", "inlineData", "fileData", "functionCall", "functionResponse"];
const partExtras = ["thought", "thoughtSignature", "videoMetadata", "mediaResolution"];

/**
 * Sent with every function call of the newer models, and must be sent back with it, or Google's own placeholder
 * instead.
 */
export const callSignature = "c2lnbmVkLWZ1bmN0aW9uLWNhbGw=";
const signatureExcuse = "skip_thought_signature_validator";

const outputTokensDefault = 8192;

type Turn = { role: "user" | "model"; parts: readonly Record<string, unknown>[] };

/** Validates like Gemini. */
export function parseGeminiAsk(value: unknown, { model, isStreamed }: { model: string; isStreamed: boolean }): Ask {
  const body = demandRecord(value, "body");
  demandKnownFields(body, knownFields);
  const turns = demandList(body.contents, "contents").map((turn, at) => parseTurn(turn, `contents[${at}]`));
  demand(turns.length > 0, "contents", "* GenerateContentRequest.contents: contents is not specified");
  checkFunctionTurns(turns, { areCallsSigned: /gemini-3/.test(model) });
  if (body.systemInstruction !== undefined) parseParts(body.systemInstruction, "systemInstruction");
  const config = demandRecord(body.generationConfig ?? {}, "generationConfig");
  checkConfig(config);
  const tools = parseTools(body.tools);
  const results = (turns.at(-1)?.parts ?? []).filter(({ functionResponse }) => isRecord(functionResponse));
  return {
    model,
    isStreamed,
    prompt: readText(turns.findLast((turn) => turn.role === "user" && readText(turn) !== "")),
    toolResult: results.length === 0 ? null : results.map(readResponse).join(" "),
    inputTokens: countInputTokens(body.systemInstruction, body.contents, body.tools),
    outputTokensMax: Number(config.maxOutputTokens ?? outputTokensDefault),
    choiceCount: Number(config.candidateCount ?? 1),
    stopSequences: demandList(config.stopSequences ?? [], "generationConfig.stopSequences").map(String),
    tools,
    toolChoice: parseToolChoice(body.toolConfig, tools),
    isParallel: true,
    wantsThinking: isRecord(config.thinkingConfig) && config.thinkingConfig.includeThoughts === true,
    jsonSchema: parseJsonSchema(config),
    logprobCount: null,
    wantsStreamUsage: true,
  };
}

function parseTurn(value: unknown, at: string): Turn {
  const { role } = demandRecord(value, at);
  demand(role === "user" || role === "model", `${at}.role`, "Please use a valid role: user, model.");
  return { role, parts: parseParts(value, at) };
}

function parseParts(value: unknown, at: string): Record<string, unknown>[] {
  const parts = demandList(demandRecord(value, at).parts, `${at}.parts`);
  demand(parts.length > 0, `${at}.parts`, `* GenerateContentRequest.${at}.parts: contents.parts must not be empty.`);
  return parts.map((part, position) => {
    const record = demandRecord(part, `${at}.parts[${position}]`);
    checkPart(record, `${at}.parts[${position}]`);
    return record;
  });
}

function checkPart(part: Record<string, unknown>, at: string): void {
  demandKnownFields(part, [...partKinds, ...partExtras], `${at}.`);
  const [kind = "", ...others] = partKinds.filter((field) => part[field] !== undefined);
  demand(
    kind !== "" && others.length === 0,
    at,
    `${at}.data: required oneof field 'data' must have one initialized field`,
  );
  if (kind === "text") demand(typeof part.text === "string", at, `Invalid value at '${at}.text'`);
  else partChecks[kind]?.(demandRecord(part[kind], `${at}.${kind}`), `${at}.${kind}`);
}

const partChecks: Record<string, (content: Record<string, unknown>, at: string) => void> = {
  inlineData({ mimeType, data }, at) {
    demandText(mimeType, `${at}.mimeType`);
    demandBase64(data, `${at}.data`);
  },
  fileData({ fileUri }, at) {
    demand(/^(https?|gs):\/\//.test(String(fileUri)), at, `Invalid or unsupported file uri at '${at}'`);
  },
  functionResponse({ response, name }, at) {
    demandRecord(response, `${at}.response`);
    demandText(name, `${at}.name`);
  },
  functionCall({ args, name }, at) {
    demandRecord(args ?? {}, `${at}.args`);
    demandText(name, `${at}.name`);
  },
};

/** A turn with function calls is followed by one with as many responses, of the same names and ids. */
function checkFunctionTurns(turns: readonly Turn[], { areCallsSigned }: { areCallsSigned: boolean }): void {
  let calls: Record<string, unknown>[] = [];
  for (const [position, { role, parts }] of turns.entries()) {
    const at = `contents[${position}]`;
    const responses = parts.flatMap(({ functionResponse }) => (isRecord(functionResponse) ? [functionResponse] : []));
    const text =
      "Please ensure that the number of function response parts is equal to the number of function call parts.";
    demand(responses.length === calls.length, at, text);
    for (const { name, id } of responses) {
      const isCalled = calls.some((call) => call.name === name && (id === undefined || call.id === id));
      demand(isCalled, at, `The function response '${name}' has no function call.`);
    }
    const first = parts.find(({ functionCall }) => functionCall !== undefined);
    demand(first === undefined || role === "model", at, "Only the model calls functions.");
    const isSigned = [callSignature, signatureExcuse].includes(String(first?.thoughtSignature));
    demand(!areCallsSigned || first === undefined || isSigned, at, "Function call is missing a thought_signature.");
    calls = parts.flatMap(({ functionCall }) => (isRecord(functionCall) ? [functionCall] : []));
  }
  demand(calls.length === 0, "contents", "Please ensure that function calls are followed by their responses.");
}

function checkConfig(config: Record<string, unknown>): void {
  demandKnownFields(config, knownConfigFields, "generationConfig.");
  demandRange(config.maxOutputTokens, "generationConfig.maxOutputTokens", [1, 1e9]);
  demandRange(config.candidateCount, "generationConfig.candidateCount", [1, 8]);
  demandRange(config.temperature, "generationConfig.temperature", [0, 2]);
  demandRange(config.topP, "generationConfig.topP", [0, 1]);
  demandRange(config.frequencyPenalty, "generationConfig.frequencyPenalty", [-2, 2]);
  demandRange(config.presencePenalty, "generationConfig.presencePenalty", [-2, 2]);
  const stops = demandList(config.stopSequences ?? [], "generationConfig.stopSequences");
  demand(stops.length <= 5, "generationConfig.stopSequences", "At most 5 stop sequences are supported.");
}

function parseTools(value: unknown): OfferedTool[] {
  return demandList(value ?? [], "tools").flatMap((tool, at) => {
    const declarations = demandRecord(tool, `tools[${at}]`).functionDeclarations ?? [];
    return demandList(declarations, `tools[${at}].functionDeclarations`).map((declaration, position) => {
      const place = `tools[${at}].functionDeclarations[${position}]`;
      const { name, parameters, parametersJsonSchema } = demandRecord(declaration, place);
      demand(toolNamePattern.test(String(name)), place, `Invalid function name at '${place}'.`);
      // Only the second of the two fields supports full JSON Schema.
      const isPlain = !JSON.stringify(parameters ?? null).includes('"$');
      demand(
        isPlain,
        place,
        `Invalid JSON payload received. Unknown name "$schema" or "$ref" at '${place}.parameters'`,
      );
      return { name: String(name), schema: parameters ?? parametersJsonSchema ?? {}, isCustom: false };
    });
  });
}

function parseToolChoice(config: unknown, tools: readonly OfferedTool[]): Ask["toolChoice"] {
  const calling = isRecord(config) && isRecord(config.functionCallingConfig) ? config.functionCallingConfig : {};
  const mode = String(calling.mode ?? "AUTO");
  demand(["AUTO", "ANY", "NONE", "VALIDATED"].includes(mode), "toolConfig", `Invalid value at 'mode': ${mode}`);
  if (mode !== "ANY") return mode === "NONE" ? "none" : "auto";
  const [name] = demandList(calling.allowedFunctionNames ?? [], "toolConfig");
  if (name === undefined) return "required";
  demand(
    tools.some((tool) => tool.name === name),
    "toolConfig",
    `The allowed function '${name}' is not declared.`,
  );
  return { name: String(name) };
}

function parseJsonSchema(config: Record<string, unknown>): Record<string, unknown> | null {
  if (config.responseMimeType !== "application/json") {
    demand(
      config.responseSchema === undefined,
      "generationConfig",
      "A schema is only supported with application/json.",
    );
    return null;
  }
  const schema = config.responseSchema ?? config.responseJsonSchema ?? { properties: { echo: { type: "STRING" } } };
  return demandRecord(schema, "generationConfig.responseSchema");
}

function readResponse({ functionResponse }: Record<string, unknown>): string {
  return JSON.stringify(isRecord(functionResponse) ? functionResponse.response : null);
}

function readText(turn: Turn | undefined): string {
  return (turn?.parts ?? []).map(({ text }) => (typeof text === "string" ? text : "")).join("");
}
