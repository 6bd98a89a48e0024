import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { ownLogos } from "./model-logos.ts";

/** Images for everybody: whoever lists models may show them anywhere. */
export function addLogoRoutes(http: HttpServer): void {
  for (const [path, picture] of ownLogos) {
    http.get(path, { schema: { hide: true } }, (_request, reply) => {
      reply.headers({
        "content-type": "image/svg+xml; charset=utf-8",
        "cache-control": "public, max-age=86400",
        "cross-origin-resource-policy": "cross-origin",
        "content-security-policy": "sandbox; default-src 'none'",
      });
      return reply.send(picture);
    });
  }
}
