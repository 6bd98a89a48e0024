import type { Vendor } from "./behaviour.ts";
import type { FakeUpstreams } from "./fake-upstreams.ts";

type AskOptions = {
  prompt?: string;
  model?: string;
  apiKey?: string;
  isStreamed?: boolean;
  /** Fields of the body that differ from the smallest valid request. */
  change?: object;
};

type CallOptions = Omit<AskOptions, "change"> & {
  body?: object;
  /** Sent instead of the body. */
  text?: string;
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

/** The smallest request that the vendor accepts. */
export function buildBody(
  vendor: Vendor,
  { prompt = "Hello there", model = "model-x", isStreamed = false } = {},
): object {
  const messages = [{ role: "user", content: prompt }];
  const stream = isStreamed ? { stream: true } : {};
  switch (vendor) {
    case "openai":
      return { model, messages, ...stream };
    case "anthropic":
      return { model, messages, max_tokens: 1000, ...stream };
    case "gemini":
      return { contents: [{ role: "user", parts: [{ text: prompt }] }] };
  }
}

/** Calls a fake vendor with any request, unrestricted by an SDK. */
export function callVendor(fake: FakeUpstreams, vendor: Vendor, options: CallOptions = {}): Promise<Response> {
  const { model = "model-x", apiKey = "key", isStreamed = false } = options;
  const places = {
    openai: { url: fake.openAiUrl, path: "/chat/completions", headers: { authorization: `Bearer ${apiKey}` } },
    anthropic: {
      url: fake.anthropicUrl,
      path: "/messages",
      headers: { "x-api-key": apiKey, "anthropic-version": "2023-06-01" },
    },
    gemini: {
      url: fake.geminiUrl,
      path: `/models/${model}:${isStreamed ? "streamGenerateContent?alt=sse" : "generateContent"}`,
      headers: { "x-goog-api-key": apiKey },
    },
  };
  const { url, path, headers } = places[vendor];
  const given = Object.entries({ "content-type": "application/json", ...headers, ...options.headers });
  return fetch(url + (options.path ?? path), {
    method: options.method ?? "POST",
    headers: given.filter(([, value]) => value !== ""),
    body: options.text ?? JSON.stringify(options.body ?? buildBody(vendor, options)),
    redirect: "manual",
    signal: options.signal ?? null,
  });
}

/** Asks a fake vendor and reads the whole answer; `json` is `undefined` if it is not JSON. */
export async function askVendor(
  fake: FakeUpstreams,
  vendor: Vendor,
  options: AskOptions = {},
): Promise<{ status: number; headers: Headers; text: string; json: unknown }> {
  const body = { ...buildBody(vendor, options), ...options.change };
  const response = await callVendor(fake, vendor, { ...options, body });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return { status: response.status, headers: response.headers, text, json: isJson ? parseJson(text) : undefined };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Tests script broken JSON on purpose.
    return undefined;
  }
}
