import swagger from "@fastify/swagger";
import type { FastifySchema } from "fastify";
import { invariant } from "../../lib/invariant.ts";
import { addExamples, type OperationExample } from "./add-examples.ts";
import { completeDocument, completeRoute, requireBody } from "./complete-openapi.ts";
import type { HttpServer } from "./create-http-server.ts";

type ApiDescription = {
  title: string;
  description: string;
  baseUrl: string;
  webhooks: Record<string, object>;
  /** By the names of the operations. */
  examples: Readonly<Record<string, OperationExample>>;
};

/** Collects the schemas of routes; call it before they are added. */
export async function describeRoutes(http: HttpServer, api: ApiDescription): Promise<void> {
  await http.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: api.title, description: api.description, version: "1" },
      servers: [{ url: api.baseUrl }],
      webhooks: api.webhooks,
      components: {
        securitySchemes: {
          api_key: { type: "http", scheme: "bearer", description: "`Authorization: Bearer <API_KEY>`" },
        },
      },
    },
    stripBasePath: true,
    transform: ({ schema, url, route }) =>
      url.startsWith(`${consolePath}/`) || url.startsWith(`${adminPath}/`)
        ? { schema: { ...schema, hide: true }, url }
        : nameWildcard({ schema: completeRoute(schema ?? {}, { method: String(route.method), url }), url }),
    transformObject: (written) => addExamples(completeWritten(written), api.examples),
  });
}

/** The console API has its own document: it serves the site's pages, not customers. */
const consolePath = "/console/api";

/** So has the operators' API, whose existence customers do not see. */
export const adminPath = "/admin/v1";

declare module "fastify" {
  interface FastifyInstance {
    /** The document of the console API, available within its routes. */
    consoleSwagger(): object;
    /** The document of the operators' API, available within its routes. */
    adminSwagger(): object;
  }
}

/** Collects the schemas of the console API; call it before its routes are added. */
export async function describeConsoleRoutes(http: HttpServer, { siteUrl }: { siteUrl: string }): Promise<void> {
  await http.register(swagger, {
    decorator: "consoleSwagger",
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Sluice console",
        description: "The API of the site's pages. It changes without notice.",
        version: "1",
      },
      servers: [{ url: `${siteUrl}${consolePath}` }],
      components: {
        securitySchemes: {
          session: { type: "apiKey", in: "cookie", name: "sluice-session", description: "Set by signing in." },
        },
      },
    },
    stripBasePath: true,
    transform: ({ schema, url, route }) => {
      // These routes require a session; API keys are not accepted.
      const security = route.config?.access === "open" ? [] : [{ session: [] }];
      // CSRF protection requires a JSON body even where the route's body is optional.
      const own = requireBody(completeRoute({ ...schema, security }, { method: String(route.method), url }));
      return nameWildcard({ schema: own, url: url.replace(consolePath, "") });
    },
    transformObject: completeWritten,
  });
}

/** Collects the schemas of the operators' API; call it before its routes are added. */
export async function describeAdminRoutes(http: HttpServer, { siteUrl }: { siteUrl: string }): Promise<void> {
  await http.register(swagger, {
    decorator: "adminSwagger",
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Sluice operators' API",
        description: `The API of the operator console and of programs with an admin key: \`Authorization: Bearer sk-adm-…\`. Lists are newest
first; send \`next_cursor\` as \`after\` to get the next page. Every change is in the audit log.`,
        version: "1",
      },
      servers: [{ url: `${siteUrl}${adminPath}` }],
      components: {
        securitySchemes: {
          admin_key: { type: "http", scheme: "bearer", description: "`Authorization: Bearer sk-adm-…`" },
          session: { type: "apiKey", in: "cookie", name: "sluice-session", description: "An operator who signed in." },
        },
      },
    },
    stripBasePath: true,
    transform: ({ schema, url, route }) => {
      const own = completeRoute(schema ?? {}, { method: String(route.method), url });
      return nameWildcard({ schema: requireBody(own), url: url.replace(adminPath, "") });
    },
    transformObject: completeWritten,
  });
}

function completeWritten(written: { openapiObject: object } | { swaggerObject: object }) {
  invariant("openapiObject" in written, "only OpenAPI documents are written");
  return completeDocument(written.openapiObject);
}

type DescribedParams = { properties?: Record<string, { title?: string }> };

/** The router calls a parameter with slashes `*`; the reference uses the title of its schema. */
function nameWildcard({ schema, url }: { schema: FastifySchema; url: string }): { schema: FastifySchema; url: string } {
  const wildcard = (schema?.params as DescribedParams | undefined)?.properties?.["*"];
  if (wildcard?.title === undefined) return { schema, url };
  const params = { type: "object", properties: { [wildcard.title]: wildcard }, required: [wildcard.title] };
  return { schema: { ...schema, params }, url: url.replace("*", `{${wildcard.title}}`) };
}
