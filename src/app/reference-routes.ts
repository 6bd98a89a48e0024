import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OperationExample } from "../platform/http/add-examples.ts";
import type { HttpServer } from "../platform/http/create-http-server.ts";

/** The reference as programs read it; the site shows the same to people. */
export function addReferenceRoutes(http: HttpServer): void {
  http.get("/v1/openapi.json", { schema: { hide: true } }, async () => http.swagger());
}

/** What every operation was sent and answered when somebody last ran `scripts/record-examples.ts`. */
export function readExamples(): Record<string, OperationExample> {
  return JSON.parse(readFileSync(join(import.meta.dirname, "recorded-examples.json"), "utf8"));
}
