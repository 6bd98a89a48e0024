import type {
  UpstreamCall,
  UpstreamError,
  UpstreamHandler,
  UpstreamHeaders,
} from "../../platform/net/upstream-call.ts";
import { type ChatCall, type ChatRun, type ChatSink, ProviderError } from "../contract.ts";
import { parseRefusal } from "../failures/read-vendor-words.ts";
import { createByteCollector } from "./collect-bytes.ts";
import {
  type AnswerReader,
  createBadAnswer,
  createOutlet,
  type ErrorReader,
  type Outlet,
  type OutletOwner,
  type Rest,
} from "./outlet.ts";

/** How the responses of one API are read. Shared by all calls. */
export type AnswerForm = {
  createReader(answer: BegunAnswer): AnswerReader;
  readError(refusal: { status: number; headers: UpstreamHeaders; body: unknown }): ProviderError;
};

type BegunAnswer = { call: ChatCall; headers: UpstreamHeaders; outlet: Outlet; errors: ErrorReader };

const noHeaders: UpstreamHeaders = {};

/**
 * One call: reads the head of its response and chooses the reader for the rest. A class, to save memory: closures would
 * dominate what an idle call keeps.
 */
export class UpstreamChat implements ChatRun, UpstreamHandler, OutletOwner, ErrorReader {
  readonly sink: ChatSink;
  /** Set before any event. */
  upstream: UpstreamCall | null = null;
  private readonly form: AnswerForm;
  private readonly call: ChatCall;
  private readonly outlet: Outlet;
  private reader: AnswerReader | null = null;
  /** Chunks of one network read, which are parsed together. */
  private unread: Buffer | Buffer[] | null = null;
  private status = 0;
  private headers = noHeaders;

  constructor(form: AnswerForm, call: ChatCall, sink: ChatSink) {
    this.form = form;
    this.call = call;
    this.sink = sink;
    this.outlet = createOutlet(this);
  }

  pause(): void {
    this.upstream?.pause();
  }

  resume(): void {
    this.upstream?.resume();
  }

  cancel(): void {
    this.unread = null;
    this.outlet.shut();
    this.upstream?.cancel();
  }

  onOver(rest: Rest): void {
    if (rest === "drained") this.upstream?.drain();
    else this.upstream?.cancel();
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    const { outlet, call } = this;
    if (!outlet.isOpen()) return;
    this.status = status;
    this.headers = headers;
    this.sink.onHead?.(headers);
    if (status >= 400) {
      this.reader = createRefusalReader(outlet, this);
    } else if (status >= 300) {
      outlet.fail(createBadAnswer("The upstream returned a redirect.", { status }));
    } else if (!isPlainText(headers)) {
      outlet.fail(createBadAnswer("The response is compressed, although the request did not allow it."));
    } else {
      this.reader = this.form.createReader({ call, headers, outlet, errors: this });
      this.sink.onAccepted();
    }
  }

  onData(chunk: Buffer): void {
    if (this.unread === null) {
      this.unread = chunk;
      // A socket read is over by then, however many HTTP chunks it had.
      process.nextTick(readChunksOf, this);
    } else if (Array.isArray(this.unread)) this.unread.push(chunk);
    else this.unread = [this.unread, chunk];
  }

  readChunks(): void {
    const { unread } = this;
    if (unread === null) return;
    this.unread = null;
    this.reader?.add(Array.isArray(unread) ? Buffer.concat(unread) : unread);
  }

  onEnd(): void {
    this.readChunks();
    this.reader?.end();
  }

  onError(error: UpstreamError): void {
    this.readChunks();
    const translated = translateError(error);
    if (this.reader === null) this.outlet.fail(translated);
    else this.reader.fail(translated);
  }

  readError(body: unknown): ProviderError {
    const { status, headers } = this;
    return this.form.readError({ status, headers, body });
  }
}

function readChunksOf(chat: UpstreamChat): void {
  chat.readChunks();
}

function isPlainText(headers: UpstreamHeaders): boolean {
  const encoding = headers["content-encoding"];
  return encoding === undefined || encoding === "identity";
}

function translateError(error: UpstreamError): ProviderError {
  return new ProviderError(error.kind, error.message, { cause: error.cause ?? error });
}

const refusalBytesMax = 64 * 1024;

/** Reads an error response. If that fails, the status alone is enough. */
function createRefusalReader(outlet: Outlet, errors: ErrorReader): AnswerReader {
  const body = createByteCollector(refusalBytesMax);
  const fail = (): void => outlet.fail(errors.readError(parseRefusal(body.take().toString("utf8"))));
  return {
    add(chunk) {
      if (!body.add(chunk)) fail();
    },
    end: fail,
    fail,
  };
}
