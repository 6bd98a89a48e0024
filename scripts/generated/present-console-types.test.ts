import { expect, test } from "vitest";
import { presentConsoleTypes } from "./present-console-types.ts";

test("generates types for all parts of a path except errors", () => {
  const document = {
    paths: {
      "/things/{id}": {
        post: {
          parameters: [
            { in: "path", name: "id", required: true, schema: { type: "string" } },
            { in: "query", name: "x-limit", schema: { type: "integer" } },
          ],
          requestBody: {
            content: {
              "application/json": {
                schema: {
                  type: "object",
                  required: ["name"],
                  properties: {
                    name: { anyOf: [{ type: "string" }, { type: "null" }] },
                    kinds: { type: "array", items: { enum: ["a", "b"] } },
                    rest: { type: "object", additionalProperties: { type: "boolean" } },
                    anything: {},
                  },
                },
              },
            },
          },
          responses: {
            200: { content: { "application/json": { schema: { type: ["number", "null"] } } } },
            204: {},
            400: { content: { "application/json": { schema: { type: "string" } } } },
          },
        },
      },
    },
  };
  const text = presentConsoleTypes(document, "docs/api/console-openapi.json");
  expect(text.slice(text.indexOf("export"))).toBe(`export type paths = {
  "/things/{id}": {
    post: {
      parameters: {
        path: {
          id: string;
        };
        query?: {
          "x-limit"?: number;
        };
      };
      requestBody: { content: {
        "application/json": {
          name: string | null;
          kinds?: ("a" | "b")[];
          rest?: Record<string, boolean>;
          anything?: unknown;
        };
      } };
      responses: {
        200: { content: {
          "application/json": number | null;
        } };
        204: { content?: never };
      };
    };
  };
};
`);
});
