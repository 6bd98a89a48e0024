import { eventStreamHeaders } from "../../platform/http/event-stream.ts";
import type { ChatPiece } from "../../providers/contract.ts";
import type { CallEnd, CallPresenter } from "../calls/index.ts";
import type { ChatKinds } from "../chat/index.ts";
import { NativeRelay } from "./native-relay.ts";
import {
  begunState,
  presentUsage,
  type ResponseEnvelope,
  type ResponseState,
  type ResponseStatus,
} from "./response-envelope.ts";
import {
  type ChatDelta,
  type ChatLogprobs,
  type OutputOptions,
  ResponseOutput,
  writeEvent,
} from "./response-output.ts";
import type { JsonObject } from "./response-request.ts";

type PresenterOptions = {
  envelope: ResponseEnvelope;
  isStreamed: boolean;
  /** Whether the response will be stored. */
  isStored: boolean;
  /** The conversation that it will be added to. */
  conversationId: string | null;
  output: OutputOptions;
  /** The fields that this gateway sets in a response that an upstream wrote. */
  own: Readonly<Record<string, unknown>>;
  now(): Date;
};

type ChatChoice = {
  index: number;
  delta?: ChatDelta;
  message?: ChatDelta;
  finish_reason: string | null;
  logprobs?: ChatLogprobs;
};

/** A finished response in its stored form. */
export type FinishedResponse = {
  status: "completed" | "incomplete" | "failed";
  body: string;
  /** The ids that an upstream gave its items. */
  itemIds: readonly string[];
};

const jsonType = "application/json; charset=utf-8";
const incompleteReasons: Readonly<Record<string, ResponseState["incompleteReason"]>> = {
  length: "max_output_tokens",
  content_filter: "content_filter",
};

/** Writes one response, from a chat answer or from the events of an upstream with the Responses API. */
export class ResponsePresenter implements CallPresenter<ChatKinds> {
  readonly form: "whole" | "events";
  readonly contentType: string;
  private readonly options: PresenterOptions;
  private readonly output: ResponseOutput;
  private native: NativeRelay | null = null;
  private nativeBody: JsonObject | null = null;
  private isStored: boolean;
  private conversation: { id: string } | null;
  private hasBegun = false;
  private finishReason: string | null = null;
  private completedAt: number | null = null;

  constructor(options: PresenterOptions) {
    this.options = options;
    this.isStored = options.isStored;
    this.conversation = options.conversationId === null ? null : { id: options.conversationId };
    this.output = new ResponseOutput(options.output);
    this.form = options.isStreamed ? "events" : "whole";
    this.contentType = options.isStreamed ? eventStreamHeaders["content-type"] : jsonType;
  }

  /** Storing failed, so the response must not claim to be stored. */
  markUnstored(): void {
    this.isStored = false;
    this.conversation = null;
  }

  presentWhole(end: CallEnd<ChatKinds>): string {
    return this.describeEnd(end).body;
  }

  presentPieces(pieces: readonly ChatPiece[]): string {
    let events = "";
    for (const piece of pieces) events += this.presentPiece(piece);
    return events;
  }

  presentCut(): string {
    this.finishReason = "length";
    return this.native === null ? this.begin() + this.output.close("incomplete") : this.native.close();
  }

  presentTail(end: CallEnd<ChatKinds>): string {
    const { status, body } = this.describeEnd(end);
    return this.withoutAdvancing((sequence) => writeEvent(`response.${status}`, sequence, `"response":${body}`));
  }

  presentFailure(body: unknown): string {
    const { error } = body as { error: { code: string; message: string; param: string | null } };
    const { code, message, param } = error;
    const failed = this.describeFailure({ message }).body;
    const fields = `"code":${JSON.stringify(code)},"message":${JSON.stringify(message)},"param":${JSON.stringify(param)},"error":${JSON.stringify(error)}`;
    return this.withoutAdvancing(
      (sequence) =>
        writeEvent("error", sequence, fields) + writeEvent("response.failed", sequence + 1, `"response":${failed}`),
    );
  }

  summarize({ usage }: CallEnd<ChatKinds>): string {
    const { inputTokens, outputTokens } = usage;
    return `Its id is ${this.options.envelope.id}; it had ${inputTokens} input tokens and ${outputTokens} output tokens.`;
  }

  /** The initial state of a response. */
  describeBegun(): string {
    return this.options.envelope.present({ ...begunState, ...this.describeStorage() });
  }

  /** A failed response, with the output so far. */
  describeFailure({ message }: { message: string }): FinishedResponse {
    const error = { code: "server_error", message };
    return {
      status: "failed",
      body: this.options.envelope.present({ ...this.describeState("failed"), error }),
      itemIds: [],
    };
  }

  /** Idempotent. */
  describeEnd(end: CallEnd<ChatKinds>): FinishedResponse {
    const { answer, failure } = end;
    if (answer !== null) this.takeAnswer(answer);
    const usage = presentUsage(end.usage, end.settlement.charge);
    const native = this.nativeBody ?? this.native?.last?.response ?? null;
    if (native !== null && failure === null) return this.describeNative(native, usage, end);
    const reason = incompleteReasons[this.finishReason ?? ""] ?? null;
    const status = failure !== null ? "failed" : reason === null ? "completed" : "incomplete";
    this.completedAt ??= Math.floor(this.options.now().getTime() / 1000);
    const body = this.options.envelope.present({
      ...this.describeState(status),
      usage,
      error: failure === null ? null : { code: "server_error", message: failure.message },
      incompleteReason: reason,
      stoppedBy: end.stoppedBy,
      completedAt: status === "completed" ? this.completedAt : null,
    });
    return { status, body, itemIds: listIds(this.native?.listItems() ?? []) };
  }

  private describeNative(response: JsonObject, usage: string, { stoppedBy }: CallEnd<ChatKinds>): FinishedResponse {
    const own = { ...this.describeOwn(), usage: JSON.parse(usage) as unknown };
    const body = { ...response, ...own, ...(stoppedBy === null ? {} : { stopped_by: stoppedBy }) };
    return {
      status: response.status === "incomplete" ? "incomplete" : "completed",
      body: JSON.stringify(body),
      itemIds: Array.isArray(response.output) ? listIds(response.output) : [],
    };
  }

  private describeOwn(): Readonly<Record<string, unknown>> {
    const { own, envelope } = this.options;
    return { created_at: envelope.createdAt, ...own, store: this.isStored, conversation: this.conversation };
  }

  private describeState(status: ResponseStatus): ResponseState {
    const output = this.native === null ? this.output.present() : JSON.stringify(this.native.listItems());
    return { ...begunState, ...this.describeStorage(), status, output };
  }

  private describeStorage(): Pick<ResponseState, "isStored" | "conversation"> {
    return { isStored: this.isStored, conversation: JSON.stringify(this.conversation) };
  }

  /** A non-streaming answer. Idempotent. */
  private takeAnswer({ choices, nativeBody }: ChatKinds["answer"]): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    if (nativeBody !== undefined) {
      this.nativeBody = nativeBody;
      return;
    }
    const [choice] = JSON.parse(choices) as ChatChoice[];
    if (choice === undefined) return;
    this.output.add(choice.message ?? {}, choice.logprobs ?? null);
    this.finish(choice.finish_reason ?? "stop");
  }

  private presentPiece({ choices, text, soleField, nativeEvents }: ChatPiece): string {
    if (nativeEvents !== undefined) {
      this.native ??= new NativeRelay(this.describeOwn());
      return this.native.pass(nativeEvents, text);
    }
    const opening = this.begin();
    if (soleField === undefined) return opening + this.readChoices(choices);
    return opening + (soleField === "content" ? this.output.addText(text) : this.output.addThought(text));
  }

  private readChoices(choices: string): string {
    let events = "";
    for (const choice of JSON.parse(choices) as ChatChoice[]) {
      if (choice.index !== 0) continue;
      events += this.output.add(choice.delta ?? {}, choice.logprobs ?? null);
      if (choice.finish_reason !== null) events += this.finish(choice.finish_reason);
    }
    return events;
  }

  private finish(reason: string): string {
    this.finishReason ??= reason;
    return this.output.close(reason in incompleteReasons ? "incomplete" : "completed");
  }

  private begin(): string {
    if (this.hasBegun || this.form === "whole") return "";
    this.hasBegun = true;
    const response = this.describeBegun();
    const { output } = this;
    return (
      output.event("response.created", `"response":${response}`) +
      output.event("response.in_progress", `"response":${response}`)
    );
  }

  /**
   * The end of a stream may be requested several times: restores the sequence number, so that it is the same each time.
   */
  private withoutAdvancing(write: (sequence: number) => string): string {
    if (this.native !== null) return write(this.native.last?.sequence ?? this.native.sequence);
    const { hasBegun } = this;
    const { sequence } = this.output;
    const opening = this.begin();
    const events = opening + write(this.output.sequence);
    this.hasBegun = hasBegun;
    this.output.sequence = sequence;
    return events;
  }
}

function listIds(items: readonly JsonObject[]): string[] {
  return items.flatMap(({ id }) => (typeof id === "string" ? [id] : []));
}
