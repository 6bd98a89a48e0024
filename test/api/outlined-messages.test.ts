import fc from "fast-check";
import { expect, test } from "vitest";
import type { Model } from "../../src/features/catalog/index.ts";
import { checkChatFields, checkChatRequest } from "../../src/features/chat/check-chat-request.ts";
import { checkFetchedUrls } from "../../src/features/chat/check-fetched-urls.ts";
import { dropEmptyFields } from "../../src/features/chat/drop-empty-fields.ts";
import { findAffinity } from "../../src/features/chat/find-affinity.ts";
import { countInput, measureInput } from "../../src/features/chat/measure-input.ts";
import { translateError } from "../../src/features/chat/translate-error.ts";
import { messageRequestSchema } from "../../src/features/messages/message-schema.ts";
import { outlineMessage } from "../../src/features/messages/outline-message.ts";
import { type MessageModel, readMessageRequest } from "../../src/features/messages/read-message-request.ts";
import { unsignedThinkingMark } from "../../src/features/messages/thinking-mark.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { AppError } from "../../src/platform/errors/app-error.ts";
import { compileOutlined, compileValidator } from "../../src/platform/http/validation.ts";
import type { NativeRequest } from "../../src/providers/contract.ts";
import { buildNativeBody } from "../../src/providers/native/build-native-body.ts";
import { findNativeObstacle } from "../../src/providers/native/find-native-obstacle.ts";
import { list, number, object, oneOf, schema, text } from "../harness/chat/json-texts.ts";

const limits = { structureMax: 80_000, escapesMax: 1_000_000 };
const accountId = "acct_1" as AccountId;

const model = {
  id: "m",
  type: "chat",
  capabilities: ["chat", "streaming", "tools", "reasoning", "json_schema"],
  limits: { max_prompt_length: 300, context_window: 1000 },
  routes: [{ passthrough: ["beam_width"] }],
} as unknown as Model;
const models: readonly (MessageModel | null)[] = [
  { isReasoning: true, outputTokensMax: 6, takesField: (field) => field === "beam_width" },
  { isReasoning: false, outputTokensMax: null, takesField: () => false },
];
const policies = [
  { isAutomatic: false, allowsHour: false },
  { isAutomatic: true, allowsHour: false },
  { isAutomatic: false, allowsHour: true },
];

const validate = compileOutlined(compileValidator)({
  ...{ schema: messageRequestSchema, httpPart: "body", method: "POST", url: "/" },
} as never) as ((body: unknown) => boolean) & { errors?: { instancePath: string; message?: string }[] | null };

type Body = Readonly<Record<string, unknown>>;

/** Everything that a caller or an upstream could see of how a request was taken. */
function take(read: () => unknown, of: MessageModel | null, bytes: number): unknown {
  const body = read() as Body;
  if (!validate(body)) return validate.errors?.map(({ instancePath, message }) => [instancePath, message]);
  try {
    const found = readMessageRequest(body, of);
    checkFetchedUrls({ wire: "messages", body: found.body });
    const { request, obstacle } = found;
    const native = { wire: "messages", body: found.body } as NativeRequest;
    const bodies = policies.map((cacheControl) =>
      JSON.parse(String(buildNativeBody({ native, upstreamModel: "u", outputTokensMax: 4, cacheControl }))),
    );
    try {
      const seen = checkChatFields(request, model);
      dropEmptyFields(request, model, seen);
      const size = measureInput(request, bytes + found.referencedBytes);
      checkChatRequest(request, model, size);
      const affinity = findAffinity({ accountId, request, session: null });
      const isAllowed = findNativeObstacle(native, ["beam_width"]);
      return { size, affinity, isAllowed, bodies, obstacle, input: countInput(request, size), request: { ...request } };
    } catch (error) {
      if (error instanceof AppError) throw translateError(error, found.places);
      throw error;
    }
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.param, error.message];
    throw error;
  }
}

const mark = {
  cache_control: oneOf('{"type":"ephemeral"}', '{"type":"ephemeral","ttl":"5m"}', '{"type":"ephemeral","ttl":"1h"}'),
};
const textBlock = object({ type: oneOf('"text"'), text }, mark);
const result = object(
  { type: oneOf('"tool_result"'), tool_use_id: oneOf('"a"', '"b"', '"a~sealed"', '"\\u007e"') },
  {
    ...mark,
    content: fc.oneof(text, list(textBlock), oneOf("[]", '[{"type":"image"}]')),
    is_error: oneOf("false", "false", "true"),
  },
);
const call = object(
  {
    type: oneOf('"tool_use"'),
    id: oneOf('"a"', '"b"'),
    name: text,
    input: fc.oneof(object({ a: schema }), oneOf("{}")),
  },
  mark,
);
const signature = oneOf('"c2ln"', '"c2\\/n"', `"${unsignedThinkingMark}"`, `"\\u0073${unsignedThinkingMark.slice(1)}"`);
const thought = object({ type: oneOf('"thinking"'), thinking: text, signature });
const turn = fc.oneof(
  object({ role: oneOf('"user"'), content: fc.oneof(text, list(textBlock), list(fc.oneof(textBlock, result))) }),
  object({
    role: oneOf('"assistant"'),
    content: fc.oneof(text, list(fc.oneof(textBlock, call)), list(fc.oneof(thought, call))),
  }),
);
const oddTurn = oneOf(
  ...['{"role":"system","content":"x"}', '{"role":"user","content":[]}', '{"role":"assistant","content":[]}'],
  ...[
    '{"role":"user","content":[{"type":"thinking","thinking":"x","signature":"y"}]}',
    '{"role":"user","content":null}',
  ],
  '{"role":"user","content":[{"type":"document","source":{"type":"url","url":"http://10.0.0.1/"}}]}',
);
const tool = object(
  {
    name: oneOf('"read"', '"write"', '"search"', '"no way"'),
    input_schema: fc.oneof(oneOf('{"type":"object"}'), object({ type: text }, { properties: schema })),
  },
  { ...mark, description: text, type: oneOf('"custom"', '"custom"', '"web_search_20250305"') },
);
const billing = '[{"type":"text","text":"x-anthropic-billing-header: 1"},{"type":"text","text":"Be brief."}]';
const request = object(
  {
    ...{ model: oneOf('"m"'), max_tokens: oneOf("5", "9") },
    messages: list(fc.oneof({ weight: 12, arbitrary: turn }, { weight: 1, arbitrary: oddTurn }), 4),
  },
  {
    system: fc.oneof(text, list(textBlock), oneOf(billing, "[]")),
    tools: list(tool),
    tool_choice: oneOf('{"type":"auto"}', '{"type":"tool","name":"read"}'),
    stream: oneOf("true", "false", "null"),
    temperature: number,
    metadata: object({}, { user_id: text }),
    thinking: oneOf('{"type":"enabled","budget_tokens":2000}', '{"type":"disabled"}'),
    output_config: oneOf('{"effort":"high"}', '{"format":{"type":"json_schema","schema":{}}}'),
    cache_control: mark.cache_control,
    diagnostics: oneOf('{"previous_message_id":null}'),
    top_k: oneOf("3"),
    beam_width: schema,
  },
);

test("an outlined request is taken like a parsed one: refused alike, as large, and the same to each upstream", () => {
  let outlined = 0;
  let parsed = 0;
  fc.assert(
    fc.property(request, fc.constantFrom(...models), (body, of) => {
      const bytes = Buffer.from(body);
      if (outlineMessage(bytes, limits, () => true) === null) {
        parsed += 1;
        return;
      }
      outlined += 1;
      const outline = take(() => outlineMessage(bytes, limits, () => true), of, bytes.length);
      expect(outline).toEqual(take(() => JSON.parse(body), of, bytes.length));
    }),
    { numRuns: 3000 },
  );
  // Both ways must occur often.
  expect(outlined).toBeGreaterThan(300);
  expect(parsed).toBeGreaterThan(300);
});
