import { AppError } from "../platform/errors/app-error.ts";
import type { MissingPath } from "../platform/http/create-http-server.ts";
import { adminPath } from "../platform/http/openapi.ts";
import { findMethodSubstitute, findSubstitute } from "./openai-endpoints.ts";

/** Words of other services' base URLs, which callers mix with ours. */
const baseWords: ReadonlySet<string | undefined> = new Set(["api", "openai", "anthropic", "v1"]);

/** The error for a path that a client with a wrong base URL, or of an API that we lack, requests; else `null`. */
export function explainMissingPath(
  { path, isAnthropic, hasPath }: MissingPath,
  { baseUrl, siteUrl }: { baseUrl: string; siteUrl: string },
): AppError | null {
  const words = path.split("/").filter((word) => word !== "");
  const meant = findMeantPath(words);
  if (meant !== null && meant !== path && hasPath(meant)) {
    const isSlash = meant === `/${words.join("/")}`;
    const isMessages = isAnthropic || meant.startsWith("/v1/messages");
    // Anthropic's clients add `/v1` themselves.
    const base = isMessages ? `${siteUrl} (without \`/v1\`)` : baseUrl;
    const remedy = isSlash ? "Remove the extra slash" : `Set your client's base URL to ${base}`;
    return new AppError("not_found", `There is nothing at this path. ${remedy}: the endpoint is \`${meant}\`.`);
  }
  return explainAbsence(findSubstitute(path));
}

/** The error for a method that clients of OpenAI's API expect at a path, or that the operators' API lacks; else `null`. */
export function explainMethod(method: string, path: string): AppError | null {
  // A 405 would show customers that the path exists.
  if (path.startsWith(`${adminPath}/`)) return new AppError("not_found", "There is nothing at this path.");
  return explainAbsence(findMethodSubstitute(method, path));
}

function explainAbsence(instead: string | null): AppError | null {
  return instead === null ? null : new AppError("not_offered", `This service does not offer this endpoint. ${instead}`);
}

/** The endpoint after the words of a base URL: `/api/v1/models`, `/v1/v1/models` and `/models` mean `/v1/models`. */
function findMeantPath(words: readonly string[]): string | null {
  const last = words.findLastIndex((word) => baseWords.has(word));
  // Paths of the site, such as `/console/api`, are not a client's.
  if (last > 0 && !baseWords.has(words[0])) return null;
  const operation = words.slice(last + 1);
  const half = operation.length / 2;
  // Some clients add the endpoint to a base URL that already has it.
  const isDoubled = operation.slice(0, half).join("/") === operation.slice(half).join("/");
  return ["/v1", ...(isDoubled ? operation.slice(half) : operation)].join("/");
}
