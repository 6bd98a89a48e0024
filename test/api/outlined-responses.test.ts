import fc from "fast-check";
import { expect, test } from "vitest";
import type { Model } from "../../src/features/catalog/index.ts";
import { checkChatFields, checkChatRequest } from "../../src/features/chat/check-chat-request.ts";
import { checkFetchedUrls } from "../../src/features/chat/check-fetched-urls.ts";
import { dropEmptyFields } from "../../src/features/chat/drop-empty-fields.ts";
import { findAffinity } from "../../src/features/chat/find-affinity.ts";
import { countInput, measureInput } from "../../src/features/chat/measure-input.ts";
import { translateError } from "../../src/features/chat/translate-error.ts";
import { openConversation } from "../../src/features/responses/create-response.ts";
import { hasHistory } from "../../src/features/responses/load-conversation.ts";
import { hasFiles } from "../../src/features/responses/load-files.ts";
import { outlineResponse } from "../../src/features/responses/outline-response.ts";
import {
  readResponseRequest,
  responseFieldNames,
  writeNativeBody,
} from "../../src/features/responses/read-response-request.ts";
import { writeReasoningMark } from "../../src/features/responses/reasoning-mark.ts";
import type { ResponseRequest } from "../../src/features/responses/response-request.ts";
import { responseRequestSchema } from "../../src/features/responses/response-request-schema.ts";
import { listNamespacedTools } from "../../src/features/responses/tool-namespaces.ts";
import { searchesTools } from "../../src/features/responses/tool-search.ts";
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

const validate = compileOutlined(compileValidator)({
  ...{ schema: responseRequestSchema, httpPart: "body", method: "POST", url: "/" },
} as never) as ((body: unknown) => boolean) & { errors?: { instancePath: string; message?: string }[] | null };

/** Everything that a caller or an upstream could see of how a request was taken. */
function take(body: unknown, bytes: number): unknown {
  if (!validate(body)) return validate.errors?.map(({ instancePath, message }) => [instancePath, message]);
  const asked = body as ResponseRequest;
  if (hasHistory(asked) || hasFiles(asked)) return "stored";
  const conversation = openConversation(asked);
  try {
    const found = readResponseRequest(asked, conversation.items);
    const output = { searches: searchesTools(asked), named: listNamespacedTools(found.entries) };
    const native = { wire: "responses", body: writeNativeBody(asked, conversation.items) } as NativeRequest;
    checkFetchedUrls(native);
    const sent = JSON.parse(String(buildNativeBody({ native, upstreamModel: "u", outputTokensMax: 4 })));
    const { chat: request, obstacle, references } = found;
    try {
      const seen = checkChatFields(request, model, responseFieldNames);
      dropEmptyFields(request, model, seen);
      const size = measureInput(request, bytes + references);
      checkChatRequest(request, model, size);
      const affinity = findAffinity({ accountId, request, session: null });
      const isAllowed = findNativeObstacle(native, ["beam_width"]);
      const input = countInput(request, size);
      return { size, affinity, isAllowed, sent, obstacle, output, input, request: { ...request }, asked: { ...asked } };
    } catch (error) {
      if (error instanceof AppError) throw translateError(error, found.places);
      throw error;
    }
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.param, error.message];
    throw error;
  }
}

const part = object(
  { type: oneOf('"input_text"', '"output_text"', '"text"'), text },
  { annotations: oneOf("[]", '[{"type":"url_citation","url":"http://10.0.0.1/"}]') },
);
const content = fc.oneof(text, text, list(part), oneOf("[]"));
const status = { status: oneOf('"completed"') };
const ours = JSON.stringify(writeReasoningMark({ text: "Hm", details: null }));
const item = fc.oneof(
  object({ type: oneOf('"message"'), role: oneOf('"user"', '"system"', '"developer"'), content }, status),
  object({ role: oneOf('"assistant"', '"user"'), content }, status),
  object({ type: oneOf('"function_call"'), call_id: oneOf('"a"', '"b"'), name: text, arguments: text }, status),
  object({ type: oneOf('"custom_tool_call"'), call_id: oneOf('"a"'), name: text, input: text }),
  object({
    type: oneOf('"function_call_output"', '"custom_tool_call_output"'),
    call_id: oneOf('"a"'),
    output: content,
  }),
  object(
    {
      type: oneOf('"reasoning"'),
      summary: fc.oneof(oneOf("[]"), list(object({ type: oneOf('"summary_text"'), text }))),
    },
    { encrypted_content: oneOf('"gAAA"', "null", ours, `"\\u0073${ours.slice(2)}`) },
  ),
);
const oddItem = oneOf(
  ...[
    '{"type":"item_reference","id":"msg_1"}',
    '{"role":"user","content":"x","id":"msg_1"}',
    "{}",
    '{"type":"compaction"}',
  ],
  ...[
    '{"type":"web_search_call","status":"completed"}',
    '{"role":"user","content":[{"type":"input_image","file_id":"f"}]}',
  ],
  '{"role":"user","content":[{"type":"input_image","image_url":"http://10.0.0.1/a.png"}]}',
);
const tool = fc.oneof(
  object(
    {
      ...{ type: oneOf('"function"'), name: oneOf('"read"', '"write"', '"search"', '"no way"') },
      parameters: fc.oneof(oneOf('{"type":"object"}'), object({ type: text }, { properties: schema })),
    },
    { description: text, strict: oneOf("true", "false", "null") },
  ),
  object({ type: oneOf('"custom"'), name: oneOf('"patch"') }, { description: text, format: oneOf('{"type":"text"}') }),
  oneOf('{"type":"web_search"}', '{"type":"tool_search","execution":"client"}'),
);
const request = object(
  {
    ...{ model: oneOf('"m"'), store: oneOf("false") },
    input: list(fc.oneof({ weight: 20, arbitrary: item }, { weight: 1, arbitrary: oddItem }), 5),
  },
  {
    tools: list(fc.oneof({ weight: 6, arbitrary: tool }, { weight: 1, arbitrary: tool })),
    tool_choice: oneOf('"auto"', '"required"', '{"type":"function","name":"read"}', '{"type":"custom","name":"patch"}'),
    parallel_tool_calls: oneOf("true", "false"),
    instructions: text,
    stream: oneOf("true", "false", "null"),
    max_output_tokens: oneOf("5", "null"),
    temperature: number,
    prompt_cache_key: text,
    reasoning: oneOf('{"effort":"low","summary":"auto"}', '{"mode":"pro"}'),
    include: oneOf('["reasoning.encrypted_content"]'),
    text: oneOf('{"verbosity":"low"}'),
    client_metadata: oneOf('{"a":"b"}'),
    previous_response_id: oneOf("null", '"resp_1"'),
    beam_width: schema,
  },
);

test("an outlined request is taken like a parsed one: refused alike, as large, and the same to each upstream", () => {
  let outlined = 0;
  let parsed = 0;
  fc.assert(
    fc.property(request, (body) => {
      const bytes = Buffer.from(body);
      const outline = outlineResponse(bytes, limits, () => true);
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
