import { hash } from "node:crypto";
import { quotePlan } from "../calls/index.ts";
import type { Quotable, QuoteAsked, QuotedTerms } from "../quotes/index.ts";
import { openHistory, openInput } from "./background-run.ts";
import { prepareCompaction } from "./compact-response.ts";
import { RequestedResponse } from "./create-response.ts";
import type { Conversation } from "./prepare-response.ts";
import type { ResponseDependencies } from "./response-dependencies.ts";
import type { ResponseRequest } from "./response-request.ts";
import { compactRequestSchema, responseRequestSchema } from "./response-request-schema.ts";

export function listQuotables(dependencies: ResponseDependencies): readonly Quotable[] {
  return [
    {
      ...{ endpoint: "createResponse", path: "/responses", schema: responseRequestSchema },
      quote: (asked) => quoteResponse(dependencies, asked),
    },
    {
      ...{ endpoint: "compactResponse", path: "/responses/compact", schema: compactRequestSchema },
      quote: (asked) => quoteCompaction(dependencies, asked),
    },
  ];
}

async function quoteResponse(dependencies: ResponseDependencies, asked: QuoteAsked): Promise<QuotedTerms> {
  const request = asked.body as ResponseRequest;
  const conversation = await openInput(dependencies, asked.caller.accountId, request);
  const basis = describeBasis(conversation);
  const requested = new RequestedResponse(dependencies, conversation);
  const plan = request.background === true ? requested.prepareSaved(asked).plan : requested.prepare(asked);
  return quotePlan(plan, basis);
}

async function quoteCompaction(dependencies: ResponseDependencies, asked: QuoteAsked): Promise<QuotedTerms> {
  const conversation = await openHistory(dependencies, asked.caller.accountId, asked.body as ResponseRequest);
  const basis = describeBasis(conversation);
  return quotePlan(prepareCompaction(dependencies, asked, conversation), basis);
}

/** The stored items that a request continues: a conversation may grow, and then the request costs more. */
export function describeBasis({ items, own }: Pick<Conversation, "items" | "own">): string {
  const before = items.slice(0, items.length - own.length).map(({ item }) => item);
  return before.length === 0 ? "" : hash("sha256", JSON.stringify(before), "base64url");
}
