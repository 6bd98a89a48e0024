import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OperationExample } from "../platform/http/add-examples.ts";
import type { HttpServer } from "../platform/http/create-http-server.ts";

/** The OpenAPI document; the site shows the same. */
export function addReferenceRoutes(http: HttpServer): void {
  http.get("/v1/openapi.json", { schema: { hide: true } }, async () => http.swagger());
}

/** Recorded by `scripts/record-examples.ts`. */
export function readExamples(): Record<string, OperationExample> {
  return JSON.parse(readFileSync(join(import.meta.dirname, "recorded-examples.json"), "utf8"));
}
