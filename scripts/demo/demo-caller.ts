/** Calls the API as a customer's program does; whatever is refused ends the demonstration, for it was not meant to be. */
export type DemoCaller = {
  get<T>(path: string, options?: { headers?: Record<string, string> }): Promise<T>;
  post<T>(path: string, body: unknown, options?: { key?: string; headers?: Record<string, string> }): Promise<T>;
};

export function createDemoCaller(baseUrl: string, ownKey: string): DemoCaller {
  async function call<T>(path: string, key: string, init: RequestInit): Promise<T> {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...init.headers };
    const response = await fetch(`${baseUrl}${path}`, { ...init, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${text}`);
    return (response.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text) as T;
  }
  return {
    get: (path, { headers = {} } = {}) => call(path, ownKey, { headers }),
    post: (path, body, { key = ownKey, headers = {} } = {}) =>
      call(path, key, { method: "POST", headers, body: JSON.stringify(body) }),
  };
}
