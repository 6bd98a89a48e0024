import type { ChatCall, ChatPiece, ChatSink, ChatUsage } from "../../../../src/providers/contract.ts";
import { listParts, type SandboxEnd, type SandboxPart, type SandboxPlan } from "./sandbox-choice.ts";
import { countInput } from "./sandbox-prompt.ts";
import {
  type ChoiceState,
  createAnswerCollector,
  presentFinish,
  presentPiece,
  type WireOptions,
} from "./sandbox-wire.ts";

/** Delivers a planned answer to a sink, in steps. */
export type SandboxDelivery = {
  /** Produces up to `piecesMax` pieces; `true` when there are no more. */
  advance(piecesMax: number): boolean;
  countPieces(): number;
  /** Sends the final event. */
  finish(options: { hasUsage: boolean }): void;
};

type AnswerEvent = { choiceIndex: number } & ({ part: SandboxPart } | SandboxEnd);

export function createDelivery(call: ChatCall, plan: SandboxPlan, sink: ChatSink): SandboxDelivery {
  const { request } = call;
  const options = { hasLogprobs: request.logprobs === true, alternatives: request.top_logprobs ?? 0 };
  const events = listEvents(call, plan);
  const receiver = request.stream === true ? createStreamReceiver(sink, options) : createWholeReceiver(sink, options);
  let pieces = 0;
  let outputTokens = 0;
  let reasoningTokens = 0;

  return {
    advance(piecesMax) {
      let isFinished = false;
      for (let count = 0; count < piecesMax && !isFinished; count += 1) {
        const { value: event, done } = events.next();
        isFinished = done === true;
        if (event === undefined) break;
        receiver.take(event);
        pieces += 1;
        if ("reason" in event) continue;
        outputTokens += 1;
        if (event.part.kind === "reasoning") reasoningTokens += 1;
      }
      receiver.flush();
      return isFinished;
    },
    countPieces: () => pieces,
    finish({ hasUsage }) {
      receiver.finish(hasUsage ? { ...noTokens, ...countInput(request), outputTokens, reasoningTokens } : null);
    },
  };
}

const noTokens: ChatUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  reasoningTokens: 0,
  inputAudioTokens: 0,
  outputAudioTokens: 0,
};

/** Generates choices lazily, one after the other: a long answer is never in memory as a whole. */
function* listEvents({ request, outputTokensMax }: ChatCall, plan: SandboxPlan): Generator<AnswerEvent, undefined> {
  for (let choiceIndex = 0; choiceIndex < (request.n ?? 1); choiceIndex += 1) {
    const parts = listParts(plan, { index: choiceIndex, tokensMax: outputTokensMax });
    let next = parts.next();
    for (; next.done !== true; next = parts.next()) yield { choiceIndex, part: next.value };
    yield { choiceIndex, ...next.value };
  }
}

type Receiver = { take(event: AnswerEvent): void; flush(): void; finish(usage: ChatUsage | null): void };

function createStreamReceiver(sink: ChatSink, options: WireOptions): Receiver {
  let state: ChoiceState = { index: 0, contentTokens: 0, isBegun: false };
  let pieces: ChatPiece[] = [];
  return {
    take(event) {
      if (event.choiceIndex !== state.index) state = { index: event.choiceIndex, contentTokens: 0, isBegun: false };
      pieces.push("part" in event ? presentPiece(event.part, state, options) : presentFinish(event, state));
    },
    flush() {
      const together = pieces;
      pieces = [];
      if (together.length > 0) sink.onPieces(together);
    },
    finish: (usage) => sink.onEnd(usage),
  };
}

function createWholeReceiver(sink: ChatSink, options: WireOptions): Receiver {
  const collector = createAnswerCollector(options);
  return {
    take(event) {
      if ("part" in event) collector.add(event.choiceIndex, event.part);
      else collector.finish(event.choiceIndex, event);
    },
    flush() {},
    finish: (usage) => sink.onAnswer(collector.present(usage)),
  };
}
