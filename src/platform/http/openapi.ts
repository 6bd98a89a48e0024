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

/** Collects the routes' own schemas; must be added before the routes. */
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
      url.startsWith(`${consolePath}/`)
        ? { schema: { ...schema, hide: true }, url }
        : nameWildcard({ schema: completeRoute(schema ?? {}, { method: String(route.method), url }), url }),
    transformObject: (written) => addExamples(completeWritten(written), api.examples),
  });
}

/** The site's own API has a document of its own: it is for the site's pages, not for customers' programs. */
const consolePath = "/console/api";

declare module "fastify" {
  interface FastifyInstance {
    /** The document of the console API; only within that API's routes. */
    consoleSwagger(): object;
  }
}

/** Collects the schemas of the console API; must be added before its routes, where they are added. */
export async function describeConsoleRoutes(http: HttpServer, { siteUrl }: { siteUrl: string }): Promise<void> {
  await http.register(swagger, {
    decorator: "consoleSwagger",
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Sluice console",
        description: "The API of the site's own pages. It follows them, and changes without notice.",
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
      // A session opens these routes, and programs' keys do not.
      const security = route.config?.access === "open" ? [] : [{ session: [] }];
      // A page says what it sends, even where that is nothing: else it could be a form of any site.
      const own = requireBody(completeRoute({ ...schema, security }, { method: String(route.method), url }));
      return nameWildcard({ schema: own, url: url.replace(consolePath, "") });
    },
    transformObject: completeWritten,
  });
}

function completeWritten(written: { openapiObject: object } | { swaggerObject: object }) {
  invariant("openapiObject" in written, "only OpenAPI documents are written");
  return completeDocument(written.openapiObject);
}

type DescribedParams = { properties?: Record<string, { title?: string }> };

/** A parameter that may contain slashes is a nameless `*` to the router; the reference shows the title of its schema. */
function nameWildcard({ schema, url }: { schema: FastifySchema; url: string }): { schema: FastifySchema; url: string } {
  // Only our own routes pass here, and their parameters are described by objects.
  const wildcard = (schema?.params as DescribedParams | undefined)?.properties?.["*"];
  if (wildcard?.title === undefined) return { schema, url };
  const params = { type: "object", properties: { [wildcard.title]: wildcard }, required: [wildcard.title] };
  return { schema: { ...schema, params }, url: url.replace("*", `{${wildcard.title}}`) };
}
