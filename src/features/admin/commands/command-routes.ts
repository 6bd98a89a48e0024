import { Type } from "typebox";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing, getAdminCaller } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { requireAccess } from "../edge/require-access.ts";

const outputSchema = Type.Object({
  object: Type.Literal("command_output"),
  text: Type.String({ description: "What it printed to standard output; with `--json` among the words, JSON." }),
  notes: Type.String({ description: "What it printed to standard error." }),
  failed: Type.Boolean(),
  exit_code: Type.Integer({ description: "0 success, 1 failure or problems found, 2 invalid arguments." }),
});

/** A longer output needs a filter. */
const textCharactersMax = 16_000_000;

export function addCommandRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  const { commands, clock } = dependencies;
  const { config, schema, errors } = describeAdminEndpoint("runCommand");
  http.post(
    "/commands",
    {
      config,
      schema: {
        ...schema,
        summary: "Run a command",
        description: `Runs a command of \`sluicectl\` inside the gateway, with the scope and access that it needs. Commands that read or write
files, start programs or hand out rights run only on a host.`,
        body: Type.Object(
          {
            words: Type.Array(Type.String({ maxLength: 10_000, pattern: "^[^\\0]*$" }), {
              minItems: 1,
              maxItems: 100,
              examples: [["account", "list", "--json"]],
            }),
          },
          { additionalProperties: false },
        ),
        response: { 200: outputSchema, ...errors },
      },
    },
    async (request) => {
      const { words } = request.body;
      const command = commands === null ? null : await commands.runner.find(words);
      if (commands === null || command === null) {
        throw new AppError("invalid_parameter", `There is no remote command "${words.join(" ").slice(0, 100)}".`, {
          param: "words",
        });
      }
      requireAccess(getAdminCaller(request), command, clock.now());
      const { text, notes, exitCode } = await commands.runner.run(words, {
        acting: getActing(request),
        host: commands.host,
      });
      if (text.length > textCharactersMax) {
        throw new AppError("invalid_parameter", "The output is too long. Use a filter or a limit.", { param: "words" });
      }
      return { object: "command_output" as const, text, notes, failed: exitCode !== 0, exit_code: exitCode };
    },
  );
}
