import { invariant } from "../../lib/invariant.ts";
import { presentMoney } from "../../lib/money.ts";
import type { EmbeddingAnswer, EmbeddingInput, EmbeddingProvider } from "../../providers/embedding.ts";
import {
  type CallDirectory,
  type CallPlan,
  explainCallFailure,
  type FailureTexts,
  type FlatKinds,
  type FlatMeter,
  type FlatPresenter,
  flatCall,
  type IncomingCall,
  isChargeDue,
  listFlatTargets,
} from "../calls/index.ts";
import { getOfferedModel, type Price } from "../catalog/index.ts";
import type { EmbeddingBody } from "./embedding-schema.ts";
import {
  billEmbedding,
  countInput,
  type EmbeddedUsage,
  type EmbeddingSize,
  measureEmbedding,
} from "./quote-embedding.ts";
import { readEmbeddingRequest } from "./read-embedding-request.ts";

type EmbeddingTypes = {
  adapter: EmbeddingProvider;
  piece: never;
  answer: EmbeddingAnswer;
  /** Tokens. */
  reported: number;
  usage: EmbeddedUsage;
};

const timeoutMsUsual = 60_000;
/** For models whose catalog entry sets no `max_dimensions`. */
const dimensionsMaxUsual = 8192;

const failureTexts: FailureTexts = {
  contentParam: "input",
  // Clients search for OpenAI's wording.
  tooLong: {
    code: "context_length_exceeded",
    message: "This model's maximum context length is exceeded.",
    param: "input",
  },
};

/** Checks and prices a call before anything is sent. Throws if the request is invalid. */
export function prepareEmbedding(
  { catalog, registry, clock }: CallDirectory,
  { caller, body, bodyBytes, requestId }: IncomingCall,
): CallPlan<FlatKinds<EmbeddingTypes>> {
  // The schema has validated it.
  const asked = body as EmbeddingBody;
  const view = catalog.current();
  const offered = getOfferedModel(view, asked.model, caller, clock.now());
  const { id: modelId, limits } = offered.model;
  const request = readEmbeddingRequest(asked, offered.model);
  const targets = listFlatTargets(view, modelId, {
    getAdapter: (provider) => registry.getEmbedding(provider),
    findObstacle: (adapter) => adapter.findObstacle(request),
    timeoutMsUsual,
  });
  const price = getPrice(offered.prices);
  const size = measureEmbedding(request.input, { bodyBytes, contextWindow: limits.context_window });
  const dimensionsMax = limits.max_dimensions ?? dimensionsMaxUsual;
  return flatCall<EmbeddingTypes>({
    ...{ caller, requestId, offered, targets, tokensLikely: size.tokensLikely },
    operation: { name: "embeddings", outputType: null },
    usageMax: { inputTokens: size.tokensMax, isCounted: false },
    bill: (usage) => billEmbedding(price, usage),
    billAt: billEmbedding,
    estimate() {
      const inputTokens = Math.min(size.tokensLikely, size.tokensMax);
      return { usage: { inputTokens, isCounted: true }, basis: "input_tokens", inputTokens };
    },
    meter: createMeter(request.input, size),
    presenter: createPresenter(modelId),
    async send({ adapter }, attempt, sink) {
      const answer = await adapter.embed({ ...attempt, request, dimensionsMax });
      sink.onAccepted();
      sink.onAnswer(answer);
    },
    explain: (error) => explainCallFailure(error, failureTexts),
    countTokens: ({ inputTokens }) => ({ input: inputTokens, output: 0 }),
    describeUsage: ({ inputTokens, isCounted }) =>
      isCounted ? { input_tokens: inputTokens, counted: true } : { input_tokens: inputTokens },
    describeSpan: ({ inputTokens }) => ({ "gen_ai.usage.input_tokens": inputTokens }),
  });
}

/** The catalog offers no model without a price. */
function getPrice([price]: readonly Price[]): Price {
  invariant(price !== undefined, "a model was offered without a price");
  return price;
}

/** Charges all input once there are vectors. */
function createMeter(input: EmbeddingInput, size: EmbeddingSize): FlatMeter<EmbeddingTypes> {
  let hasAnswer = false;
  /** An upstream cannot read more than was sent, so a larger report is ignored. Without an answer the hold is due. */
  function countTokens(reported: number | null): EmbeddedUsage {
    if (reported !== null && reported <= size.tokensMax) return { inputTokens: reported, isCounted: false };
    return { inputTokens: hasAnswer ? countInput(input, size) : size.tokensMax, isCounted: true };
  }
  return {
    // The usage arrives with the answer.
    isCostKnown: false,
    takeAnswer({ inputTokens }) {
      hasAnswer = true;
      return inputTokens;
    },
    conclude: (rule, { reported }) => ({ usage: countTokens(reported), isDue: isChargeDue(rule, hasAnswer) }),
  };
}

/** Builds the JSON by hand, because the vectors are JSON already. */
function createPresenter(modelId: string): FlatPresenter<EmbeddingTypes> {
  return {
    form: "whole",
    contentType: "application/json; charset=utf-8",
    presentWhole({ answer, usage: { inputTokens: tokens }, settlement }) {
      const data = (answer?.vectors ?? []).map(
        (vector, index) => `{"object":"embedding","index":${index},"embedding":${vector}}`,
      );
      const usage = { prompt_tokens: tokens, total_tokens: tokens, charge: presentMoney(settlement.charge) };
      const model = JSON.stringify(modelId);
      return `{"object":"list","data":[${data.join(",")}],"model":${model},"usage":${JSON.stringify(usage)}}`;
    },
    summarize: ({ usage, settlement }) =>
      `It had ${usage.inputTokens} prompt tokens and cost ${presentMoney(settlement.charge)}.`,
  };
}
