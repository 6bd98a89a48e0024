import { EventSourceParserStream } from "eventsource-parser/stream";

/** Calls the API like a customer's program. Throws on any error response. */
export type DemoCaller = {
  get<T>(path: string, options?: { headers?: Record<string, string> }): Promise<T>;
  post<T>(path: string, body: unknown, options?: { key?: string; headers?: Record<string, string> }): Promise<T>;
  /** Reads an event stream to its end. */
  follow<T>(path: string): AsyncIterable<T>;
};

export function createDemoCaller(baseUrl: string, ownKey: string): DemoCaller {
  async function open(path: string, key: string, init: RequestInit): Promise<Response> {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...init.headers };
    const response = await fetch(`${baseUrl}${path}`, { ...init, headers });
    if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
    return response;
  }
  async function call<T>(path: string, key: string, init: RequestInit): Promise<T> {
    const response = await open(path, key, init);
    const text = await response.text();
    return (response.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text) as T;
  }
  return {
    get: (path, { headers = {} } = {}) => call(path, ownKey, { headers }),
    post: (path, body, { key = ownKey, headers = {} } = {}) =>
      call(path, key, { method: "POST", headers, body: JSON.stringify(body) }),
    async *follow<T>(path: string) {
      const { body } = await open(path, ownKey, {});
      if (body === null) return;
      const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      for await (const { data } of events) yield JSON.parse(data) as T;
    },
  };
}
