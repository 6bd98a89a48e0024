import { type TSchema, Type } from "typebox";

/**
 * The body of a chat request, in OpenAI's format. `check-chat-request.ts` checks what a schema cannot express: the
 * model's capabilities and contradicting options.
 */

const closed = { additionalProperties: false };
const text = Type.String();
const anyObject = Type.Record(Type.String(), Type.Unknown());

/** Optional; `null` means the same as absent, because SDKs send either. */
function nullable(schema: TSchema): TSchema {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** Any property names, values of one type. A pattern for names would accept those with line breaks. */
function dictionary(value: TSchema, more: object = {}): TSchema {
  return Type.Unsafe({ type: "object", additionalProperties: value, ...more });
}

/** A union discriminated by one field, so that validation errors refer to the intended variant. */
function variants(field: string, forms: Record<string, TSchema>): TSchema {
  return Type.Unsafe({
    type: "object",
    discriminator: { propertyName: field },
    oneOf: Object.entries(forms).map(([name, form]) => withTag(form, field, name)),
  });
}

function withTag(form: TSchema, field: string, name: string): TSchema {
  const { properties, required = [], ...rest } = form as TSchema & { properties: object; required?: string[] };
  return {
    ...rest,
    properties: { [field]: { const: name, type: "string" }, ...properties },
    required: [field, ...required],
  };
}

/** Where a prompt may be cached: OpenAI's and Anthropic's fields. */
const cacheMarks = { prompt_cache_breakpoint: nullable(anyObject), cache_control: nullable(anyObject) };

const partForms = {
  text: Type.Object({ text, ...cacheMarks }, closed),
  image_url: Type.Object(
    {
      image_url: Type.Object(
        {
          url: Type.String({ description: "A public HTTPS address, or `data:image/…;base64,…`." }),
          detail: nullable(Type.Enum(["auto", "low", "high", "original"])),
        },
        closed,
      ),
      ...cacheMarks,
    },
    closed,
  ),
  input_audio: Type.Object(
    { input_audio: Type.Object({ data: text, format: Type.Enum(["wav", "mp3"]) }, closed), ...cacheMarks },
    closed,
  ),
  file: Type.Object(
    {
      file: Type.Object({ file_data: nullable(text), file_id: nullable(text), filename: nullable(text) }, closed),
      ...cacheMarks,
    },
    closed,
  ),
  refusal: Type.Object({ refusal: text, ...cacheMarks }, closed),
};

function content(...kinds: (keyof typeof partForms)[]): TSchema {
  const forms = Object.fromEntries(kinds.map((kind) => [kind, partForms[kind]]));
  return Type.Union([text, Type.Array(variants("type", forms), { minItems: 1 })]);
}

const name = nullable(Type.String({ minLength: 1, maxLength: 64 }));
const { cache_control } = cacheMarks;
const toolName = Type.String({ pattern: "^[a-zA-Z0-9_-]{1,64}$" });
// Some clients send back what they added to a response: OpenAI's SDKs the parsed values, LiteLLM its own fields.
const addedByClient = Type.Optional(Type.Unknown());
const calledFunction = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    arguments: text,
    parsed_arguments: addedByClient,
    provider_specific_fields: addedByClient,
  },
  closed,
);

const callFields = {
  id: text,
  index: Type.Optional(Type.Integer()),
  provider_specific_fields: addedByClient,
  caller: addedByClient,
};

const toolCalls = Type.Array(
  variants("type", {
    function: Type.Object({ ...callFields, function: calledFunction }, closed),
    custom: Type.Object({ ...callFields, custom: Type.Object({ name: text, input: text }, closed) }, closed),
  }),
  { minItems: 1 },
);

const messageSchema = variants("role", {
  system: Type.Object({ content: content("text"), name, cache_control }, closed),
  developer: Type.Object({ content: content("text"), name, cache_control }, closed),
  user: Type.Object({ content: content("text", "image_url", "input_audio", "file"), name, cache_control }, closed),
  // Clients send an assistant message back with all the fields of the response.
  assistant: Type.Object(
    {
      content: nullable(content("text", "refusal")),
      name,
      refusal: nullable(text),
      tool_calls: nullable(toolCalls),
      function_call: nullable(calledFunction),
      audio: nullable(anyObject),
      annotations: nullable(Type.Array(anyObject)),
      // Reasoning under the names that different upstreams use. Each upstream gets those it knows.
      reasoning: nullable(text),
      reasoning_content: nullable(text),
      reasoning_details: nullable(Type.Array(anyObject)),
      prefix: nullable(Type.Boolean({ description: "On the last message: the answer continues it." })),
      cache_control,
      parsed: addedByClient,
      provider_specific_fields: addedByClient,
      thinking_blocks: addedByClient,
    },
    closed,
  ),
  // OpenAI's types have no `name` here, but its API accepts one and many clients send it.
  tool: Type.Object(
    { content: content("text"), tool_call_id: Type.String({ minLength: 1 }), name: nullable(text), cache_control },
    closed,
  ),
  function: Type.Object({ content: nullable(text), name: Type.String({ minLength: 1 }) }, closed),
});

const toolForms = {
  function: Type.Object(
    {
      function: Type.Object(
        {
          name: toolName,
          description: nullable(text),
          parameters: nullable(anyObject),
          strict: nullable(Type.Boolean()),
        },
        closed,
      ),
      cache_control,
    },
    closed,
  ),
  custom: Type.Object(
    {
      custom: Type.Object({ name: toolName, description: nullable(text), format: nullable(anyObject) }, closed),
      cache_control,
    },
    closed,
  ),
};

const namedTool = Type.Object({ name: toolName }, closed);

const toolChoice = Type.Union([
  Type.Enum(["none", "auto", "required"]),
  variants("type", {
    function: Type.Object({ function: namedTool }, closed),
    custom: Type.Object({ custom: namedTool }, closed),
    allowed_tools: Type.Object(
      {
        allowed_tools: Type.Object(
          { mode: Type.Enum(["auto", "required"]), tools: Type.Array(anyObject, { minItems: 1 }) },
          closed,
        ),
      },
      closed,
    ),
  }),
]);

const responseFormat = variants("type", {
  text: Type.Object({}, closed),
  json_object: Type.Object({}, closed),
  json_schema: Type.Object(
    {
      json_schema: Type.Object(
        {
          name: toolName,
          description: nullable(text),
          schema: nullable(anyObject),
          strict: nullable(Type.Boolean()),
        },
        closed,
      ),
    },
    closed,
  ),
});

const tokenCount = Type.Integer({ minimum: 1, maximum: 10_000_000 });
const penalty = Type.Number({ minimum: -2, maximum: 2 });
const reasoningEffort = Type.Enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]);

export const chatFields = {
  model: Type.String({ minLength: 1, maxLength: 200, description: "An `id` from `GET /v1/models`." }),
  messages: Type.Array(messageSchema, { minItems: 1 }),
  stream: nullable(Type.Boolean()),
  stream_options: nullable(
    Type.Object({ include_usage: nullable(Type.Boolean()), include_obfuscation: nullable(Type.Boolean()) }, closed),
  ),
  tools: nullable(Type.Array(variants("type", toolForms), { minItems: 1, maxItems: 1024 })),
  tool_choice: nullable(toolChoice),
  parallel_tool_calls: nullable(Type.Boolean()),
  response_format: nullable(responseFormat),
  n: nullable(Type.Integer({ minimum: 1, maximum: 128 })),
  max_completion_tokens: nullable(tokenCount),
  max_tokens: nullable(tokenCount),
  stop: nullable(
    Type.Union([
      Type.String({ minLength: 1 }),
      Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 4 }),
    ]),
  ),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  frequency_penalty: nullable(penalty),
  presence_penalty: nullable(penalty),
  logit_bias: nullable(dictionary(Type.Number({ minimum: -100, maximum: 100 }))),
  logprobs: nullable(Type.Boolean()),
  top_logprobs: nullable(Type.Integer({ minimum: 0, maximum: 20 })),
  seed: nullable(Type.Integer()),
  reasoning_effort: nullable(reasoningEffort),
  verbosity: nullable(Type.Enum(["low", "medium", "high"])),
  user: nullable(Type.String({ maxLength: 512 })),
  safety_identifier: nullable(Type.String({ maxLength: 512 })),
  metadata: nullable(
    dictionary(Type.String({ maxLength: 512 }), {
      propertyNames: { type: "string", maxLength: 64 },
      maxProperties: 16,
    }),
  ),
  prompt_cache_key: nullable(Type.String({ maxLength: 512 })),
  prompt_cache_options: nullable(anyObject),
  prompt_cache_retention: nullable(Type.Enum(["in_memory", "in-memory", "24h"])),
  moderation: nullable(anyObject),
  functions: nullable(
    Type.Array(Type.Object({ name: toolName, description: nullable(text), parameters: nullable(anyObject) }, closed), {
      minItems: 1,
      maxItems: 128,
    }),
  ),
  function_call: nullable(Type.Union([Type.Enum(["none", "auto"]), namedTool])),
  audio: nullable(anyObject),
  modalities: nullable(Type.Array(Type.Enum(["text", "audio"]), { minItems: 1 })),
  prediction: nullable(anyObject),
  service_tier: nullable(Type.Enum(["auto", "default", "flex", "scale", "priority", "fast", "on_demand"])),
  store: nullable(Type.Boolean()),
  web_search_options: nullable(anyObject),
};

/**
 * Fields of other vendors' APIs that many clients send. `adapt-vendor-fields.ts` translates some; the others go only to
 * upstreams that support them.
 */
export const vendorFields = {
  top_k: nullable(Type.Integer({ minimum: 0, maximum: 1_000_000, description: "Where the model supports it." })),
  min_p: nullable(Type.Number({ minimum: 0, maximum: 1, description: "Where the model supports it." })),
  reasoning: nullable(
    Type.Object(
      {
        effort: nullable(reasoningEffort),
        max_tokens: nullable(tokenCount),
        enabled: nullable(Type.Boolean()),
        exclude: nullable(Type.Boolean()),
      },
      { additionalProperties: true, description: "OpenRouter's form of `reasoning_effort`." },
    ),
  ),
  reasoning_format: nullable(
    Type.Enum(["parsed", "raw", "hidden"], { description: "Groq's. Only `parsed`: `reasoning_content` has it." }),
  ),
  include_reasoning: nullable(Type.Boolean({ description: "Only `true`: `reasoning_content` has it." })),
  provider: nullable(
    Type.Unsafe({ ...anyObject, description: "OpenRouter's. This service chooses the upstream itself." }),
  ),
  models: nullable(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 100,
      description: "OpenRouter's. Only with `model` as its sole item: there are no fallback models.",
    }),
  ),
  usage: nullable(
    Type.Object(
      { include: nullable(Type.Boolean()) },
      { ...closed, description: "OpenRouter's form of `stream_options.include_usage`." },
    ),
  ),
};

/** The example in the API reference: the smallest request instead of every field. */
const shortRequest = {
  model: "sandbox-chat",
  messages: [{ role: "user", content: "Why is the sky blue? Answer in one sentence." }],
};

/** `checkChatFields` rejects unknown fields later: a route may name extra ones. */
export const chatRequestSchema = Type.Object(
  { ...chatFields, ...vendorFields },
  { additionalProperties: true, examples: [shortRequest] },
);
