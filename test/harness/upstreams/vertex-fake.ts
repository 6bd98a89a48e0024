import { generateKeyPairSync, verify } from "node:crypto";
import { Readable } from "node:stream";
import { Type } from "typebox";
import { type RecordedRequest, startRecordingServer } from "../servers/recording-server.ts";
import type { FakeUpstreams } from "./fake-upstreams.ts";
import { findComplaint } from "./vendor-fake.ts";
import { strict, text } from "./wires/queue-wire.ts";

/**
 * Vertex AI: it issues tokens to its service account, whose signature it verifies, and serves Gemini and Claude to
 * callers with a token. From Google's documentation: OAuth 2.0 for service accounts, `generateContent`, and Anthropic's
 * models on Vertex AI. Behind it are the fakes of both vendors, with their checks and words.
 */
export type VertexFake = AsyncDisposable & {
  /** The host and version. */
  url: string;
  /** The key file of its service account. */
  keyFile: string;
  requests: readonly RecordedRequest[];
  countTokens(): number;
  /** How long the next tokens live. */
  setLifetime(seconds: number): void;
  refuse(name: keyof typeof refusals | null): void;
};

type Refusal = readonly [status: number, body: object];

const google = (status: number, name: string, message: string, reason?: string): Refusal => [
  status,
  {
    error: {
      ...{ code: status, message, status: name },
      ...(reason === undefined ? {} : { details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason }] }),
    },
  },
];

const refusals = {
  token: google(
    401,
    "UNAUTHENTICATED",
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
    "ACCESS_TOKEN_TYPE_UNSUPPORTED",
  ),
  role: google(
    403,
    "PERMISSION_DENIED",
    "Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/projects/my-project-123/locations/global/publishers/google/models/gemini-3-flash' (or it may not exist).",
    "IAM_PERMISSION_DENIED",
  ),
  api: google(
    403,
    "PERMISSION_DENIED",
    "Vertex AI API has not been used in project my-project-123 before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/aiplatform.googleapis.com/overview?project=my-project-123 then retry.",
    "SERVICE_DISABLED",
  ),
  model: google(
    404,
    "NOT_FOUND",
    "Publisher Model `projects/my-project-123/locations/us-central1/publishers/google/models/gemini-9` was not found or your project does not have access to it.",
  ),
  quota: google(429, "RESOURCE_EXHAUSTED", "Resource exhausted. Please try again later."),
  fault: google(503, "UNAVAILABLE", "The service is currently unavailable."),
  account: [400, { error: "invalid_grant", error_description: "Invalid grant: account not found" }],
  signature: [400, { error: "invalid_grant", error_description: "Invalid JWT Signature." }],
} as const satisfies Record<string, Refusal>;
const tokenRefusals: readonly string[] = ["account", "signature"];

type Prediction = { outputDimensionality?: number };
const predictionSchema = strict(
  {
    instances: Type.Array(strict({ content: text }, { task_type: text, title: text }), { minItems: 1, maxItems: 250 }),
  },
  { parameters: strict({}, { autoTruncate: Type.Boolean(), outputDimensionality: Type.Integer({ minimum: 1 }) }) },
);

const email = "gateway@my-project-123.iam.gserviceaccount.com";
const prefix =
  /^\/v1(?:beta1)?\/projects\/my-project-123\/locations\/global\/publishers\/(google|anthropic)\/models\/([^:]+):(\w+)(\?alt=sse)?$/;

export async function startVertexFake(
  behind: Pick<FakeUpstreams, "geminiUrl" | "anthropicUrl">,
  clock: { now(): Date },
): Promise<VertexFake> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const tokens: string[] = [];
  let lifetime = 3599;
  let refusal: keyof typeof refusals | null = null;

  function issue({ body }: RecordedRequest): Refusal {
    const form = new URLSearchParams(String(body));
    const [head = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".");
    const isSigned = verify(
      "RSA-SHA256",
      Buffer.from(`${head}.${claims}`),
      publicKey,
      Buffer.from(signature, "base64url"),
    );
    if (!isSigned || form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer")
      return refusals.signature;
    const { iss, scope, aud, iat, exp } = JSON.parse(String(Buffer.from(claims, "base64url")));
    const now = clock.now().getTime() / 1000;
    const isTimely = iat <= now + 60 && exp > now && exp - iat <= 3600;
    if (iss !== email || aud !== `${server.url}/token` || !isTimely) return refusals.account;
    if (scope !== "https://www.googleapis.com/auth/cloud-platform") return refusals.account;
    tokens.push(`ya29.fake-token-number-${tokens.length + 1}`);
    return [200, { access_token: tokens.at(-1), expires_in: lifetime, token_type: "Bearer" }];
  }

  const server = await startRecordingServer(async (request, response) => {
    const send = ([status, body]: Refusal): void => {
      response.writeHead(status, { "content-type": "application/json; charset=UTF-8" }).end(JSON.stringify(body));
    };
    if (request.path === "/token") {
      return send(refusal !== null && tokenRefusals.includes(refusal) ? refusals[refusal] : issue(request));
    }
    const token = String(request.headers.authorization).replace("Bearer ", "");
    if (!tokens.includes(token)) return send(refusals.token);
    if (refusal !== null && !tokenRefusals.includes(refusal)) return send(refusals[refusal]);
    const [, publisher, model = "", operation, query = ""] = prefix.exec(request.path) ?? [];
    if (publisher === undefined) return send(refusals.model);
    if (publisher === "google" && operation === "predict") return send(predict(decodeURIComponent(model), request));
    const answer =
      publisher === "google"
        ? await askGemini(`${model}:${operation}${query}`, request)
        : await askClaude(decodeURIComponent(model), operation === "streamRawPredict", request);
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    if (answer.body === null) response.end();
    else Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]).pipe(response);
  });

  /** From Google's documentation of the text embeddings API. */
  function predict(model: string, { body }: RecordedRequest): Refusal {
    const asked = JSON.parse(String(body));
    const complaint = findComplaint(predictionSchema, asked);
    const { instances, parameters } = asked as { instances: { content: string }[]; parameters?: Prediction };
    const { outputDimensionality: length = 3 } = parameters ?? {};
    if (complaint !== null) return google(400, "INVALID_ARGUMENT", `Invalid JSON payload received. ${complaint}`);
    if (model.startsWith("gemini-") && instances.length > 1) {
      return google(400, "INVALID_ARGUMENT", "The model supports one instance per prediction.");
    }
    const predictions = instances.map(({ content }) => ({
      embeddings: {
        values: Array.from({ length }, (_, index) => (index + content.length) / 8),
        statistics: { token_count: content.length, truncated: false },
      },
    }));
    return [200, { predictions, metadata: { billableCharacterCount: 1 } }];
  }

  async function askGemini(path: string, { body }: RecordedRequest): Promise<Response> {
    return await forward(`${behind.geminiUrl}/models/${path}`, { "x-goog-api-key": "key" }, JSON.parse(String(body)));
  }

  async function askClaude(model: string, isStreamed: boolean, { body }: RecordedRequest): Promise<Response> {
    const { anthropic_version: version, ...asked } = JSON.parse(String(body));
    if (version !== "vertex-2023-10-16" || "model" in asked || (asked.stream === true) !== isStreamed) {
      return Response.json(
        { type: "error", error: { type: "invalid_request_error", message: "model: Extra inputs are not permitted" } },
        { status: 400 },
      );
    }
    const headers = { "x-api-key": "key", "anthropic-version": "2023-06-01" };
    return await forward(`${behind.anthropicUrl}/messages`, headers, { ...asked, model });
  }

  return {
    url: server.url,
    keyFile: JSON.stringify(
      {
        ...{ type: "service_account", project_id: "my-project-123", private_key_id: "0123abcd", client_email: email },
        private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
        token_uri: `${server.url}/token`,
      },
      null,
      2,
    ),
    requests: server.requests,
    countTokens: () => tokens.length,
    setLifetime(seconds) {
      lifetime = seconds;
    },
    refuse(name) {
      refusal = name;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function forward(url: string, headers: Record<string, string>, body: object): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}
