import { presentMoney } from "../../lib/money.ts";
import type { CallEnd, CallPresenter } from "../calls/index.ts";
import type { EmbeddingKinds } from "./embedding-kinds.ts";

/** The answer in OpenAI's form. It is written by hand around vectors that are JSON already. */
export function createEmbeddingPresenter(modelId: string): CallPresenter<EmbeddingKinds> {
  return {
    form: "whole",
    contentType: "application/json; charset=utf-8",
    presentWhole({ answer, usage, settlement }: CallEnd<EmbeddingKinds>) {
      const data = answer?.vectors.map(
        (vector, index) => `{"object":"embedding","index":${index},"embedding":${vector}}`,
      );
      const tokens = usage.inputTokens;
      const told = { prompt_tokens: tokens, total_tokens: tokens, charge: presentMoney(settlement.charge) };
      const model = JSON.stringify(modelId);
      return `{"object":"list","data":[${(data ?? []).join(",")}],"model":${model},"usage":${JSON.stringify(told)}}`;
    },
    presentPieces: () => "",
    presentCut: () => "",
    presentTail: () => "",
    presentFailure: () => null,
    summarize: ({ usage, settlement }) =>
      `It had ${usage.inputTokens} prompt tokens and cost ${presentMoney(settlement.charge)}.`,
  };
}
