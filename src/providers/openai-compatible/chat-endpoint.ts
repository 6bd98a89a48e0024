import type { Clock } from "../../lib/clock.ts";
import { createConnect, createUpstreamPool } from "../../platform/net/upstream-pool.ts";
import { type BaseUrl, readBaseUrl } from "../base-url.ts";
import type { ChatCall, ChatRun, ChatSink } from "../contract.ts";
import { type AnswerForm, UpstreamChat } from "./upstream-chat.ts";

export type ChatEndpointOptions = {
  /** The address before `/chat/completions`: `https://api.example.com/v1`. */
  baseUrl: string;
  /** In addition to the usual ones. */
  headers: Readonly<Record<string, string>>;
  /** How the key is sent. */
  authHeader: { name: string; prefix: string };
  connectionsMax: number;
  clock: Clock;
};

/** The HTTP request of a call, and how its response is read. */
type EndpointRequest = {
  path: string;
  body: string | Buffer;
  isStreamed: boolean;
  form: AnswerForm;
  /** Only for this request: names and values alternate. */
  headers?: readonly string[];
};

/** One upstream address with its connection pool, for all its APIs. */
export type ChatEndpoint = Pick<BaseUrl, "pathOf"> & {
  /** Whether a header is sent with every request, by its name in lower case. */
  hasHeader(name: string): boolean;
  start(call: ChatCall, sink: ChatSink, request: EndpointRequest): ChatRun;
  close(): Promise<void>;
};

const connectMs = 30_000;

export function createChatEndpoint(options: ChatEndpointOptions): ChatEndpoint {
  const { clock, connectionsMax, authHeader } = options;
  const { origin, pathOf } = readBaseUrl(options.baseUrl);
  const pool = createUpstreamPool({ origin, clock, connect: createConnect({ timeoutMs: connectMs }), connectionsMax });
  const headers = {
    stream: listHeaders({ accept: "text/event-stream" }, options.headers),
    whole: listHeaders({ accept: "application/json" }, options.headers),
  };
  /** Built once per key. */
  const headersOfKeys = new Map<string, typeof headers>();

  function getHeaders(apiKey: string | null): typeof headers {
    if (apiKey === null) return headers;
    const known = headersOfKeys.get(apiKey);
    if (known !== undefined) return known;
    const secret = [authHeader.name, authHeader.prefix + apiKey];
    const made = { stream: [...secret, ...headers.stream], whole: [...secret, ...headers.whole] };
    headersOfKeys.set(apiKey, made);
    return made;
  }

  return {
    hasHeader: (name) => headers.whole.some((text, index) => index % 2 === 0 && text === name),

    pathOf,

    start(call, sink, { path, body, isStreamed, form, headers: own = [] }) {
      const chat = new UpstreamChat(form, call, sink);
      const { apiKey, traceparent = null, timeouts } = call;
      const usual = getHeaders(apiKey)[isStreamed ? "stream" : "whole"];
      const trace = traceparent === null ? [] : ["traceparent", traceparent];
      const isUsual = own.length === 0 && trace.length === 0;
      const request = { path, headers: isUsual ? usual : [...usual, ...own, ...trace], body, timeouts };
      chat.upstream = pool.dispatch(request, chat);
      return chat;
    },

    close: () => pool.close(),
  };
}

function listHeaders(...sources: readonly Readonly<Record<string, string>>[]): string[] {
  const byName = new Map([
    ["content-type", "application/json"],
    ["user-agent", "sluice"],
  ]);
  for (const source of sources) {
    for (const [name, value] of Object.entries(source)) byName.set(name.toLowerCase(), value);
  }
  return [...byName].flat();
}
