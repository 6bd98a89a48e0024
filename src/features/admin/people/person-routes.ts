import type { Readable } from "node:stream";
import { Type } from "typebox";
import type { AccountId } from "../../../lib/ids.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { reasonSchema } from "../edge/reason.ts";
import { createSendAlone } from "../edge/send-alone.ts";
import { erasePerson } from "./erase-person.ts";
import { exportPerson } from "./export-person.ts";

const params = pathParams({ account_id: "account" });

export function addPersonRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  const sendAlone = createSendAlone();
  const exporting = describeAdminEndpoint("exportPerson");
  http.post(
    "/accounts/:account_id/export",
    {
      config: exporting.config,
      schema: {
        ...exporting.schema,
        summary: "Export a person's data",
        description: `Everything stored about the account and its person, without secrets: a compressed tar archive of JSON lines, one file
per kind. One export at a time. Check the folder \`for-review\` before you hand it over: operators wrote it.`,
        params,
        body: reasonSchema,
        // A stream, sent without serialization.
        response: { 200: Type.Unsafe<Readable>(Type.String({ description: "The archive." })), ...exporting.errors },
      },
    },
    async (request, reply) => {
      const accountId = request.params.account_id as AccountId;
      const action = { accountId, acting: getActing(request), reason: request.body.reason };
      const archive = await sendAlone(() => exportPerson(dependencies, action));
      reply.type("application/gzip").header("content-disposition", `attachment; filename="${accountId}.tar.gz"`);
      return archive;
    },
  );
  const erasing = describeAdminEndpoint("erasePerson");
  http.post(
    "/accounts/:account_id/erase",
    {
      config: erasing.config,
      schema: {
        ...erasing.schema,
        summary: "Erase a person's data",
        description: `Of a closed account: removes the person, their sign-in methods and addresses, and all prompts, contents, tasks, requests
and files. Charges, invoices and the audit log's chain stay. It cannot be undone; if it fails, repeat it.`,
        params,
        body: reasonSchema,
        response: {
          200: Type.Object({
            object: Type.Literal("person_erasure"),
            account_id: Type.String(),
            audit_entries: Type.Integer({ description: "Entries of the audit log in which the person was blanked." }),
          }),
          ...erasing.errors,
        },
      },
    },
    async (request) => {
      const accountId = request.params.account_id as AccountId;
      const action = { accountId, acting: getActing(request), reason: request.body.reason };
      const { auditEntries } = await erasePerson(dependencies, action);
      await dependencies.purgeFiles();
      return { object: "person_erasure" as const, account_id: accountId, audit_entries: auditEntries };
    },
  );
}
