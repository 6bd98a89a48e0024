import { Type } from "typebox";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { readSetup, setupSteps } from "./read-setup.ts";

const setupSchema = Type.Object({
  object: Type.Literal("setup"),
  done: Type.Boolean(),
  steps: Type.Array(
    Type.Object({
      name: Type.Enum([...setupSteps]),
      done: Type.Boolean(),
      found: Type.String({ description: "What the system found." }),
    }),
  ),
});

/** The checklist of a first visit. */
export function addSetupRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  const get = describeAdminEndpoint("getSetup");
  http.get(
    "/setup",
    {
      config: get.config,
      schema: {
        ...get.schema,
        summary: "Get the checklist of the setup",
        description: "From an empty database to the first paid call. Each step is checked now.",
        response: { 200: setupSchema, ...get.errors },
      },
    },
    async () => {
      const steps = await readSetup(dependencies);
      return {
        object: "setup" as const,
        done: steps.every(({ isDone }) => isDone),
        steps: steps.map(({ name, isDone, found }) => ({ name, done: isDone, found })),
      };
    },
  );
}
