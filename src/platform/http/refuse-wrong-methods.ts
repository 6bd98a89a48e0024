import { METHODS } from "node:http";
import type { FastifyInstance } from "fastify";
import { AppError } from "../errors/app-error.ts";

/** Collects every route as it is added; `finish` then answers all other methods of the same paths with 405. */
export function refuseWrongMethods(http: FastifyInstance): { finish(): void } {
  const methodsByPath = new Map<string, Set<string>>();
  for (const method of METHODS) {
    if (!http.supportedMethods.includes(method)) http.addHttpMethod(method);
  }
  let isFinishing = false;
  http.addHook("onRoute", ({ url, method }) => {
    if (isFinishing) return;
    const methods = methodsByPath.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    methodsByPath.set(url, methods);
  });

  return {
    finish() {
      isFinishing = true;
      for (const [url, methods] of methodsByPath) {
        const allow = [...methods].toSorted().join(", ");
        http.route({
          method: http.supportedMethods.filter((method) => !methods.has(method)),
          url,
          schema: { hide: true },
          handler: () => {
            throw new AppError("method_not_allowed", `This path answers ${allow} only.`, { headers: { allow } });
          },
        });
      }
    },
  };
}
