import type { ProviderErrorKind } from "../contract.ts";

/** One wording of a fault. Every given field must match. */
export type RefusalRule = {
  kind: ProviderErrorKind;
  /** `null` stands for an error without a status, inside an answer. */
  statuses?: readonly (number | null)[] | ((status: number | null) => boolean);
  /** Matches the vendor's codes, types and reasons, in lower case. */
  words?: RegExp;
  message?: RegExp;
  /** Concerns only this request, although the upstream is at fault. */
  isIsolated?: true;
};

const isServerFault = (status: number | null): boolean => status !== null && status >= 500;

/**
 * How each vendor words each fault; the first matching rule wins. `fixtures/vendor-refusals.ts` has the bodies that
 * they were written for.
 *
 * A message may quote the customer's request. So rules that open a circuit match codes, or the start of a message; only
 * rules that blame the request search all of it.
 */
export const refusalRules: readonly RefusalRule[] = [
  // fal puts the cause in `type`; the status is mostly 422.
  { kind: "content-refused", words: /content_policy_violation/ },
  { kind: "timeout", words: /(?:generation|request|startup)_timeout/ },
  { kind: "overloaded", words: /downstream_service_(?:error|unavailable)/ },
  { kind: "bad-answer", words: /no_media_generated/ },
  // fal could not fetch our URL; an upstream that gets the bytes can.
  { kind: "unreachable", words: /file_download_error/, isIsolated: true },

  // AWS puts the cause in a header. The first is a 429, the second a 424, the third a 400.
  { kind: "overloaded", words: /modelnotreadyexception/ },
  { kind: "overloaded", words: /modelerrorexception/ },
  { kind: "quota-exceeded", words: /servicequotaexceededexception/ },

  // A failing server may send anything.
  { kind: "timeout", statuses: [408, 504] },
  { kind: "overloaded", statuses: isServerFault },
  { kind: "overloaded", statuses: [409] },
  { kind: "overloaded", words: /capacity_exceeded/ },

  {
    kind: "key-refused",
    words: /invalid_api_key|api_key_invalid|authentication_?error|unauthenticated|account_deactivated|invalid_grant/,
  },
  {
    kind: "key-refused",
    message:
      /^(?:incorrect api key|invalid api key|api key (?:not valid|expired)|your api key was reported|authentication fail|access denied due to invalid subscription key|the security token included|the request signature we calculated|signature (?:expired|not yet current): |bearer token has expired|method doesn't allow unregistered callers|this organization has been disabled)/i,
  },
  {
    kind: "out-of-credit",
    words:
      /insufficient_(?:quota|user_quota|balance|credit|funds)|credit_balance|billing|exceeded_current_quota|arrearage|accountoverdue/,
  },
  {
    kind: "out-of-credit",
    message:
      /^(?:your credit balance is too low|insufficient (?:credits?|balance)|this request requires more credits|your (?:newly created )?team .{0,80}credits|your prepayment credits|user is locked\. reason: exhausted balance|model access is denied due to invalid_payment|account \S{1,80} is suspended|this api method requires billing)/i,
  },
  { kind: "out-of-credit", statuses: [402] },
  {
    kind: "quota-exceeded",
    statuses: [null, 401, 403, 429],
    words: /perday|freetieronly|setlimitexceeded|quota_exceeded|usage_limit_reached/,
  },
  {
    kind: "quota-exceeded",
    message:
      /^(?:you have reached your (?:specified api usage|spend) limit|key limit exceeded|rate limit exceeded: \S{0,40}per-day|rate limit reached for .{0,200}\bper day\b|you are using a trial key, which is limited to \d+ api calls \/ month|too many tokens per day)/i,
  },
  {
    kind: "model-unavailable",
    words:
      /model_not_(?:found|supported)|invalid_model|model_decommissioned|model_permission|modelnotopen|deploymentnotfound|invalidendpointormodel/,
  },
  {
    kind: "model-unavailable",
    statuses: [400, 403, 404, 422],
    message:
      /^(?:the (?:provided )?)?model\b.{0,200}\b(?:not exist|not found|no access|does not have access|decommissioned|is invalid)\b/i,
  },
  {
    kind: "model-unavailable",
    statuses: [400, 403, 404, 422],
    message:
      /^(?:invalid model\b|unknown model,|\S{1,200} is not a valid model id$|models\/\S{1,200} is not found|publisher model |not found the model|no endpoints found for |the api deployment for|you don't have access to the model|this model version has reached|model use case details have not|user: arn:\S{1,300} is not authorized to perform: bedrock:|model access is denied|access denied\. this model is marked|permission 'aiplatform\.\S{1,80}' denied on resource|this is not a chat model|project \S{1,80} does not have access to model|invocation of model id|application '\S{1,200}' not found)/i,
  },
  // Anthropic's whole message.
  { kind: "model-unavailable", statuses: [404], message: /^model: \S{1,200}$/ },
  { kind: "misconfigured", words: /unsupported_country|unknown_url|service_disabled/ },
  {
    kind: "misconfigured",
    message:
      /^(?:user location is not supported|country, region, or territory not supported|invalid url \(|no endpoints found matching your|credential should be scoped to a valid region)/i,
  },

  {
    kind: "content-refused",
    words:
      /content_?filter|content_?policy|moderation|data_?inspection|sensitive_?content|safety|responsibleai|_policy(?:_violation)?\b/,
  },
  {
    kind: "content-refused",
    statuses: [null, 400, 403, 422, 451],
    message:
      /violates usage guidelines|safety_check_type|requires moderation on|input was flagged|prompt was flagged|content (?:filtering|management) policy|result of our safety system|content exists risk|considered high risk|inappropriate content|potentially unsafe or sensitive content|blocked by .{0,80}(?:safety|content)/i,
  },
  { kind: "content-refused", statuses: [451] },
  { kind: "too-long", words: /context_length_exceeded|string_above_max_length|request_too_large/ },
  {
    kind: "too-long",
    statuses: [null, 400, 413, 422],
    message:
      /maximum context length|context (?:window|length|limit)|prompt is too long|prompt exceeds max length|input is too long|too many (?:input )?tokens|exceeds? (?:the )?maximum number of tokens/i,
  },
  { kind: "too-long", statuses: [413] },

  // Files and other objects in the vendor's account that a request may name.
  { kind: "rejected", statuses: [403], message: /permission to access the file/i },
  {
    kind: "rejected",
    statuses: [404],
    message:
      /\b(?:file|response|item|conversation|container|vector store|prompt|skill|image|document|batch|assistant|thread|voice|cached ?content)\b|^no endpoints found that support/i,
  },

  { kind: "key-refused", statuses: [401] },
  { kind: "rate-limited", statuses: [429] },
  { kind: "rate-limited", statuses: [null], words: /rate_?limit|resource_exhausted|throttl/ },
  { kind: "timeout", statuses: [null], words: /timeout|deadline_exceeded/ },
  {
    kind: "rejected",
    statuses: [null],
    words: /\b(?:invalid_|unsupported_|empty_|failed_to_download|image_|out_of_range)/,
  },
];
