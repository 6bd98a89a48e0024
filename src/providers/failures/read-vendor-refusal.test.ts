import { APICallError } from "@ai-sdk/provider";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { convertError } from "../ai-sdk/convert-error.ts";
import type { ProviderError } from "../contract.ts";
import { readFalError } from "../fal/read-fal-error.ts";
import { createMessagesForm } from "../native/messages-form.ts";
import { createResponsesForm } from "../native/responses-form.ts";
import { readMediaError } from "../openai-compatible/read-media-error.ts";
import { readUpstreamError } from "../openai-compatible/read-upstream-error.ts";
import { failureTable } from "./failure-table.ts";
import { type RecordedRefusal, recordedRefusals } from "./fixtures/vendor-refusals.ts";
import { parseRefusal, readVendorWords } from "./read-vendor-words.ts";
import { refusalRules } from "./refusal-rules.ts";

const clock = createTestClock(new Date("2026-01-01T00:00:00Z"));
const host = "vendor.example";
const forms = { messages: createMessagesForm({ clock, host }), responses: createResponsesForm({ clock, host }) };

type Heard = Pick<RecordedRefusal, "status" | "body"> & { headers: Readonly<Record<string, string>> };

function write(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}

/** Every reader of vendors' errors. */
const readers: Readonly<Record<string, (heard: Heard) => ProviderError>> = {
  chat: (heard) => readUpstreamError({ ...heard, clock }),
  messages: (heard) => forms.messages.readError(heard),
  responses: (heard) => forms.responses.readError(heard),
  "the SDK": ({ status, headers, body }) => {
    const request = { url: `https://${host}`, requestBodyValues: {}, message: "" };
    const responseBody = body === undefined ? "" : write(body);
    const call = { ...request, responseBody, responseHeaders: { ...headers } };
    return convertError(new APICallError({ ...call, statusCode: status }), clock.now());
  },
  media: (heard) => readMediaError(heard, { clock }),
  fal: (heard) => readFalError(heard, { clock, findParam: () => null }),
};

function hear({ status, body, headers = {} }: RecordedRefusal): Heard {
  return { status, headers, body: parseRefusal(write(body)) };
}

describe.each(Object.keys(readers))("vendors' errors read by %s", (name) => {
  const read = readers[name] as (heard: Heard) => ProviderError;

  test.each(recordedRefusals.map((refusal) => [refusal.vendor, refusal.status, refusal.kind, refusal] as const))(
    "%s's %i is %s",
    (_vendor, status, kind, refusal) => {
      // A request for media refers to nothing in the vendor's account.
      const isOfUpstream = name === "media" && status === 404 && kind === "rejected";
      expect(read(hear(refusal)).kind, write(refusal.body)).toBe(isOfUpstream ? "unexplained" : kind);
    },
  );
});

test("every kind has a recorded error, and every rule is needed by one", () => {
  const heardOf = new Set(recordedRefusals.map(({ kind }) => kind));
  const notOfVendors = new Set(["unreachable", "bad-answer", "timeout"]);
  for (const kind of Object.keys(failureTable)) if (!notOfVendors.has(kind)) expect(heardOf).toContain(kind);
  const kindsOfRules = new Set(refusalRules.map(({ kind }) => kind));
  for (const kind of kindsOfRules) expect(heardOf).toContain(kind);
});

test("text that a vendor quotes from the request opens no circuit", () => {
  const spoken = recordedRefusals.map(({ body }) => readVendorWords(parseRefusal(write(body))).message);
  const quotes = [
    "File not found: ",
    "Invalid value: '",
    "messages.0.content: ",
    "Failed to download image from https://x/",
  ];
  for (const message of spoken) {
    for (const quote of quotes) {
      for (const status of [400, 403, 404, 422]) {
        for (const type of ["invalid_request_error", "not_found_error", "permission_error"]) {
          const body = { type: "error", error: { type, message: `${quote}${message}` } };
          for (const read of Object.values(readers)) {
            const { kind } = read({ status, headers: {}, body });
            expect(failureTable[kind].circuit.opens, `${status} ${quote}${message} is ${kind}`).toMatch(/^never/);
          }
        }
      }
    }
  }
});

test("any body can be read, and none is kept whole", () => {
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 599 }), fc.jsonValue(), fc.boolean(), (status, value, isInside) => {
      const body = isInside ? { error: value } : value;
      for (const read of Object.values(readers)) {
        const { kind, detail } = read({ status, headers: {}, body });
        expect(failureTable).toHaveProperty(kind);
        expect(String(detail?.message).length).toBeLessThanOrEqual(500);
      }
    }),
  );
});
