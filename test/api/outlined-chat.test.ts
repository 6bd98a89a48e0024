import fc from "fast-check";
import { expect, test } from "vitest";
import type { Model } from "../../src/features/catalog/index.ts";
import { chatRequestSchema } from "../../src/features/chat/chat-request-schema.ts";
import { checkChatFields, checkChatRequest } from "../../src/features/chat/check-chat-request.ts";
import { dropEmptyFields } from "../../src/features/chat/drop-empty-fields.ts";
import { findAffinity } from "../../src/features/chat/find-affinity.ts";
import { countInput, measureInput } from "../../src/features/chat/measure-input.ts";
import { outlineChat } from "../../src/features/chat/outline-chat.ts";
import { repairChatBody } from "../../src/features/chat/repair-chat-body.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { AppError } from "../../src/platform/errors/app-error.ts";
import { compileOutlined, compileRepairing } from "../../src/platform/http/validation.ts";
import type { ChatRequest } from "../../src/providers/chat-request.ts";
import {
  buildUpstreamBody,
  type UpstreamQuirks,
} from "../../src/providers/openai-compatible/build-upstream-request.ts";
import { list, number, object, oneOf, schema, text } from "../harness/chat/json-texts.ts";

const accountId = "acct_1" as AccountId;
const limits = { structureMax: 80_000, escapesMax: 1_000_000 };

const model = {
  id: "m",
  type: "chat",
  capabilities: ["chat", "streaming", "tools"],
  limits: { max_prompt_length: 300, context_window: 1000 },
  routes: [{ passthrough: ["beam_width"] }],
} as unknown as Model;

const quirks: UpstreamQuirks = {
  outputCapField: "max_tokens",
  asksStreamUsage: true,
  systemRole: "as-sent",
  unsupportedFields: [],
  vendorFields: new Set(),
  dialect: null,
};
const upstreams: UpstreamQuirks[] = [
  quirks,
  { ...quirks, systemRole: "system" },
  { ...quirks, outputCapField: "none", unsupportedFields: ["tools"] },
];

const validate = compileOutlined(compileRepairing(repairChatBody))({
  ...{ schema: chatRequestSchema, httpPart: "body", method: "POST", url: "/" },
} as never) as ((body: unknown) => boolean) & { errors?: { instancePath: string; message?: string }[] | null };

/** Everything that a caller or an upstream could see of how a request was taken. */
function take(body: unknown, bytes: number): unknown {
  if (!validate(body)) return validate.errors?.map(({ instancePath, message }) => [instancePath, message]);
  const request = body as ChatRequest;
  try {
    const seen = checkChatFields(request, model);
    dropEmptyFields(request, model, seen);
    const size = measureInput(request, bytes);
    checkChatRequest(request, model, size);
    const affinity = findAffinity({ accountId, request, session: null });
    const bodies = upstreams.map((upstream) =>
      JSON.parse(String(buildUpstreamBody({ request, upstreamModel: "u", outputTokensMax: 7 } as never, upstream))),
    );
    return { size, affinity, bodies, input: countInput(request, size) };
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.param, error.message];
    throw error;
  }
}

const content = fc.oneof(
  text,
  list(object({ type: oneOf('"text"'), text })),
  text,
  text,
  text,
  oneOf('[{"type":"image_url","image_url":{"url":"https://a.b/c.png"}}]', "[]"),
);
const call = object({ id: text, type: oneOf('"function"'), function: object({ name: text, arguments: text }) });
const message = fc.oneof(
  object({ role: oneOf('"user"', '"system"', '"developer"'), content }, { name: text }),
  object(
    { role: oneOf('"assistant"') },
    { content: fc.oneof(content, oneOf("null")), refusal: fc.oneof(text, oneOf("null")), tool_calls: list(call) },
  ),
  object({ role: oneOf('"assistant"'), content, tool_calls: list(call) }),
  object({ role: oneOf('"tool"'), content, tool_call_id: text }, { name: text }),
);
const tool = object({
  type: oneOf('"function"'),
  function: object(
    { name: oneOf('"read"', '"write"', '"search"', '"run-1_x"', '"no way"') },
    {
      description: text,
      parameters: fc.oneof(oneOf('{"type":"object"}'), object({ type: text }, { properties: schema })),
      strict: oneOf("true", "null"),
    },
  ),
});
const request = object(
  { model: oneOf('"m"'), messages: list(message, 4) },
  {
    tools: list(tool),
    tool_choice: oneOf('"auto"', '{"type":"function","function":{"name":"read"}}', "null"),
    stream: oneOf("true", "false", "null"),
    max_tokens: oneOf("5", "0", "null"),
    temperature: number,
    user: text,
    metadata: object({}, { user_id: text }),
    stop: oneOf("null", '["a"]'),
    functions: oneOf('[{"name":"f"}]'),
    beam_width: schema,
  },
);

test("an outlined request is taken like a parsed one: refused alike, as large, and the same to each upstream", () => {
  let outlined = 0;
  let parsed = 0;
  fc.assert(
    fc.property(request, (body) => {
      const bytes = Buffer.from(body);
      const outline = outlineChat(bytes, limits, () => true);
      if (outline === null) {
        parsed += 1;
        return;
      }
      outlined += 1;
      expect(take(outline, bytes.length)).toEqual(take(JSON.parse(body), bytes.length));
    }),
    { numRuns: 3000 },
  );
  // Both ways must occur often.
  expect(outlined).toBeGreaterThan(300);
  expect(parsed).toBeGreaterThan(300);
});
