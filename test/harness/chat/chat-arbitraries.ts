import fc from "fast-check";
import { unicodeText } from "../unicode-text.ts";

type Fields = Record<string, unknown>;

const text = unicodeText({ maxLength: 20 });
const toolName = fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/);
const anyJson = fc.jsonValue({ maxDepth: 3 });
/** Inline, so that no test depends on the network. */
const picture = fc.constantFrom("data:image/png;base64,iVBORw0KGgo=", "data:image/gif;base64,R0lGODlhAQABAAAAACw=");

const textPart = fc.record({ type: fc.constant("text"), text });
const imagePart = fc.record({ type: fc.constant("image_url"), image_url: fc.record({ url: picture }) });
const toolCall = fc.record({
  id: fc.stringMatching(/^call_[a-z0-9]{1,8}$/),
  type: fc.constant("function"),
  function: fc.record({ name: toolName, arguments: fc.constantFrom("{}", '{"a":1}') }),
});

const anyMessage = fc.oneof(
  fc.record({ role: fc.constantFrom("system", "developer"), content: text }),
  fc.record({
    role: fc.constant("user"),
    content: fc.oneof(text, fc.array(fc.oneof(textPart, imagePart), { minLength: 1, maxLength: 3 })),
  }),
  fc.record({ role: fc.constant("assistant"), content: text, refusal: fc.constant(null) }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc.constant(null),
    tool_calls: fc.array(toolCall, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ role: fc.constant("tool"), content: text, tool_call_id: fc.constant("call_1") }),
);

const tool = fc.record({
  type: fc.constant("function"),
  function: fc.record({ name: toolName, description: text, parameters: fc.dictionary(fc.string(), anyJson) }),
});

/** A request that the API's schema allows; a model may still not support it. */
const anyChatRequest: fc.Arbitrary<Fields> = fc.record(
  {
    model: fc.constantFrom("open", "anthropic", "google", "packaged", "plain", "generous", "vendor", "picture"),
    messages: fc.array(anyMessage, { minLength: 1, maxLength: 4 }),
    stream: fc.constantFrom(true, false, null),
    tools: fc.array(tool, { minLength: 1, maxLength: 3 }),
    n: fc.integer({ min: 1, max: 3 }),
    max_tokens: fc.integer({ min: 1, max: 50 }),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    top_p: fc.double({ min: 0, max: 1, noNaN: true }),
    stop: fc.oneof(fc.string({ minLength: 1 }), fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 })),
    logprobs: fc.boolean(),
    seed: fc.integer(),
    logit_bias: fc.dictionary(fc.stringMatching(/^\d{1,5}$/), fc.integer({ min: -100, max: 100 })),
    metadata: fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), text, { maxKeys: 4 }),
    response_format: fc.constantFrom({ type: "text" }, { type: "json_schema", json_schema: { name: "a", schema: {} } }),
    reasoning_effort: fc.constantFrom("none", "low", "high"),
    user: fc.string(),
    store: fc.boolean(),
  },
  { requiredKeys: ["model", "messages"] },
);

/** A mutation of a value somewhere inside a request. */
export type Change = { at: number; how: "replace" | "remove" | "add" | "repeat"; value: unknown; name: string };

export const hostileValue = fc.oneof(
  anyJson,
  fc.constantFrom<unknown>("", [], {}, -1, 0, 1e308, "http://127.0.0.1/", "\u0000", "\ud800", "__proto__"),
  fc.string({ minLength: 2000, maxLength: 4000 }),
);

export const anyChange: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(),
  how: fc.constantFrom("replace", "remove", "add", "repeat"),
  value: hostileValue,
  name: fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toString", "type", "name", "a\nb")),
});

/** A request with one or a few invalid values. */
export const anySpoiledRequest: fc.Arbitrary<Fields> = fc
  .tuple(anyChatRequest, fc.array(anyChange, { minLength: 1, maxLength: 3 }))
  .map(([request, changes]) => {
    const spoiled = structuredClone(request);
    for (const change of changes) spoil(spoiled, change);
    return spoiled;
  });

type Place = { parent: object; key: string };

export function spoil(request: object, { at, how, value, name }: Change): void {
  const places = listPlaces(request);
  const place = places[at % Math.max(places.length, 1)];
  if (place === undefined) return;
  const { parent, key } = place;
  if (how === "remove") Reflect.deleteProperty(parent, key);
  else if (how === "replace") put(parent, key, value);
  else if (how === "add") put(parent, name, value);
  else if (Array.isArray(parent)) parent.push(parent[Number(key)]);
}

/** As an own property, also for names such as `__proto__`. */
function put(parent: object, key: string, value: unknown): void {
  if (Array.isArray(parent) && !/^\d+$/.test(key)) return;
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
}

function listPlaces(value: object): Place[] {
  return Object.entries(value).flatMap(([key, child]: [string, unknown]) => [
    { parent: value, key },
    ...(typeof child === "object" && child !== null ? listPlaces(child) : []),
  ]);
}
