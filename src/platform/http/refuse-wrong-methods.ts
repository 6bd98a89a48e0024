import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../errors/app-error.ts";

type KnownPath = { url: string; segments: readonly string[]; methods: ReadonlySet<string> };

type KnownPaths = {
  finish(): void;
  refuse(request: FastifyRequest): void;
  /** Whether a path has routes, for any method. */
  hasPath(path: string): boolean;
};

/**
 * Collects routes; `finish` then adds 405 routes for the other common methods of each path. Rare methods get no routes,
 * because thirty per path would take most of the startup time: the 404 handler calls `refuse` for them. `explain` may
 * return another error for a method that clients expect.
 */
export function refuseWrongMethods(
  http: FastifyInstance,
  explain: (request: FastifyRequest) => AppError | null = () => null,
): KnownPaths {
  const methodsByPath = new Map<string, Set<string>>();
  let paths: KnownPath[] = [];
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
        http.route({
          method: http.supportedMethods.filter((method) => !methods.has(method)),
          url,
          schema: { hide: true },
          handler: (request) => {
            throw explain(request) ?? createRefusal(methods, request);
          },
        });
      }
      paths = [...methodsByPath]
        .map(([url, methods]) => ({ url, segments: url.split("/"), methods }))
        .toSorted(compareAsRouter);
    },
    refuse(request) {
      // Common methods have routes; this is a missing file.
      if (http.supportedMethods.includes(request.method)) return;
      const path = findPath(paths, request.url);
      if (path === undefined) return;
      request.logFields = { ...request.logFields, route: path.url, path: undefined };
      throw explain(request) ?? createRefusal(path.methods, request);
    },
    hasPath: (path) => findPath(paths, path) !== undefined,
  };
}

/** Codex tries a WebSocket first. After a 426 it falls back to HTTP at once; any other status it retries. */
function createRefusal(methods: ReadonlySet<string>, { method, headers }: FastifyRequest): AppError {
  const allow = [...methods].toSorted().join(", ");
  if (method === "GET" && headers.upgrade?.toLowerCase() === "websocket") {
    const message = `This path has no WebSocket form. Use HTTP: ${allow}.`;
    const headers = { upgrade: "HTTP/1.1", connection: "close", allow };
    return new AppError("websocket_not_supported", message, { headers });
  }
  return new AppError("method_not_allowed", `This path supports only ${allow}.`, { headers: { allow } });
}

/** The router's precedence: static segments, then parameters, then wildcards. */
function compareAsRouter(one: KnownPath, other: KnownPath): number {
  const rank = (segment: string | undefined): number => (segment === "*" ? 2 : segment?.startsWith(":") ? 1 : 0);
  const differing = one.segments.findIndex((segment, index) => rank(segment) !== rank(other.segments[index]));
  return differing === -1 ? 0 : rank(one.segments[differing]) - rank(other.segments[differing]);
}

function findPath(paths: readonly KnownPath[], url: string): KnownPath | undefined {
  const segments = decodeURI(url.split(/[?#]/, 1)[0] ?? "").split("/");
  return paths.find((path) => {
    if (path.segments.at(-1) !== "*" && path.segments.length !== segments.length) return false;
    return path.segments.every((segment, index) => {
      const given = segments[index];
      return segment === "*" || segment.startsWith(":") ? given !== undefined : segment === given;
    });
  });
}
