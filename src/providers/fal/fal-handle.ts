import type { BaseUrl } from "../base-url.ts";
import type { Handle } from "../generation.ts";
import { asRecord } from "../openai-compatible/json-value.ts";

/** The paths for a queued request, on fal's own origin, with their queries. */
export type FalHandle = { requestId: string; statusPath: string; resultPath: string; cancelPath: string };

const idPattern = /^[A-Za-z0-9._-]{1,200}$/;
const pathCharactersMax = 1000;

/** Reads the response to a submission; `null` if it does not name the request. */
export function readFalReply(
  body: unknown,
  { baseUrl, upstreamModel }: { baseUrl: BaseUrl; upstreamModel: string },
): FalHandle | null {
  const reply = asRecord(body);
  const requestId = reply?.request_id;
  if (typeof requestId !== "string" || !idPattern.test(requestId)) return null;
  const usual = `${findApp(upstreamModel)}/requests/${requestId}`;
  // fal's own URLs are preferred, but only on its origin, because the key is sent there.
  const choose = (url: unknown, otherwise: string): string => readOwnPath(url, baseUrl) ?? baseUrl.pathOf(otherwise);
  return {
    requestId,
    statusPath: choose(reply?.status_url, `${usual}/status`),
    resultPath: choose(reply?.response_url, usual),
    cancelPath: choose(reply?.cancel_url, `${usual}/cancel`),
  };
}

/** The stored handle; `null` if it is not one of ours. */
export function parseFalHandle({ requestId, statusPath, resultPath, cancelPath }: Handle): FalHandle | null {
  const isPath = (path: unknown): path is string => typeof path === "string" && path.startsWith("/");
  if (typeof requestId !== "string" || !isPath(statusPath) || !isPath(resultPath) || !isPath(cancelPath)) return null;
  return { requestId, statusPath, resultPath, cancelPath };
}

function readOwnPath(text: unknown, baseUrl: BaseUrl): string | null {
  const url = typeof text === "string" ? URL.parse(text) : null;
  if (url === null || url.origin !== baseUrl.origin) return null;
  const path = url.pathname + url.search;
  return path.length > pathCharactersMax ? null : path;
}

/** The owner and name of an app. Requests are addressed under them, without the path of one of its functions. */
function findApp(upstreamModel: string): string {
  const parts = upstreamModel.split("/");
  const isNested = parts[0] === "workflows" || parts[0] === "comfy";
  return parts.slice(0, isNested ? 3 : 2).join("/");
}
