import { presentMoney } from "../../lib/money.ts";
import { eventStreamHeaders } from "../../platform/http/event-stream.ts";
import type { ChatPiece } from "../../providers/contract.ts";
import type { CallEnd, CallPresenter, StoppedBy } from "../calls/index.ts";
import { type ChatKinds, presentUsage } from "../chat/index.ts";

/** The fields around the choices. The gateway sets all of them. */
type CompletionEnvelope = { id: string; object: string; created: number; model: string };

type EndedChoices = { explainEnd(piece: ChatPiece): StoppedBy | null; listOpenChoices(): number[] };

type Likelihood = { token: string; logprob: number };

/** The fields of a chat choice, whole or streamed, that a completion uses. */
type ChatChoice = {
  index: number;
  message?: { content?: string | null; refusal?: string | null };
  delta?: { content?: string | null; refusal?: string | null };
  finish_reason: string | null;
  logprobs?: { content?: (Likelihood & { top_logprobs?: Likelihood[] })[] | null } | null;
};

const jsonType = "application/json; charset=utf-8";
const streamEnd = "data: [DONE]\n\n";

/** Presents a chat answer as a completion. Reasoning is left out: this API has no field for it. */
export class CompletionPresenter implements CallPresenter<ChatKinds> {
  readonly form: "whole" | "events";
  readonly contentType: string;
  private readonly envelope: CompletionEnvelope;
  private readonly meter: EndedChoices;
  private readonly includesUsage: boolean;
  /** The length of each choice's text so far, for `text_offset`. */
  private readonly offsets: number[] = [];

  /** With `includesUsage` every event has the field `usage`. */
  constructor(
    envelope: CompletionEnvelope,
    meter: EndedChoices,
    { isStreamed, includesUsage }: { isStreamed: boolean; includesUsage: boolean },
  ) {
    this.envelope = envelope;
    this.meter = meter;
    this.includesUsage = includesUsage;
    this.form = isStreamed ? "events" : "whole";
    this.contentType = isStreamed ? eventStreamHeaders["content-type"] : jsonType;
  }

  presentWhole({ answer, usage, settlement, stoppedBy }: CallEnd<ChatKinds>): string {
    const choices = this.presentChoices(answer?.choices ?? "[]");
    const head = JSON.stringify({
      ...this.envelope,
      choices,
      ...(stoppedBy === null ? {} : { stopped_by: stoppedBy }),
    });
    return `${head.slice(0, -1)},"usage":${presentUsage(usage, settlement.charge)}}`;
  }

  presentPieces(pieces: readonly ChatPiece[]): string {
    let events = "";
    for (const piece of pieces) {
      const choices = this.presentChoices(piece.choices).filter(
        ({ text, finish_reason }) => text !== "" || finish_reason,
      );
      if (choices.length > 0) events += this.presentEvent(choices, this.meter.explainEnd(piece));
    }
    return events;
  }

  presentCut(stoppedBy: StoppedBy | null): string {
    const ends = this.meter.listOpenChoices().map((index) => ({ index, delta: {}, finish_reason: "length" }));
    return this.presentEvent(this.presentChoices(JSON.stringify(ends)), stoppedBy);
  }

  presentTail({ usage, settlement }: CallEnd<ChatKinds>): string {
    if (!this.includesUsage) return streamEnd;
    const head = JSON.stringify({ ...this.envelope, choices: [] });
    return `data: ${head.slice(0, -1)},"usage":${presentUsage(usage, settlement.charge)}}\n\n${streamEnd}`;
  }

  presentFailure(body: unknown): string {
    return `data: ${JSON.stringify(body)}\n\n`;
  }

  summarize({ usage, settlement }: CallEnd<ChatKinds>): string {
    const { inputTokens, outputTokens } = usage;
    const cost = presentMoney(settlement.charge);
    return `Its id is ${this.envelope.id}; it had ${inputTokens} prompt tokens and ${outputTokens} completion tokens and cost ${cost}.`;
  }

  private presentEvent(choices: readonly object[], stoppedBy: StoppedBy | null): string {
    const usage = this.includesUsage ? { usage: null } : {};
    const stop = stoppedBy === null ? {} : { stopped_by: stoppedBy };
    return `data: ${JSON.stringify({ ...this.envelope, choices, ...usage, ...stop })}\n\n`;
  }

  private presentChoices(choices: string) {
    return (JSON.parse(choices) as ChatChoice[]).map((choice) => {
      const { index, finish_reason: reason } = choice;
      const message = choice.message ?? choice.delta ?? {};
      const logprobs = this.presentLogprobs(index, choice.logprobs?.content ?? null);
      return { text: message.content ?? message.refusal ?? "", index, logprobs, finish_reason: reason };
    });
  }

  private presentLogprobs(index: number, tokens: NonNullable<ChatChoice["logprobs"]>["content"]) {
    if (tokens == null) return null;
    const hasTops = tokens.some(({ top_logprobs: tops = [] }) => tops.length > 0);
    return {
      tokens: tokens.map(({ token }) => token),
      token_logprobs: tokens.map(({ logprob }) => logprob),
      top_logprobs: hasTops ? tokens.map(({ top_logprobs: tops = [] }) => presentTops(tops)) : null,
      text_offset: tokens.map(({ token }) => this.advance(index, token.length)),
    };
  }

  /** Returns the offset of the next token. */
  private advance(index: number, length: number): number {
    const offset = this.offsets[index] ?? 0;
    this.offsets[index] = offset + length;
    return offset;
  }
}

function presentTops(tops: readonly Likelihood[]): Record<string, number> {
  return Object.fromEntries(tops.map(({ token, logprob }) => [token, logprob]));
}
