import { Type } from "typebox";
import { consoleErrors, getSession } from "../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { SiteDependencies } from "../site-dependencies.ts";
import { type FirstCall, readFirstCall } from "./first-call-store.ts";

const firstCallSchema = Type.Object({
  object: Type.Literal("first_call"),
  state: Type.Enum(["waiting", "arrived", "succeeded"], {
    description:
      "`waiting`: no key was used yet. `arrived`: a key was used, but nothing was charged and no task was created: the call was rejected or is free. `succeeded`: a call was charged or a task was created.",
  }),
  key_used_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
    description: "When a key of the account was last used, to the minute.",
  }),
  refusal: Type.Union([Type.Object({ status: Type.Integer(), code: Type.String() }), Type.Null()], {
    description: "The error of the newest rejected call of the last day, if any.",
  }),
});

/** Polled by the page that waits for the first call. */
export function addFirstCallRoutes(http: HttpServer, { database, clock }: SiteDependencies): void {
  http.get(
    "/first_call",
    {
      schema: {
        operationId: "getFirstCall",
        summary: "Get the status of the first call",
        tags: ["Account"],
        response: { 200: firstCallSchema, ...consoleErrors("GET") },
      },
    },
    async (request) => {
      const call = await readFirstCall(database, getSession(request).accountId, clock.now());
      const keyUsedAt = call.keyUsedAt?.toISOString() ?? null;
      const { refusal } = call;
      return { object: "first_call" as const, state: decideState(call), key_used_at: keyUsedAt, refusal };
    },
  );
}

function decideState({ hasSucceeded, keyUsedAt, refusal }: FirstCall): "waiting" | "arrived" | "succeeded" {
  if (hasSucceeded) return "succeeded";
  return keyUsedAt === null && refusal === null ? "waiting" : "arrived";
}
