import { AppError } from "../../platform/errors/app-error.ts";
import type { ChatRequest, ReasoningEffort } from "../../providers/chat-request.ts";
import type { Model } from "../catalog/index.ts";
import type { vendorFields } from "./chat-request-schema.ts";

/** The same in OpenAI's fields, or why it cannot be done. */
type Translation = { request: Partial<ChatRequest> } | { refusal: string };

type Translate = (value: never, context: { request: ChatRequest; model: Model }) => Translation;

const asDefault: Translation = { request: {} };

/** Maps a budget of reasoning tokens to an effort. */
const effortsOfBudgets: readonly (readonly [tokensMax: number, effort: ReasoningEffort])[] = [
  [4_096, "low"],
  [16_384, "medium"],
  [Number.POSITIVE_INFINITY, "high"],
];

type Reasoning = {
  effort?: ReasoningEffort | null;
  max_tokens?: number | null;
  enabled?: boolean | null;
  exclude?: boolean | null;
  [other: string]: unknown;
};

/** What each vendor field means here. `null`: an upstream supports it or does not. */
const translations: Readonly<Record<keyof typeof vendorFields, Translate | null>> = {
  top_k: null,
  min_p: null,
  reasoning: translateReasoning,
  reasoning_format: (format: string) =>
    format === "parsed"
      ? asDefault
      : {
          refusal: "Reasoning is always in `reasoning_content`. Send `reasoning_format: parsed`, or remove the field.",
        },
  include_reasoning: (isIncluded: boolean) =>
    isIncluded ? asDefault : { refusal: "`reasoning_content` cannot be left out. Remove `include_reasoning`." },
  provider: (preferences: Record<string, unknown>) =>
    Object.entries(preferences).every(([name, value]) => isUsualPreference(name, value))
      ? asDefault
      : { refusal: "This service chooses the upstream itself. Remove `provider`." },
  models: (models: readonly string[], { request }) =>
    models.every((id) => id === request.model)
      ? asDefault
      : { refusal: "Fallback models are not supported. Remove `models`, and send another `model` if this one fails." },
  // A whole answer always has its usage.
  usage: ({ include }: { include?: boolean }, { request: { stream, stream_options: options } }) =>
    include === true && stream === true
      ? { request: { stream_options: { ...options, include_usage: true } } }
      : asDefault,
};

function translateReasoning(
  { effort, max_tokens: budget, enabled, exclude, ...others }: Reasoning,
  { request, model }: { request: ChatRequest; model: Model },
): Translation {
  const [other] = Object.keys(others);
  if (other !== undefined) return { refusal: `\`reasoning.${other}\` is not supported. Remove it.` };
  if (exclude === true) return { refusal: "`reasoning.exclude` is not supported. Ignore `reasoning_content` instead." };
  if (effort != null && budget != null) {
    return { refusal: "Send `reasoning.effort` or `reasoning.max_tokens`, not both." };
  }
  const [, byBudget] = budget == null ? [] : (effortsOfBudgets.find(([tokensMax]) => budget <= tokensMax) ?? []);
  const meant = enabled === false ? "none" : (effort ?? byBudget ?? (enabled === true ? "medium" : null));
  const isReasoning = model.capabilities.includes("reasoning");
  if (meant === null || (meant === "none" && !isReasoning)) return asDefault;
  if (!isReasoning) return { refusal: `${model.id} does not have the capability reasoning.` };
  return (request.reasoning_effort ?? meant) === meant
    ? { request: { reasoning_effort: meant } }
    : { refusal: "`reasoning` and `reasoning_effort` differ. Send one of them." };
}

/** Preferences that describe what this service does anyway. */
function isUsualPreference(name: string, value: unknown): boolean {
  if (name === "allow_fallbacks" || name === "require_parameters") return value === true;
  return value === null || (name === "data_collection" && value === "allow");
}

/**
 * Replaces other vendors' fields by OpenAI's, in place, unless a route of the model takes them as they are. Throws if
 * that is impossible. Expects `null` fields to be gone.
 */
export function adaptVendorFields(request: ChatRequest, model: Model): void {
  for (const [field, translate] of Object.entries(translations)) {
    const value = request[field];
    if (value === undefined || model.routes.some(({ passthrough = [] }) => passthrough.includes(field))) continue;
    // Zero switches them off, which is every upstream's default.
    if (translate === null) {
      if (value === 0) delete request[field];
      continue;
    }
    const translated = translate(value as never, { request, model });
    if ("refusal" in translated) throw new AppError("unsupported_capability", translated.refusal, { param: field });
    delete request[field];
    Object.assign(request, translated.request);
  }
}
