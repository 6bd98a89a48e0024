import { Type } from "typebox";
import type { Database } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { authenticatedErrors, errorAnswers } from "../../platform/http/error-answers.ts";
import { modelListSchema, presentModelList } from "./model-schema.ts";
import { listModelRows } from "./model-store.ts";

export function addModelRoutes(http: HttpServer, parts: { database: Database }): void {
  http.get(
    "/models",
    {
      schema: {
        operationId: "listModels",
        summary: "List models",
        description: "Every model that the account may use. Read it first and use the ids it gives.",
        tags: ["Models"],
        security: [{ api_key: [] }],
        "x-stability": "beta",
        querystring: Type.Object({}, { additionalProperties: false }),
        response: { 200: modelListSchema, ...errorAnswers(["unknown_parameter", ...authenticatedErrors]) },
      },
    },
    async () => presentModelList(await listModelRows(parts.database)),
  );
}
