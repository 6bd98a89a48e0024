import type { AnswerPlan, PlannedChoice, PlannedToolCall } from "./answer-plan.ts";
import type { UsageCounts } from "./behaviour.ts";
import { canary } from "./canary.ts";
import { callSignature, parseGeminiAsk } from "./parse-gemini-ask.ts";
import { demand } from "./vendor-refusal.ts";
import {
  answeredAt,
  type Envelope,
  listEdgeHeaders,
  nameServedModel,
  parseFragments,
  type VendorError,
  type VendorRequest,
  type VendorWire,
  type WireEvent,
  writeEvent,
} from "./vendor-wire.ts";

const pathPattern = /^\/models\/([^:]+):(generateContent|streamGenerateContent)$/;

/** Gemini's generateContent. */
export const geminiWire: VendorWire = {
  basePath: "/gemini/v1beta",
  isChatPath: (path) => pathPattern.test(path),
  findKey: ({ headers, query }) => [headers["x-goog-api-key"]].flat()[0] ?? query.get("key"),
  findModel: ({ path }) => readModel(path) || null,
  parseAsk,
  presentWhole: (plan, envelope) => presentResponse(plan, plan.choices.map(presentCandidate), envelope),
  presentEvents,
  presentError: (error) => presentError(error),
  presentErrorEvent: (error) => writeEvent("done", presentError(error)),
  listHeaders: (callNumber) => ({
    ...listEdgeHeaders(callNumber),
    vary: "Origin, X-Origin, Referer",
    "server-timing": `gfet4t7; dur=21; desc="${canary}"`,
    "x-content-type-options": "nosniff",
  }),
  keyRefusal: { status: 403, message: "Method doesn't allow unregistered callers." },
};

function parseAsk({ path, query, body }: VendorRequest): ReturnType<VendorWire["parseAsk"]> {
  const [, , method] = path.match(pathPattern) ?? [];
  const isStreamed = method === "streamGenerateContent";
  demand(!isStreamed || query.get("alt") === "sse", "alt", "This fake streams server-sent events only: alt=sse");
  return parseGeminiAsk(body, { model: readModel(path), isStreamed });
}

function readModel(path: string): string {
  const [, model = ""] = path.match(pathPattern) ?? [];
  try {
    return decodeURIComponent(model);
  } catch {
    // A path may be malformed; then use the name unchanged.
    return model;
  }
}

function presentResponse(plan: AnswerPlan, candidates: readonly unknown[], envelope: Envelope, isLast = true): unknown {
  const usageMetadata = presentUsage(plan.usage, envelope, isLast);
  const isBlocked = plan.choices.some(({ finish }) => finish === "blocked");
  return {
    // A blocked prompt has no candidates at all.
    ...(isBlocked ? { promptFeedback: { blockReason: "PROHIBITED_CONTENT", safetyRatings } } : { candidates }),
    ...(usageMetadata === undefined ? {} : { usageMetadata }),
    modelVersion: nameServedModel(envelope.ask.model),
    responseId: `${canary}-${envelope.callNumber}`,
    createTime: answeredAt.toISOString(),
    ...(envelope.behaviour.hasVendorFields === true ? { [`x_${canary}`]: { host: `${canary}.example` } } : {}),
  };
}

function presentCandidate(choice: PlannedChoice): unknown {
  const thought = choice.thinking.join("");
  const text = choice.text.join("");
  const parts = [
    ...(thought === "" ? [] : [{ text: thought, thought: true }]),
    ...(text === "" ? [] : [{ text }]),
    ...choice.toolCalls.map(presentCall),
  ];
  return {
    // An answer without content has no parts, not an empty list of them.
    content: { ...(parts.length === 0 ? {} : { parts }), role: "model" },
    ...presentFinish(choice),
    index: choice.index,
    safetyRatings,
    avgLogprobs: -0.25,
  };
}

function presentCall({ id, name, fragments }: PlannedToolCall, position: number): unknown {
  const args = parseFragments(fragments);
  // Of parallel calls, only the first is signed.
  return { functionCall: { id, name, args }, ...(position === 0 ? { thoughtSignature: callSignature } : {}) };
}

function presentEvents(plan: AnswerPlan, envelope: Envelope): WireEvent[] {
  if (envelope.behaviour.isBlocked === true) return [writeEvent("finish", presentResponse(plan, [], envelope))];
  const write = (kind: WireEvent["kind"], candidate: unknown) =>
    writeEvent(kind, presentResponse(plan, [candidate], envelope, kind === "finish"));
  const pieces = plan.choices.flatMap((choice) => {
    const parts = [
      ...choice.thinking.map((text) => ({ text, thought: true })),
      ...choice.text.map((text) => ({ text })),
      ...choice.toolCalls.map(presentCall),
    ];
    return parts.map((part) => write("piece", { content: { parts: [part], role: "model" }, index: choice.index }));
  });
  const finishes = plan.choices.map((choice) =>
    write("finish", {
      content: { parts: [{ text: "" }], role: "model" },
      ...presentFinish(choice),
      index: choice.index,
      safetyRatings,
    }),
  );
  return [...pieces, ...finishes];
}

function presentFinish({ finish }: PlannedChoice): { finishReason: string } {
  if (typeof finish === "object") return { finishReason: finish.inVendorsWords };
  const words = {
    stop: "STOP",
    "stop-sequence": "STOP",
    length: "MAX_TOKENS",
    "tool-calls": "STOP",
    blocked: "SAFETY",
  };
  return { finishReason: words[finish] };
}

const safetyRatings = ["HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT"].map((category) => ({
  category: `HARM_CATEGORY_${category}`,
  probability: "NEGLIGIBLE",
}));

/** Before the last chunk, only the input is counted. */
function presentUsage(usage: UsageCounts | null, { behaviour }: Envelope, isLast: boolean): unknown {
  if (behaviour.vendorUsage !== undefined) return behaviour.vendorUsage;
  if (usage === null) return undefined;
  const input = {
    promptTokenCount: usage.inputTokens,
    promptTokensDetails: [
      { modality: "TEXT", tokenCount: usage.inputTokens - usage.inputAudioTokens },
      ...(usage.inputAudioTokens === 0 ? [] : [{ modality: "AUDIO", tokenCount: usage.inputAudioTokens }]),
    ],
    ...(usage.cachedInputTokens === 0 ? {} : { cachedContentTokenCount: usage.cachedInputTokens }),
    trafficType: "ON_DEMAND",
  };
  if (!isLast) return { ...input, totalTokenCount: usage.inputTokens };
  return {
    ...input,
    candidatesTokenCount: usage.outputTokens - usage.reasoningTokens,
    ...(usage.reasoningTokens === 0 ? {} : { thoughtsTokenCount: usage.reasoningTokens }),
    totalTokenCount: usage.inputTokens + usage.outputTokens,
  };
}

const wordsOfStatuses: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  402: "FAILED_PRECONDITION",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  408: "DEADLINE_EXCEEDED",
  413: "INVALID_ARGUMENT",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
  529: "UNAVAILABLE",
};

function presentError({ status, message, code, type, retryDelay }: VendorError): unknown {
  const details = [
    {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: code ?? `${canary.toUpperCase()}_${status}`,
      domain: `${canary}.example`,
      metadata: { service: `models.${canary}.example` },
    },
    ...(retryDelay === null ? [] : [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }]),
  ];
  return { error: { code: status, message, status: type ?? wordsOfStatuses[status] ?? "INTERNAL", details } };
}
