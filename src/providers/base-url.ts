import type { Fetch } from "../platform/net/upstream-fetch.ts";

/** An upstream's address, as the operator wrote it: `https://api.example.com/v1?api-version=1`. */
export type BaseUrl = {
  origin: string;
  /**
   * The path of an operation, such as `chat/completions`: appended to the address's path, before its query. The upstream
   * model replaces `{model}` in the address.
   */
  pathOf(operation: string, upstreamModel?: string): string;
};

/** Braces are encoded in URLs. */
const modelPlace = encodeURI("{model}");

export function readBaseUrl(text: string): BaseUrl {
  const { origin, pathname, search } = new URL(text);
  const path = pathname.replace(/\/+$/, "");
  return {
    origin,
    pathOf: (operation, upstreamModel = "") =>
      `${path.replace(modelPlace, () => encodeURIComponent(upstreamModel))}/${operation}${search}`,
  };
}

/** Libraries append their paths to an address, so they get it without its query, which each request gets back. */
export function keepQuery(text: string, fetch: Fetch): { baseURL: string; fetch: Fetch } {
  const { origin, pathname, search } = new URL(text);
  if (search === "") return { baseURL: text, fetch };
  const query = search.slice(1);
  return {
    baseURL: origin + pathname.replace(/\/+$/, ""),
    fetch: (input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      return fetch(`${url}${url.includes("?") ? "&" : "?"}${query}`, init);
    },
  };
}
