import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { HttpServer } from "../platform/http/create-http-server.ts";

/** The reference's program comes as one file of a package; nothing of it is loaded into this process. */
const viewerManifest = findPackageJSON("@scalar/fastify-api-reference", import.meta.url) ?? "";
const viewerDir = join(dirname(viewerManifest), "dist", "js");

/** A gate, half open, with the water under it. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#0b7285" d="M2 1h2v9H2zM12 1h2v9h-2zM5 1h6v6H5z"/><path fill="none" stroke="#15aabf" stroke-width="2" d="M1 13q2-2 3.5 0t3.5 0 3.5 0 3.5 0"/></svg>`;

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Sluice API reference</title>
    <link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}" />
  </head>
  <body>
    <noscript>The machine-readable reference is at <a href="/v1/openapi.json">/v1/openapi.json</a>.</noscript>
    <div id="reference"></div>
    <script src="/docs/viewer/standalone.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const startScript = `Scalar.createApiReference("#reference", {
  url: "/v1/openapi.json",
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  hideTestRequestButton: true,
  showDeveloperTools: "never",
  authentication: { preferredSecurityScheme: "api_key" },
  agent: { disabled: true },
  mcp: { disabled: true },
});
`;

/** The viewer writes its styles into the page itself, hence 'unsafe-inline' for styles, here only. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The reference page: served whole from this process, it asks no other server for anything. */
export async function addReferenceRoutes(http: HttpServer): Promise<void> {
  const schema = { hide: true };
  await http.register(fastifyStatic, {
    root: viewerDir,
    prefix: "/docs/viewer/",
    index: false,
    maxAge: "1h",
    decorateReply: false,
  });
  http.get("/docs", { schema }, async (_request, reply) =>
    reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", contentSecurityPolicy)
      .header("referrer-policy", "no-referrer")
      .send(page),
  );
  http.get("/docs/start.js", { schema }, async (_request, reply) =>
    reply.type("text/javascript; charset=utf-8").send(startScript),
  );
  http.get("/v1/openapi.json", { schema }, async () => http.swagger());
}
