import type { AnswerPlan, PlannedChoice, PlannedToolCall } from "./answer-plan.ts";
import type { UsageCounts } from "./behaviour.ts";
import { canary } from "./canary.ts";
import { encryptedThought, parseResponsesAsk } from "./parse-responses-ask.ts";
import {
  answeredAt,
  type Envelope,
  nameServedModel,
  type VendorWire,
  type WireEvent,
  writeEvent,
} from "./vendor-wire.ts";

type Item = Record<string, unknown>;

/** OpenAI's Responses, under the address of its chat completions, whose keys, headers and errors it shares. */
export function createOpenAiResponsesWire(chat: VendorWire, extraFields: readonly string[]): VendorWire {
  return {
    ...chat,
    isChatPath: (path) => path === "/responses",
    parseAsk: ({ body }) => parseResponsesAsk(body, extraFields),
    presentWhole,
    presentEvents,
    presentErrorEvent: ({ message, code, type }) =>
      writeEvent("done", { type: "error", code: code ?? type ?? "server_error", message, param: null }, "error"),
  };
}

function presentWhole(plan: AnswerPlan, envelope: Envelope): unknown {
  return presentResponse(plan, envelope, { isOver: true });
}

/** The response at its start or at its end. */
function presentResponse({ choices, usage }: AnswerPlan, envelope: Envelope, { isOver }: { isOver: boolean }): Item {
  const { ask, behaviour, callNumber } = envelope;
  const [choice] = choices;
  const reason = isOver ? readIncomplete(choice) : null;
  const status = !isOver ? "in_progress" : reason === null ? "completed" : "incomplete";
  return {
    id: `resp_${canary}_${callNumber}`,
    object: "response",
    created_at: answeredAt.getTime() / 1000,
    status,
    background: false,
    billing: { payer: canary },
    error: null,
    incomplete_details: reason === null ? null : { reason },
    instructions: null,
    max_output_tokens: ask.outputTokensMax,
    model: nameServedModel(ask.model),
    output: isOver && choice !== undefined ? listItems(choice, envelope).map(({ whole }) => whole) : [],
    parallel_tool_calls: ask.isParallel,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: "default",
    store: false,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    truncation: "disabled",
    usage: isOver ? presentUsage(usage, envelope) : null,
    user: null,
    metadata: {},
    ...(behaviour.hasVendorFields === true ? { [`x_${canary}`]: { host: `${canary}.example` } } : {}),
  };
}

function readIncomplete(choice: PlannedChoice | undefined): string | null {
  if (choice?.finish === "length") return "max_output_tokens";
  return choice?.finish === "blocked" ? "content_filter" : null;
}

/** An item in a whole answer, its start, and the events up to its end. */
type PlannedItem = { whole: Item; start: Item; events: readonly (Item & { type: string })[] };

function listItems({ thinking, text, toolCalls }: PlannedChoice, { callNumber }: Envelope): PlannedItem[] {
  return [
    ...(thinking.length > 0 ? [planReasoning(thinking, `rs_${callNumber}`)] : []),
    ...(text.length > 0 ? [planMessage(text, `msg_${callNumber}`)] : []),
    ...toolCalls.map((call, position) => planCall(call, `fc_${callNumber}_${position}`)),
  ];
}

function planReasoning(thinking: readonly string[], id: string): PlannedItem {
  const part = { type: "summary_text", text: thinking.join("") };
  const place = { item_id: id, summary_index: 0 };
  const item = { id, type: "reasoning", encrypted_content: encryptedThought };
  return {
    whole: { ...item, summary: [part] },
    start: { ...item, summary: [] },
    events: [
      { type: "response.reasoning_summary_part.added", ...place, part: { ...part, text: "" } },
      ...thinking.map((delta) => ({ type: "response.reasoning_summary_text.delta", ...place, delta })),
      { type: "response.reasoning_summary_text.done", ...place, text: part.text },
      { type: "response.reasoning_summary_part.done", ...place, part },
    ],
  };
}

function planMessage(text: readonly string[], id: string): PlannedItem {
  const part = { type: "output_text", text: text.join(""), annotations: [], logprobs: [] };
  const place = { item_id: id, content_index: 0 };
  const item = { id, type: "message", role: "assistant" };
  return {
    whole: { ...item, status: "completed", content: [part] },
    start: { ...item, status: "in_progress", content: [] },
    events: [
      { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
      ...text.map((delta) => ({
        type: "response.output_text.delta",
        ...place,
        delta,
        logprobs: [],
        obfuscation: "x1",
      })),
      { type: "response.output_text.done", ...place, text: part.text, logprobs: [] },
      { type: "response.content_part.done", ...place, part },
    ],
  };
}

function planCall({ id: callId, name, fragments, isCustom }: PlannedToolCall, id: string): PlannedItem {
  const [kind, field, event] = isCustom
    ? ["custom_tool_call", "input", "response.custom_tool_call_input"]
    : ["function_call", "arguments", "response.function_call_arguments"];
  const item = { id, type: kind, call_id: callId, name };
  const input = fragments.join("");
  return {
    whole: { ...item, [field]: input, status: "completed" },
    start: { ...item, [field]: "", status: "in_progress" },
    events: [
      ...fragments.map((delta) => ({ type: `${event}.delta`, item_id: id, delta })),
      { type: `${event}.done`, item_id: id, name, [field]: input },
    ],
  };
}

function presentEvents(plan: AnswerPlan, envelope: Envelope): WireEvent[] {
  const vendorFields = envelope.behaviour.hasVendorFields === true ? { [`x_${canary}`]: 1 } : {};
  let number = -1;
  const write = (kind: WireEvent["kind"], event: Item & { type: string }): WireEvent => {
    number += 1;
    return writeEvent(kind, { ...event, sequence_number: number, ...vendorFields }, event.type);
  };
  const begun = presentResponse(plan, envelope, { isOver: false });
  const over = presentResponse(plan, envelope, { isOver: true });
  const items = plan.choices.flatMap((choice) => listItems(choice, envelope));
  return [
    write("start", { type: "response.created", response: begun }),
    write("start", { type: "response.in_progress", response: begun }),
    ...items.flatMap(({ whole, start, events }, index) => [
      write("start", { type: "response.output_item.added", output_index: index, item: start }),
      ...events.map((event) =>
        write(event.type.endsWith(".delta") ? "piece" : "start", { output_index: index, ...event }),
      ),
      write("start", { type: "response.output_item.done", output_index: index, item: whole }),
    ]),
    write("finish", { type: `response.${over.status}`, response: over }),
  ];
}

function presentUsage(usage: UsageCounts | null, { behaviour }: Envelope): unknown {
  if (behaviour.vendorUsage !== undefined) return behaviour.vendorUsage;
  if (usage === null) return null;
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedInputTokens },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}
