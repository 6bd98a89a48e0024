/** `none`: the upstream cannot cap its output. */
export type OutputCapField = "max_completion_tokens" | "max_tokens" | "none";

/** `system` for upstreams without the role `developer`. */
export type SystemRole = "as-sent" | "system";

/** How a request field is written for a vendor. */
export type FieldTreatment =
  | "sent"
  /** Not sent. The reason says why the answer is the same without it. */
  | { dropped: string }
  | {
      /** The vendor's name of the field. */
      as?: string;
      /** The supported values, in OpenAI's words; an object counts by its `type`. Absent means all. */
      only?: readonly string[];
      /** The vendor's words for values. Others are sent as they are. */
      values?: Readonly<Record<string, string>>;
      /** The fields that the vendor has for a value. */
      instead?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
      /** Written as a list, of at most this many. */
      listMax?: number;
    };

/** Parts of a user's message besides text. */
type PartType = "image_url" | "input_audio" | "file";

/**
 * How an OpenAI-compatible API differs from OpenAI's own. Requests are written strictly: OpenAI's fields that are not
 * in `fields` are rejected before anything is sent. Answers are read liberally, by the words of all dialects together.
 */
export type ChatDialect = {
  /** The vendor's name and the usual `base_url`, for the docs. */
  vendor: string;
  baseUrl: string;
  outputCapField: OutputCapField;
  systemRole: SystemRole;
  /**
   * `asked`: a stream ends with usage if `stream_options` asks for it. `always`: without being asked, and the option is
   * unknown. `unknown`: neither asked for nor relied on.
   */
  streamUsage: "asked" | "always" | "unknown";
  fields: Readonly<Record<string, FieldTreatment>>;
  /** Fields outside OpenAI's API that all its models support. */
  vendorFields?: readonly string[];
  /** Sent with every request. A field of the request with the same name adds to it. */
  constants?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  parts: readonly PartType[];
  /** Whether messages may have the name of a participant. */
  takesNames: boolean;
  /** The ids of tool calls must be this many letters and digits; others are replaced. */
  callIdLength?: number;
  /** Whether a function must have `parameters`. */
  needsParameters?: true;
  answers?: AnswerWords;
};

/** How a vendor writes what OpenAI writes differently. Dots separate nested objects. */
export type AnswerWords = {
  /** The place of usage in an answer or chunk. */
  usage?: string;
  /** The place of cached tokens in usage. */
  cachedTokens?: string;
  finishReasons?: Readonly<Record<string, "stop" | "length" | "tool_calls" | "content_filter">>;
};

export function sent(names: string): Record<string, FieldTreatment> {
  return Object.fromEntries(names.split(" ").map((name) => [name, "sent"]));
}

function dropped(names: string, reason: string): Record<string, FieldTreatment> {
  return Object.fromEntries(names.split(" ").map((name) => [name, { dropped: reason }]));
}

/** What no vendor needs for the same answer. A dialect whose vendor takes one of them overrides it. */
export const hints: Readonly<Record<string, FieldTreatment>> = {
  ...dropped("prompt_cache_key prompt_cache_options prompt_cache_retention", "a hint for OpenAI's cache"),
  ...dropped("user safety_identifier", "an id for abuse reports"),
  ...dropped("metadata", "labels for OpenAI's dashboard"),
};

export const functionTools = ["none", "auto", "required", "function"] as const;
