/** Every error the API returns. `docs/api/errors.md` is generated from this table. */

type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "insufficient_quota"
  | "permission_error"
  | "model_unavailable"
  | "rate_limit_error"
  | "api_error";

export type ErrorEntry = {
  status: number;
  type: ErrorType;
  /** Whether the same request can succeed later. */
  isRetryable: boolean;
  /** Sends `x-should-retry: false`: SDKs retry some 4xx and 5xx by themselves. */
  forbidsRetry?: true;
  /** `Retry-After`, unless the error has its own header. */
  retryAfterSeconds?: number;
  /** The default is `error` for a 5xx and `info` for the rest. */
  logLevel?: "info" | "warn";
  /** Only on the operator side, which the API guide does not mention. */
  isForOperators?: true;
  /** The code on the wire, where two entries share one. */
  wireCode?: string;
  meaning: string;
  remedy: string;
};

const invalid = { status: 400, type: "invalid_request_error", isRetryable: false } as const;
const unauthenticated = { status: 401, type: "authentication_error", isRetryable: false } as const;
const unpaid = { status: 402, type: "insufficient_quota", isRetryable: false, forbidsRetry: true } as const;
const forbidden = { status: 403, type: "permission_error", isRetryable: false } as const;
const missing = { status: 404, type: "invalid_request_error", isRetryable: false } as const;
const conflict = { status: 409, type: "invalid_request_error" } as const;
const limited = { status: 429, type: "rate_limit_error", isRetryable: true } as const;
const unavailable = { status: 503, type: "api_error", isRetryable: true, retryAfterSeconds: 1 } as const;

export const errorTable = {
  malformed_request: {
    ...invalid,
    meaning: "The gateway received bytes that are not a valid HTTP request.",
    remedy: "Use an HTTP client, and match `http` or `https` to the base URL.",
  },
  invalid_json: {
    ...invalid,
    meaning: "The body is empty, is not valid JSON or is not valid UTF-8.",
    remedy: "Send one JSON value encoded as UTF-8.",
  },
  missing_parameter: {
    ...invalid,
    meaning: "A required field is absent.",
    remedy: "Add the field that `param` names.",
  },
  invalid_parameter: {
    ...invalid,
    meaning: "A field, query parameter or header has a value that is not allowed.",
    remedy: "Change the value that `param` names. The message lists what is allowed.",
  },
  unknown_parameter: {
    ...invalid,
    meaning: "The request has a field or query parameter that the endpoint does not support.",
    remedy: "Remove or correct the name in `param`.",
  },
  unsupported_capability: {
    ...invalid,
    meaning: "The model does not support this field or value.",
    remedy: "Choose a model whose `capabilities` include it, or remove the field.",
  },
  prompt_too_long: {
    ...invalid,
    meaning: "The prompt of a media task exceeds the model's limit.",
    remedy: "Shorten it to the model's `limits`.",
  },
  context_length_exceeded: {
    ...invalid,
    meaning: "The messages exceed the chat model's context length. The code is OpenAI's.",
    remedy: "Shorten or remove earlier messages. The model's `limits` contain the length.",
  },
  invalid_url: {
    ...invalid,
    meaning: "A URL is not public HTTPS, or cannot be fetched.",
    remedy: "Use a public HTTPS URL or the id of an uploaded file.",
  },
  invalid_file: {
    ...invalid,
    meaning: "The file is damaged, its format is not supported, or the model cannot use it: an avatar needs a face.",
    remedy: "Upload a file in one of the documented formats that shows what the field describes.",
  },
  webhook_required: {
    ...invalid,
    meaning: "Long tasks need a webhook endpoint.",
    remedy: "Configure a webhook endpoint or send `callback_url`.",
  },
  content_policy_violation: {
    ...invalid,
    meaning: "The request was rejected for its content. You are not charged.",
    remedy: "Change the prompt or the input files.",
  },
  invalid_token: {
    ...invalid,
    meaning: "The link or sign-in attempt is unknown, used or expired.",
    remedy: "Request a new link, or start again.",
  },
  authorization_pending: {
    ...invalid,
    isRetryable: true,
    meaning: "The user has not answered the device's request yet.",
    remedy: "Poll again after `interval` seconds.",
  },
  slow_down: {
    ...invalid,
    isRetryable: true,
    meaning: "The user has not answered the device's request yet, and the client polls too often.",
    remedy: "Add 5 seconds to the polling interval.",
  },
  access_denied: {
    ...invalid,
    meaning: "The user denied access.",
    remedy: "Start again if the user wants to connect.",
  },
  expired_token: {
    ...invalid,
    meaning: "The device's request expired before it was answered or its key fetched.",
    remedy: "Start again with `POST /connect/device`.",
  },
  invalid_grant: {
    ...invalid,
    meaning: "The code is unknown, used or expired, or does not match the other parameters.",
    remedy: "Start the authorization again.",
  },
  missing_api_key: {
    ...unauthenticated,
    meaning: "The request has no API key.",
    remedy: "Send the header `Authorization: Bearer <API_KEY>`.",
  },
  invalid_api_key: {
    ...unauthenticated,
    meaning: "The API key is mistyped or unknown.",
    remedy: "Copy the whole key again, or create a new one.",
  },
  revoked_api_key: {
    ...unauthenticated,
    meaning: "The API key was revoked or replaced.",
    remedy: "Use the key that replaced it, or create a new one.",
  },
  expired_api_key: {
    ...unauthenticated,
    meaning: "The API key has expired.",
    remedy: "Create a new key.",
  },
  not_signed_in: {
    ...unauthenticated,
    meaning: "You are not signed in, or your session has ended.",
    remedy: "Sign in.",
  },
  wrong_credentials: {
    ...unauthenticated,
    meaning: "The e-mail address, password, code or passkey is wrong.",
    remedy: "Try again, or reset the password.",
  },
  insufficient_balance: {
    ...unpaid,
    meaning: "The balance and quota do not cover the request.",
    remedy: "Add credit or change the plan.",
  },
  key_budget_exceeded: {
    ...unpaid,
    meaning: "The API key has used up its budget.",
    remedy: "Raise the key's budget or wait for its reset.",
  },
  daily_spend_cap: {
    ...unpaid,
    meaning: "A new account has reached its maximum spending of a day.",
    remedy: "Wait until midnight UTC, or ask the operator to lift the maximum.",
  },
  account_suspended: {
    ...forbidden,
    meaning: "The account is suspended.",
    remedy: "Contact the operator.",
  },
  key_not_permitted: {
    ...forbidden,
    meaning: "The API key does not permit this model, endpoint or IP address.",
    remedy: "Use another key, or change what this one permits.",
  },
  reauthentication_required: {
    ...forbidden,
    meaning: "This change requires an authentication in the last 10 minutes.",
    remedy: "Confirm your identity by password, code or passkey, then repeat the request.",
  },
  second_factor_required: {
    ...forbidden,
    isForOperators: true,
    meaning: "Operators need two-step sign-in, and this user has neither an authenticator app nor a passkey.",
    remedy: "Add an authenticator app or a passkey in the settings.",
  },
  operator_not_permitted: {
    ...forbidden,
    isForOperators: true,
    meaning: "The operator's role, or the admin key's scopes or access, does not permit this.",
    remedy: "Ask an operator for the role, or use a key with the scope.",
  },
  view_read_only: {
    ...forbidden,
    isForOperators: true,
    meaning: "The operator sees a customer's account. The view changes nothing and shows no secrets or contents.",
    remedy: "End the view first.",
  },
  sign_up_closed: {
    ...forbidden,
    meaning: "Sign-up is closed, or requires an invitation.",
    remedy: "Ask the operator for an invitation.",
  },
  access_blocked: {
    ...forbidden,
    meaning: "The operator has blocked your network, mail domain or e-mail address.",
    remedy: "Use another network or address, or contact the operator.",
  },
  disposable_email: {
    ...forbidden,
    meaning: "The e-mail address belongs to a service for disposable mailboxes.",
    remedy: "Sign up with a lasting e-mail address.",
  },
  cross_site_request: {
    ...forbidden,
    meaning: "The request came from a page of another site.",
    remedy: "Use the site at its own address.",
  },
  not_found: {
    ...missing,
    meaning: "No endpoint has this path.",
    remedy: "Compare the path with the reference.",
  },
  not_offered: {
    ...missing,
    meaning: "OpenAI or Anthropic has this endpoint; this service does not.",
    remedy: "Use the alternative in the message.",
  },
  task_not_found: {
    ...missing,
    meaning: "The account has no such task.",
    remedy: "Use the `id` from the response to the submission.",
  },
  file_not_found: {
    ...missing,
    meaning: "The account has no such file, or it has expired.",
    remedy: "Upload the file again.",
  },
  model_unavailable: {
    status: 404,
    type: "model_unavailable",
    isRetryable: false,
    meaning: "The model does not exist, or the account has no access to it.",
    remedy: "Use an `id` from `GET /v1/models`.",
  },
  method_not_allowed: {
    status: 405,
    type: "invalid_request_error",
    isRetryable: false,
    meaning: "The path does not support this method.",
    remedy: "Use a method from the `Allow` header.",
  },
  websocket_not_supported: {
    status: 426,
    type: "invalid_request_error",
    isRetryable: false,
    meaning: "The client tried to open a WebSocket.",
    remedy: "Send the request over HTTP. Codex does so by itself.",
  },
  not_acceptable: {
    status: 406,
    type: "invalid_request_error",
    isRetryable: false,
    meaning: "The endpoint has no content type that the `Accept` header allows.",
    remedy: "Accept the documented content type.",
  },
  request_timeout: {
    status: 408,
    type: "invalid_request_error",
    isRetryable: true,
    meaning: "The whole request did not arrive in time.",
    remedy: "Send it again on a faster connection.",
  },
  idempotency_in_progress: {
    ...conflict,
    isRetryable: true,
    retryAfterSeconds: 1,
    meaning: "The first request with this `Idempotency-Key` is still running.",
    remedy: "Wait for `Retry-After`, then send the same request again.",
  },
  already_completed: {
    ...conflict,
    isRetryable: false,
    forbidsRetry: true,
    meaning:
      "The first request with this `Idempotency-Key` has ended, and its response was too large to store. Or the code is already redeemed.",
    remedy: "Use the id and the usage in the error. A code gives its credit once.",
  },
  already_ended: {
    ...conflict,
    isRetryable: false,
    forbidsRetry: true,
    meaning: "The alarm or incident has already ended.",
    remedy: "Reload the list.",
  },
  already_answered: {
    ...conflict,
    isRetryable: false,
    forbidsRetry: true,
    meaning: "The connection request was already approved or denied.",
    remedy: "Start again in the program.",
  },
  catalog_changed: {
    ...conflict,
    isForOperators: true,
    isRetryable: false,
    forbidsRetry: true,
    meaning: "Another version of the catalog was applied since you opened it.",
    remedy: "Load the active version, repeat your changes, and apply them.",
  },
  task_not_cancelable: {
    ...conflict,
    isRetryable: false,
    forbidsRetry: true,
    meaning: "The upstream that runs the task cannot stop it.",
    remedy: "Wait for the task to end.",
  },
  shot_not_available: {
    ...conflict,
    isRetryable: false,
    forbidsRetry: true,
    meaning: "The drama has no finished video, or its request has been erased, so no shot of it can be made again.",
    remedy: "Use a drama of the stage `video` that has succeeded.",
  },
  task_canceled: {
    ...conflict,
    isRetryable: false,
    forbidsRetry: true,
    meaning: "The task of this request was canceled while the request waited.",
    remedy: "Send the request again if you still need the result.",
  },
  payload_too_large: {
    status: 413,
    type: "invalid_request_error",
    isRetryable: false,
    meaning: "The body exceeds the endpoint's limit on bytes or JSON structure.",
    remedy: "Send a smaller body. The message contains the limit.",
  },
  unsupported_media_type: {
    status: 415,
    type: "invalid_request_error",
    isRetryable: false,
    meaning: "The body's content type, character set or encoding is not supported.",
    remedy: "Send `Content-Type: application/json` in UTF-8, uncompressed.",
  },
  idempotency_key_reused: {
    status: 422,
    type: "invalid_request_error",
    isRetryable: false,
    meaning: "The `Idempotency-Key` belongs to a different request.",
    remedy: "Use a new key for a new request.",
  },
  quote_not_found: {
    ...invalid,
    meaning: "The id in `X-Quote-Id` is not a quote of this account.",
    remedy: "Ask for a quote with `POST /v1/quote` and send its `id`.",
  },
  quote_expired: {
    ...invalid,
    meaning: "The quote is older than 15 minutes.",
    remedy: "Ask for a new quote.",
  },
  quote_mismatch: {
    ...invalid,
    meaning: "The quote is for another request, or the model has changed since.",
    remedy: "Send the request exactly as it was quoted, or ask for a new quote.",
  },
  rate_limit_exceeded: {
    ...limited,
    meaning: "Too many requests in the last minute.",
    remedy: "Wait for `Retry-After`.",
  },
  token_limit_exceeded: {
    ...limited,
    meaning: "Too many tokens in the last minute.",
    remedy: "Wait for `Retry-After`.",
  },
  concurrency_limit_exceeded: {
    ...limited,
    meaning: "Too many requests or tasks run at the same time.",
    remedy: "Wait for `Retry-After`, or for a running one to end.",
  },
  sign_up_limited: {
    ...limited,
    meaning: "Too many accounts were opened from your network or mail domain.",
    remedy: "Try again tomorrow, or ask the operator for an invitation.",
  },
  too_many_attempts: {
    ...limited,
    meaning: "Too many attempts to sign in, or to guess a code.",
    remedy: "Wait for `Retry-After`.",
  },
  headers_too_large: {
    status: 431,
    type: "invalid_request_error",
    isRetryable: false,
    meaning: "The URL and headers together exceed the limit.",
    remedy: "Send fewer or shorter headers.",
  },
  internal_error: {
    status: 500,
    type: "api_error",
    isRetryable: true,
    meaning: "The gateway failed unexpectedly.",
    remedy: "Retry with the same `Idempotency-Key`. If it persists, report the `request_id`.",
  },
  endpoint_not_released: {
    status: 501,
    type: "api_error",
    isRetryable: false,
    forbidsRetry: true,
    logLevel: "info",
    meaning: "The operator has disabled this endpoint.",
    remedy: "Treat it as not yet released.",
  },
  upstream_unavailable: {
    ...unavailable,
    meaning: "No upstream of this model responded.",
    remedy: "Retry with the same `Idempotency-Key` after `Retry-After`.",
  },
  upstream_timeout: {
    ...unavailable,
    meaning: "The model did not respond in time.",
    remedy: "Retry with the same `Idempotency-Key` after `Retry-After`.",
  },
  overloaded: {
    ...unavailable,
    logLevel: "warn",
    meaning: "The gateway is at capacity.",
    remedy: "Retry with the same `Idempotency-Key` after `Retry-After`.",
  },
  shutting_down: {
    ...unavailable,
    logLevel: "info",
    meaning: "This node of the gateway is shutting down.",
    remedy: "Retry on a new connection, which reaches a running node.",
  },
  model_unroutable: {
    status: 503,
    type: "model_unavailable",
    isRetryable: true,
    retryAfterSeconds: 5,
    wireCode: "model_unavailable",
    meaning: "The model exists, but no upstream can serve it right now.",
    remedy: "Retry after `Retry-After`, or use another model.",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorTable;

/** The entry with its optional fields. */
export function getErrorEntry(code: ErrorCode): ErrorEntry {
  return errorTable[code];
}
