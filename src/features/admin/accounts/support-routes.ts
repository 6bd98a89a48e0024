import { Type } from "typebox";
import type { AccountId, UserId } from "../../../lib/ids.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { createPageSchema, listFields, presentPage } from "../../usage/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { reasonSchema } from "../edge/reason.ts";
import { accountSchema, presentAccount } from "./account-admin-schema.ts";
import { type AccountNote, listNotes } from "./account-note-store.ts";
import { readAccountFacts } from "./read-account.ts";
import { addNote, closeAsOperator, resetTwoStepAsOperator } from "./support-account.ts";

const params = pathParams({ account_id: "account" });

const noteSchema = Type.Object({
  object: Type.Literal("account_note"),
  id: Type.String(),
  author: Type.String(),
  text: Type.String(),
  created_at: Type.String({ format: "date-time" }),
});

export function addSupportRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  addNotes(http, dependencies);
  const close = describeAdminEndpoint("closeAccount");
  http.post(
    "/accounts/:account_id/close",
    {
      config: close.config,
      schema: {
        ...close.schema,
        summary: "Close an account",
        description: `Suspends it, revokes all keys and ends all sessions. Books and balance stay: refund what is owed first. Resuming the account
opens it again, without its keys.`,
        params,
        body: reasonSchema,
        response: { 200: accountSchema, ...close.errors },
      },
    },
    async (request) => {
      const accountId = request.params.account_id as AccountId;
      const action = { accountId, acting: getActing(request), reason: request.body.reason };
      const account = await closeAsOperator(dependencies, action);
      return presentAccount(account, await readAccountFacts(dependencies, account));
    },
  );
  const reset = describeAdminEndpoint("resetTwoStep");
  http.post(
    "/accounts/:account_id/users/:user_id/reset_two_step",
    {
      config: reset.config,
      schema: {
        ...reset.schema,
        summary: "Reset a user's two-step sign-in",
        description:
          "Removes the authenticator app and the backup codes, ends all sessions, and mails the user. Check who asks for it.",
        params: pathParams({ account_id: "account", user_id: "user" }),
        body: reasonSchema,
        response: { 204: Type.Null(), ...reset.errors },
      },
    },
    async (request, reply) => {
      const { account_id: accountId, user_id: userId } = request.params as { account_id: AccountId; user_id: UserId };
      const action = { accountId, acting: getActing(request), reason: request.body.reason };
      await resetTwoStepAsOperator(dependencies, action, userId);
      return reply.code(204).send(null);
    },
  );
}

function addNotes(http: HttpServer, dependencies: AdminDependencies): void {
  const list = describeAdminEndpoint("listAccountNotes");
  http.get(
    "/accounts/:account_id/notes",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List operators' notes about an account",
        params,
        querystring: Type.Object(listFields("^note_[0-9a-z]{1,64}$"), { additionalProperties: false }),
        response: { 200: createPageSchema(noteSchema), ...list.errors },
      },
    },
    async ({ params: { account_id: id }, query: { limit = 20, after = null } }) => {
      const notes = await listNotes(dependencies.database, id as AccountId, { after, limit: limit + 1 });
      return presentPage(notes, limit, presentNote);
    },
  );
  const add = describeAdminEndpoint("addAccountNote");
  http.post(
    "/accounts/:account_id/notes",
    {
      config: add.config,
      schema: {
        ...add.schema,
        summary: "Add a note about an account",
        description: "Customers don't see notes.",
        params,
        body: Type.Object(
          { text: Type.String({ maxLength: 8000, description: "1 to 4000 characters." }) },
          { additionalProperties: false },
        ),
        response: { 201: noteSchema, ...add.errors },
      },
    },
    async (request, reply) => {
      const accountId = request.params.account_id as AccountId;
      const note = await addNote(dependencies, { accountId, acting: getActing(request), text: request.body.text });
      return reply.code(201).send(presentNote(note));
    },
  );
}

function presentNote({ id, author, text, createdAt }: AccountNote) {
  return { object: "account_note" as const, id, author, text, created_at: createdAt.toISOString() };
}
