import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { describeValidationProblem, type ValidationFinding } from "../../platform/errors/validation-problem.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { compileValidator } from "../../platform/http/validation.ts";
import type { Quotes } from "./create-quotes.ts";
import { guardDepth } from "./guard-depth.ts";
import type { Quotable, QuoteAsked } from "./quotable.ts";
import { presentQuote, quoteRequestSchema, quoteSchema } from "./quote-schema.ts";

type QuoteDependencies = {
  quotes: Pick<Quotes, "describe" | "issue">;
  quotables: readonly Quotable[];
  clock: Clock;
  currency: string;
  /** Endpoints that the operator disabled. */
  disabled: ReadonlySet<string>;
};

const description = `Returns the most that a paid request can cost, an estimate, and a quote id. Send the same request with the header
\`X-Quote-Id\` within 15 minutes: it puts at most \`max_charge\` on hold and costs at most that, also if prices rise. Quoting is
free and validates the request as its endpoint does: \`param\` of an error names a field of \`request\`. For a transcription, send
the form's fields and \`duration_seconds\` instead of the file.`;

/** Errors of the quoted endpoints that planning a request can raise. */
const ownErrors = [
  "invalid_json",
  "missing_parameter",
  "invalid_parameter",
  "unknown_parameter",
  "unsupported_capability",
  "context_length_exceeded",
  "prompt_too_long",
  "invalid_url",
  "invalid_file",
  "file_not_found",
  "not_found",
  "task_not_found",
  "shot_not_available",
  "webhook_required",
  "model_unavailable",
  "model_unroutable",
  "payload_too_large",
  "unsupported_media_type",
] as const satisfies readonly ErrorCode[];

/** As for embeddings, whose lists of tokens have the most. */
const jsonStructureMax = 400_000;

export function addQuoteRoutes(http: HttpServer, dependencies: QuoteDependencies): void {
  const { config, schema, errors } = describeEndpoint("createQuote", ownErrors);
  const endpoints = dependencies.quotables.map(prepareEndpoint);
  http.post(
    "/quote",
    {
      config: { ...config, storesTexts: false, jsonStructureMax },
      schema: {
        ...schema,
        summary: "Quote a request",
        description,
        tags: ["Models"],
        body: quoteRequestSchema,
        response: { 200: quoteSchema, ...errors },
      },
    },
    async (request) => {
      const { path, request: body } = request.body;
      const { headers, id: requestId } = request;
      const sent = { body, headers, requestId, path: path.replace(/^\/v1(?=\/)/, "") };
      return await createQuote(dependencies, endpoints, { ...sent, caller: getCaller(request) });
    },
  );
}

/** A quotable endpoint with its path as a pattern and its validator. */
type Endpoint = Quotable & { pattern: RegExp; validate(body: unknown): void };

function prepareEndpoint(quotable: Quotable): Endpoint {
  const { path, schema, compile = compileValidator } = quotable;
  const validate = compile({ schema, method: "POST", url: path, httpPart: "body" });
  return {
    ...quotable,
    pattern: new RegExp(`^${path.replaceAll(/:([a-z_]+)/g, "(?<$1>[0-9a-z_]{1,128})")}$`),
    validate(body) {
      if (validate(body) === true) return;
      const findings: readonly ValidationFinding[] = (validate as { errors?: ValidationFinding[] | null }).errors ?? [];
      const { code, message, param } = describeValidationProblem(findings, "body");
      throw new AppError(code, message, param === null ? {} : { param });
    },
  };
}

async function createQuote(
  { quotes, clock, currency, disabled }: QuoteDependencies,
  endpoints: readonly Endpoint[],
  { path, body, caller, headers, requestId }: Omit<QuoteAsked, "bodyBytes" | "params"> & { path: string },
) {
  const { endpoint, params } = findEndpoint(endpoints, path);
  if (disabled.has(endpoint.endpoint)) {
    throw new AppError("endpoint_not_released", "This endpoint is disabled by the operator.", { param: "path" });
  }
  const bodyBytes = guardDepth(() => Buffer.byteLength(JSON.stringify(body)));
  endpoint.open?.(body);
  endpoint.validate(body);
  const { accountId } = caller;
  const subject = quotes.describe({ accountId, path, body: endpoint.describe?.(body) ?? body });
  const terms = await endpoint.quote({ caller, body, bodyBytes, requestId, headers, params });
  const issued = quotes.issue(accountId, subject, terms);
  return presentQuote(terms, { ...issued, path, currency, now: clock.now() });
}

function findEndpoint(
  endpoints: readonly Endpoint[],
  path: string,
): { endpoint: Endpoint; params: Record<string, string> } {
  for (const endpoint of endpoints) {
    const match = endpoint.pattern.exec(path);
    if (match !== null) return { endpoint, params: { ...match.groups } };
  }
  const message =
    path === "/images/edits"
      ? "Uploads can't be quoted. Upload the images with `POST /v1/files` and quote `/images/generations` with `input_images`."
      : `\`path\` must be one of: ${endpoints.map((endpoint) => endpoint.path).join(", ")}.`;
  throw new AppError("invalid_parameter", message, { param: "path" });
}
