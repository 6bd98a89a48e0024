import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../errors/app-error.ts";

type KnownPath = {
  url: string;
  segments: readonly string[];
  /** Whether a segment is a parameter or a wildcard, by its place. */
  isOpen: readonly boolean[];
  methods: ReadonlySet<string>;
};

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
      paths = [...methodsByPath].map(([url, methods]) => openPath(url, methods)).toSorted(compareAsRouter);
      for (const path of paths) {
        const { url, methods } = path;
        const others = paths.filter((other) => other !== path && overlaps(path, other));
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

function openPath(url: string, methods: ReadonlySet<string>): KnownPath {
  const segments = url.split("/");
  return { url, segments, isOpen: segments.map((segment) => /[:*]/.test(segment)), methods };
}

/** Whether some path matches both. */
function overlaps(one: KnownPath, other: KnownPath): boolean {
  const length = Math.min(one.segments.length, other.segments.length);
  for (let place = 0; place < length; place += 1) {
    if (one.segments[place] !== other.segments[place] && !one.isOpen[place] && !other.isOpen[place]) return false;
  }
  if (one.segments.length === other.segments.length) return true;
  const shorter = one.segments.length === length ? one : other;
  return shorter.segments.at(-1) === "*";
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
