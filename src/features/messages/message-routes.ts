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
import { type CallPlan, type Calls, callErrors, fieldErrors, type IncomingCall } from "../calls/index.ts";
import { getOfferedModel, type LiveCatalog } from "../catalog/index.ts";
import { type Chat, type ChatKinds, checkFetchedUrls } from "../chat/index.ts";
import { countMessageTokens } from "./count-message-tokens.ts";
import type { Fields } from "./message-error.ts";
import { type MessagePlace, translateError } from "./message-places.ts";
import {
  messageAnswerSchema,
  messageQuerySchema,
  messageRequestSchema,
  tokenCountRequestSchema,
  tokenCountSchema,
} from "./message-schema.ts";
import { MessagePresenter } from "./present-message.ts";
import { checkVersion, type MessageModel, readMessageRequest } from "./read-message-request.ts";

type MessageDependencies = {
  calls: Pick<Calls, "answer">;
  chat: Pick<Chat, "plan">;
  catalog: LiveCatalog;
  clock: Clock;
};

const description = `Anthropic's Messages API: set \`ANTHROPIC_BASE_URL\` to this site's address, without \`/v1\`. Every model
answers, whoever made it. The key goes into \`x-api-key\` or \`Authorization: Bearer\`. Errors have Anthropic's form too.
\`usage.charge\` is what the call cost.`;

/** What a call can be answered with beyond what every endpoint can. */
const readErrors = [
  "invalid_json",
  "missing_parameter",
  "invalid_parameter",
  "unknown_parameter",
  "payload_too_large",
  "unsupported_media_type",
  "model_unavailable",
] as const satisfies readonly ErrorCode[];

const messageErrors = [
  "invalid_json",
  ...fieldErrors,
  "context_length_exceeded",
  "invalid_url",
  ...callErrors,
] as const satisfies readonly ErrorCode[];

export function addMessageRoutes(http: HttpServer, dependencies: MessageDependencies): void {
  addCreation(http, dependencies);
  addCount(http, dependencies);
}

function addCreation(http: HttpServer, { calls, chat, catalog }: MessageDependencies): void {
  const { config, schema, errors } = describeEndpoint("createMessage", messageErrors);
  http.post(
    "/messages",
    {
      config: { ...config, storesTexts: false },
      schema: {
        ...schema,
        summary: "Create a message",
        description,
        tags: ["Chat"],
        headers: describeHeaders("idempotency-key", "anthropic-version", "anthropic-beta"),
        querystring: messageQuerySchema,
        ...describeAnswers({ 200: { types: ["application/json", "text/event-stream"] } }),
        body: messageRequestSchema,
        response: { 200: Type.Unsafe<string>(messageAnswerSchema), ...errors },
      },
    },
    // Not an `async` function, whose promise and all that waits for it would be kept for as long as a stream lasts.
    (request, reply) => {
      const prepare = (incoming: IncomingCall): CallPlan<ChatKinds> =>
        prepareMessage({ chat, catalog }, incoming, request.headers);
      calls.answer({ path: "/v1/messages", prepare }, request, reply);
    },
  );
}

function addCount(http: HttpServer, { catalog, clock }: MessageDependencies): void {
  const { config, schema, errors } = describeEndpoint("countMessageTokens", readErrors);
  http.post(
    "/messages/count_tokens",
    {
      config: { ...config, storesTexts: false },
      schema: {
        ...schema,
        summary: "Count the tokens of a message",
        description: "About how many tokens a request has, by our own count. It costs nothing.",
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
      return { input_tokens: countMessageTokens(body) };
    },
  );
}

type Headers = FastifyRequest["headers"];

/** Everything about a call that can be known before anything happens. Throws what is wrong with it. */
function prepareMessage(
  { chat, catalog }: Pick<MessageDependencies, "chat" | "catalog">,
  { caller, body, bodyBytes, requestId, session = null }: IncomingCall,
  headers: Headers,
): CallPlan<ChatKinds> {
  checkVersion(headers["anthropic-version"]);
  // The schema has checked it.
  const written = body as Fields & { model: string };
  const read = readMessageRequest(written, findModel(catalog, written.model));
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

function inCallersWords<T>(places: readonly MessagePlace[], act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof AppError ? translateError(error, places) : error;
  }
}

function findModel(catalog: LiveCatalog, modelId: string): MessageModel | null {
  const model = catalog.current().modelById.get(modelId);
  if (model === undefined) return null;
  return {
    isReasoning: model.capabilities.includes("reasoning"),
    outputTokensMax: model.limits.max_output_tokens ?? null,
    takesField: (field) => model.routes.some(({ passthrough = [] }) => passthrough.includes(field)),
  };
}

/** What a vendor of the same wire is to see. */
function readVendorHeaders(headers: Headers): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of ["anthropic-version", "anthropic-beta"]) {
    const value = headers[name];
    if (value !== undefined) passed[name] = String(value);
  }
  return passed;
}
