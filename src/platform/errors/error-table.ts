/**
 * Every error the API can answer with: its status, its type, whether the same request can succeed later, and what the
 * docs say of it. `docs/api/errors.md` is written from this table.
 */

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
  /** Whether sending the same request again, later, can succeed. */
  isRetryable: boolean;
  /** Told to SDKs that would otherwise retry a 4xx or 5xx by themselves in vain. */
  forbidsRetry?: true;
  /** Sent as `Retry-After` unless the error knows better. */
  retryAfterSeconds?: number;
  /**
   * How much the log makes of it. Without it a 5xx is an error that somebody should look at, and the rest is information:
   * what an operator asked for is no error, and what passes by itself is a warning.
   */
  logLevel?: "info" | "warn";
  /** Where two situations share one code, the table's name differs from the code on the wire. */
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
    meaning: "What arrived is not a valid HTTP request.",
    remedy: "Use an HTTP client, and `https` only where the address says so.",
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
    remedy: "Change what `param` names; the message says what is allowed.",
  },
  unknown_parameter: {
    ...invalid,
    meaning: "The request has a field or query parameter that the endpoint does not know.",
    remedy: "Remove or correct what `param` names.",
  },
  unsupported_capability: {
    ...invalid,
    meaning: "The field is known, but this model cannot do what it asks for.",
    remedy: "Choose a model whose `capabilities` have it, or leave the field out.",
  },
  prompt_too_long: {
    ...invalid,
    meaning: "The prompt of a media task exceeds the model's limit.",
    remedy: "Shorten it to the model's `limits`.",
  },
  context_length_exceeded: {
    ...invalid,
    meaning: "The messages are longer than the chat model's context, as OpenAI names it.",
    remedy: "Shorten or leave out earlier messages; `limits` of the model has the length.",
  },
  invalid_url: {
    ...invalid,
    meaning: "An address is not public HTTPS, or nothing usable is there.",
    remedy: "Use a public HTTPS address or the id of an uploaded file.",
  },
  invalid_file: {
    ...invalid,
    meaning: "The file is damaged or of a kind that is not accepted.",
    remedy: "Upload one of the documented kinds.",
  },
  webhook_required: {
    ...invalid,
    meaning: "A long task needs an address to report to.",
    remedy: "Configure a webhook endpoint or send `callback_url`.",
  },
  content_policy_violation: {
    ...invalid,
    meaning: "The request was refused for its content. It costs nothing.",
    remedy: "Change the prompt or the material.",
  },
  invalid_token: {
    ...invalid,
    meaning: "The link or the sign-in under way is unknown, was used already, or its time is over.",
    remedy: "Ask for a new link, or begin again.",
  },
  authorization_pending: {
    ...invalid,
    isRetryable: true,
    meaning: "Nobody has answered the device's request yet.",
    remedy: "Ask again after `interval` seconds.",
  },
  slow_down: {
    ...invalid,
    isRetryable: true,
    meaning: "Nobody has answered the device's request yet, and it was asked for too soon.",
    remedy: "From now on wait 5 seconds longer between two polls.",
  },
  access_denied: {
    ...invalid,
    meaning: "The person refused to connect the program.",
    remedy: "Begin again when they want to.",
  },
  expired_token: {
    ...invalid,
    meaning: "The device's request was not answered, or its key not fetched, in time.",
    remedy: "Begin again with `POST /connect/device`.",
  },
  invalid_grant: {
    ...invalid,
    meaning: "The code is unknown, was used already, is too old, or does not belong to what was sent with it.",
    remedy: "Begin the authorization again.",
  },
  missing_api_key: {
    ...unauthenticated,
    meaning: "The request carries no API key.",
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
    meaning: "The API key has passed its expiry.",
    remedy: "Create a new key.",
  },
  not_signed_in: {
    ...unauthenticated,
    meaning: "The site does not know who is asking: nobody is signed in, or the session has ended.",
    remedy: "Sign in.",
  },
  wrong_credentials: {
    ...unauthenticated,
    meaning: "The e-mail address, password, code or passkey is not right.",
    remedy: "Try again, or reset the password.",
  },
  insufficient_balance: {
    ...unpaid,
    meaning: "Neither balance nor quota covers the request.",
    remedy: "Recharge or change the plan.",
  },
  key_budget_exceeded: {
    ...unpaid,
    meaning: "The API key's own budget is used up.",
    remedy: "Raise the key's budget or wait for its reset.",
  },
  account_suspended: {
    ...forbidden,
    meaning: "The account is suspended.",
    remedy: "Contact the service's operator.",
  },
  key_not_permitted: {
    ...forbidden,
    meaning: "The model, the endpoint or the caller's address is outside the API key's scope.",
    remedy: "Use another key or widen its scope.",
  },
  reauthentication_required: {
    ...forbidden,
    meaning: "What was asked for needs a proof of who is asking that is at most 10 minutes old.",
    remedy: "Prove it again by password, code or passkey, and repeat the request.",
  },
  sign_up_closed: {
    ...forbidden,
    meaning: "This site takes no new accounts, or only with an invitation.",
    remedy: "Ask the service's operator for an invitation.",
  },
  cross_site_request: {
    ...forbidden,
    meaning: "The request comes from a page of another site.",
    remedy: "Use the site at its own address.",
  },
  not_found: {
    ...missing,
    meaning: "There is nothing at this path.",
    remedy: "Compare the path with the reference.",
  },
  not_offered: {
    ...missing,
    meaning: "Others have an endpoint of this name, and this service has not.",
    remedy: "Do what the message says in its place.",
  },
  task_not_found: {
    ...missing,
    meaning: "The account has no such task.",
    remedy: "Use the `id` that the submission answered with.",
  },
  file_not_found: {
    ...missing,
    meaning: "The account has no such file, or its time is over.",
    remedy: "Upload the file again.",
  },
  model_unavailable: {
    status: 404,
    type: "model_unavailable",
    isRetryable: false,
    meaning: "The account has no such model.",
    remedy: "Use an `id` from `GET /v1/models`.",
  },
  method_not_allowed: {
    status: 405,
    type: "invalid_request_error",
    isRetryable: false,
    meaning: "The path exists, but not for this method.",
    remedy: "Use a method that the `Allow` header names.",
  },
  not_acceptable: {
    status: 406,
    type: "invalid_request_error",
    isRetryable: false,
    meaning: "The answer cannot be given in a form that the `Accept` header allows.",
    remedy: "Accept the documented content type.",
  },
  request_timeout: {
    status: 408,
    type: "invalid_request_error",
    isRetryable: true,
    meaning: "The request did not arrive whole in time.",
    remedy: "Send it again over a better connection.",
  },
  idempotency_in_progress: {
    ...conflict,
    isRetryable: true,
    retryAfterSeconds: 1,
    meaning: "The first request with this `Idempotency-Key` is still running.",
    remedy: "Wait for `Retry-After` and send the same request again.",
  },
  already_completed: {
    ...conflict,
    isRetryable: false,
    forbidsRetry: true,
    meaning:
      "The first request with this `Idempotency-Key` has ended, and its answer was too large to keep; or the code was redeemed before.",
    remedy: "Use the id and the usage that the error carries. A code gives its credit once.",
  },
  already_answered: {
    ...conflict,
    isRetryable: false,
    forbidsRetry: true,
    meaning: "The program's request to be connected was approved or refused before.",
    remedy: "Start again in the program.",
  },
  task_not_cancelable: {
    ...conflict,
    isRetryable: false,
    forbidsRetry: true,
    meaning: "The task is running where it cannot be stopped.",
    remedy: "Wait for its end.",
  },
  task_canceled: {
    ...conflict,
    isRetryable: false,
    forbidsRetry: true,
    meaning: "The task that the request waited for was canceled.",
    remedy: "Send the request again if the result is still wanted.",
  },
  payload_too_large: {
    status: 413,
    type: "invalid_request_error",
    isRetryable: false,
    meaning: "The body is larger, or has more JSON in it, than the endpoint accepts.",
    remedy: "Send less; the message names the limit.",
  },
  unsupported_media_type: {
    status: 415,
    type: "invalid_request_error",
    isRetryable: false,
    meaning: "The body's content type, character set or encoding is not accepted.",
    remedy: "Send `Content-Type: application/json` in UTF-8, uncompressed.",
  },
  idempotency_key_reused: {
    status: 422,
    type: "invalid_request_error",
    isRetryable: false,
    meaning: "The `Idempotency-Key` belongs to a different request.",
    remedy: "Use a new key for a new request.",
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
    remedy: "Wait for `Retry-After`, or for one of them to end.",
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
    meaning: "Address and headers together exceed the limit.",
    remedy: "Send fewer or shorter headers.",
  },
  internal_error: {
    status: 500,
    type: "api_error",
    isRetryable: true,
    meaning: "Something in the gateway went wrong.",
    remedy: "Retry with the same `Idempotency-Key`; report it with the `request_id`.",
  },
  endpoint_not_released: {
    status: 501,
    type: "api_error",
    isRetryable: false,
    forbidsRetry: true,
    logLevel: "info",
    meaning: "The operator has switched this endpoint off.",
    remedy: "Treat it as not yet available.",
  },
  upstream_unavailable: {
    ...unavailable,
    meaning: "No route to the model answered.",
    remedy: "Retry with the same `Idempotency-Key` after `Retry-After`.",
  },
  upstream_timeout: {
    ...unavailable,
    meaning: "The model did not answer in time.",
    remedy: "Retry with the same `Idempotency-Key` after `Retry-After`.",
  },
  overloaded: {
    ...unavailable,
    logLevel: "warn",
    meaning: "The gateway cannot take the request right now.",
    remedy: "Retry with the same `Idempotency-Key` after `Retry-After`.",
  },
  shutting_down: {
    ...unavailable,
    logLevel: "info",
    meaning: "This node of the gateway is about to stop.",
    remedy: "Retry; another connection reaches a running node.",
  },
  model_unroutable: {
    status: 503,
    type: "model_unavailable",
    isRetryable: true,
    retryAfterSeconds: 5,
    wireCode: "model_unavailable",
    meaning: "The model exists, but nothing can serve it at the moment.",
    remedy: "Retry after `Retry-After`, or use another model.",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorTable;

/** The entry in its general shape: optional fields can be asked for. */
export function getErrorEntry(code: ErrorCode): ErrorEntry {
  return errorTable[code];
}
