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
 * Collects routes. The 404 handler calls `refuse` for a path that has routes of other methods. `finish` adds 405 routes
 * only where the router would take the path for another one's parameter: six for each path would take a third of the
 * startup time. `explain` may return another error for a method that clients expect.
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
      paths = [...methodsByPath]
        .map(([url, methods]) => ({ url, segments: url.split("/"), methods }))
        .toSorted(compareAsRouter);
      for (const { url, segments, methods } of paths) {
        const others = paths.filter((other) => other.url !== url && overlaps(segments, other.segments));
        const method = http.supportedMethods.filter(
          (name) => !methods.has(name) && others.some((other) => other.methods.has(name)),
        );
        if (method.length === 0) continue;
        http.route({
          method,
          url,
          schema: { hide: true },
          handler: (request) => {
            throw explain(request) ?? createRefusal(methods, request);
          },
        });
      }
    },
    refuse(request) {
      const path = findPath(paths, request.url);
      // A path with this method has a route, which found no file.
      if (path === undefined || path.methods.has(request.method)) return;
      request.logFields = { ...request.logFields, route: path.url };
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

/** Whether some path matches both. */
function overlaps(one: readonly string[], other: readonly string[]): boolean {
  const isOpen = (segment: string | undefined): boolean => segment === undefined || /[:*]/.test(segment);
  const differing = one.findIndex(
    (segment, index) => segment !== other[index] && !isOpen(segment) && !isOpen(other[index]),
  );
  if (differing !== -1) return false;
  return one.length === other.length || (one.length < other.length ? one : other).at(-1) === "*";
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
