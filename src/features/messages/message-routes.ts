import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { describeHeaders } from "../../platform/http/request-headers.ts";
import { compileOutlined, compileValidator } from "../../platform/http/validation.ts";
import { type CallPlan, type Calls, type IncomingCall, quotePlan } from "../calls/index.ts";
import { findModel, getOfferedModel, type LiveCatalog } from "../catalog/index.ts";
import {
  type CallersPlaces,
  type Chat,
  type ChatKinds,
  chatErrors,
  checkFetchedUrls,
  translateError,
} from "../chat/index.ts";
import type { Quotable } from "../quotes/index.ts";
import { countMessageTokens } from "./count-message-tokens.ts";
import type { Fields } from "./message-error.ts";
import {
  messageAnswerSchema,
  messageQuerySchema,
  messageRequestSchema,
  tokenCountRequestSchema,
  tokenCountSchema,
} from "./message-schema.ts";
import { outlineMessage } from "./outline-message.ts";
import { MessagePresenter } from "./present-message.ts";
import { checkVersion, type MessageModel, readMessageRequest } from "./read-message-request.ts";

type MessageDependencies = {
  calls: Pick<Calls, "answer">;
  chat: Pick<Chat, "plan" | "countInput" | "forwards">;
  catalog: LiveCatalog;
  clock: Clock;
};

const description = `Anthropic's Messages API. Set \`ANTHROPIC_BASE_URL\` to this site's address, without \`/v1\`. All chat models
work, from any vendor. Send your key in \`x-api-key\` or \`Authorization: Bearer\`. Errors have Anthropic's format too.
\`usage.charge\` is the cost of the call.`;

/** Errors of counting tokens, in addition to those of every endpoint. */
const countErrors = [
  "invalid_json",
  "missing_parameter",
  "invalid_parameter",
  "unknown_parameter",
  "payload_too_large",
  "unsupported_media_type",
  "model_unavailable",
] as const satisfies readonly ErrorCode[];

export type Messages = { addRoutes(http: HttpServer): void; quotables: readonly Quotable[] };

export function createMessages(dependencies: MessageDependencies): Messages {
  const quotable: Quotable = {
    ...{ endpoint: "createMessage", path: "/messages", schema: messageRequestSchema },
    quote: (asked) => quotePlan(prepareMessage(dependencies, asked, asked.headers)),
  };
  return {
    quotables: [quotable],
    addRoutes(http) {
      addCreation(http, dependencies);
      addCount(http, dependencies);
    },
  };
}

function addCreation(http: HttpServer, { calls, chat, catalog }: MessageDependencies): void {
  const { config, schema, errors } = describeEndpoint("createMessage", chatErrors);
  http.post(
    "/messages",
    {
      config: {
        ...{ ...config, storesTexts: false, keepsText: true },
        outline: (bytes, limits) => outlineMessage(bytes, limits, (model) => chat.forwards(model, "messages")),
      },
      validatorCompiler: compileOutlined(compileValidator),
      schema: {
        ...schema,
        summary: "Create a message",
        description,
        tags: ["Chat"],
        headers: describeHeaders("idempotency-key", "x-quote-id", "anthropic-version", "anthropic-beta"),
        querystring: messageQuerySchema,
        ...describeAnswers({ 200: { types: ["application/json", "text/event-stream"] } }),
        body: messageRequestSchema,
        response: { 200: Type.Unsafe<string>(messageAnswerSchema), ...errors },
      },
    },
    // Not `async`: a pending promise and its closure would stay in memory for the whole stream.
    (request, reply) => {
      const prepare = (incoming: IncomingCall): CallPlan<ChatKinds> =>
        prepareMessage({ chat, catalog }, incoming, request.headers);
      calls.answer({ path: "/v1/messages", prepare }, request, reply);
    },
  );
}

function addCount(http: HttpServer, { chat, catalog, clock }: MessageDependencies): void {
  const { config, schema, errors } = describeEndpoint("countMessageTokens", countErrors);
  http.post(
    "/messages/count_tokens",
    {
      config: { ...config, storesTexts: false },
      schema: {
        ...schema,
        summary: "Count the tokens of a message",
        description: "Estimates the input tokens of a request. Free of charge.",
        tags: ["Chat"],
        headers: describeHeaders("anthropic-version", "anthropic-beta"),
        querystring: messageQuerySchema,
        body: tokenCountRequestSchema,
        response: { 200: tokenCountSchema, ...errors },
      },
    },
    async (request) => {
      checkVersion(request.headers["anthropic-version"]);
      const body = request.body as Fields & { model: string };
      getOfferedModel(catalog.current(), body.model, getCaller(request), clock.now());
      return { input_tokens: countMessageTokens(body, chat.countInput) };
    },
  );
}

type Headers = FastifyRequest["headers"];

/** Validates a request and plans the call, without side effects. Throws if the request is invalid. */
function prepareMessage(
  { chat, catalog }: { chat: Pick<Chat, "plan">; catalog: LiveCatalog },
  { caller, body, bodyBytes, requestId, session = null }: IncomingCall,
  headers: Headers,
): CallPlan<ChatKinds> {
  checkVersion(headers["anthropic-version"]);
  // Validated by the schema.
  const written = body as Fields & { model: string };
  const read = readMessageRequest(written, describeModel(catalog, written.model));
  checkFetchedUrls({ wire: "messages", body: read.body });
  const envelope = { id: `msg_${requestId.slice("req_".length)}`, model: written.model };
  const presenter = new MessagePresenter(envelope, { isStreamed: written.stream === true });
  const plan = inCallersWords(read.places, () =>
    chat.plan({
      ...{ caller, requestId, session, request: read.request },
      bodyBytes: bodyBytes + read.referencedBytes,
      native: {
        wire: "messages",
        body: read.body,
        headers: readVendorHeaders(headers),
        obstacle: read.obstacle,
        envelope,
      },
      createPresenter: () => presenter,
    }),
  );
  presenter.expectInput(plan.tokensLikely - plan.terms.unitsUsual);
  const { explain } = plan;
  plan.explain = (error) => translateError(explain(error), read.places);
  return plan;
}

function inCallersWords<T>(places: CallersPlaces, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof AppError ? translateError(error, places) : error;
  }
}

function describeModel(catalog: LiveCatalog, name: string): MessageModel | null {
  const model = findModel(catalog.current(), name);
  if (model === undefined) return null;
  return {
    isReasoning: model.capabilities.includes("reasoning"),
    outputTokensMax: model.limits.max_output_tokens ?? null,
    takesField: (field) => model.routes.some(({ passthrough = [] }) => passthrough.includes(field)),
  };
}

/** The headers to forward to an upstream with the same API. */
function readVendorHeaders(headers: Headers): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of ["anthropic-version", "anthropic-beta"]) {
    const value = headers[name];
    if (value !== undefined) passed[name] = String(value);
  }
  return passed;
}
