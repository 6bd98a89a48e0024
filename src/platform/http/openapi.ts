import swagger from "@fastify/swagger";
import type { HttpServer } from "./create-http-server.ts";

/** Collects the routes' own schemas; must be added before the routes. */
export async function describeRoutes(
  http: HttpServer,
  api: { title: string; description: string; baseUrl: string },
): Promise<void> {
  await http.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: api.title, description: api.description, version: "1" },
      servers: [{ url: api.baseUrl }],
      components: {
        securitySchemes: {
          api_key: { type: "http", scheme: "bearer", description: "`Authorization: Bearer <API_KEY>`" },
        },
      },
    },
    stripBasePath: true,
  });
}
