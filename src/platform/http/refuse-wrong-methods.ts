import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../errors/app-error.ts";

type KnownPath = { url: string; segments: readonly string[]; methods: ReadonlySet<string> };

/**
 * Collects every route as it is added; `finish` then answers the other methods of the same paths with 405. Methods that
 * hardly anybody sends have no routes: thirty for each path would take most of a start. Whoever finds no route asks
 * `refuse` about them.
 */
export function refuseWrongMethods(http: FastifyInstance): { finish(): void; refuse(request: FastifyRequest): void } {
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
          handler: () => {
            throw createRefusal(methods);
          },
        });
      }
      paths = [...methodsByPath]
        .map(([url, methods]) => ({ url, segments: url.split("/"), methods }))
        .toSorted(compareAsRouter);
    },
    refuse(request) {
      // These have routes, and came to one that leads nowhere: to a file that does not exist.
      if (http.supportedMethods.includes(request.method)) return;
      const path = findPath(paths, request.url);
      if (path === undefined) return;
      request.logFields = { ...request.logFields, route: path.url, path: undefined };
      throw createRefusal(path.methods);
    },
  };
}

function createRefusal(methods: ReadonlySet<string>): AppError {
  const allow = [...methods].toSorted().join(", ");
  return new AppError("method_not_allowed", `This path answers ${allow} only.`, { headers: { allow } });
}

/** The router prefers what is written out to what may be anything, and that to what may be any length. */
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
