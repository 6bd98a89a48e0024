import { openAccount } from "../app/change-account.ts";
import { listOperators } from "../features/admin/index.ts";
import { createResetLink, findUserByEmail, inviteUser, listUsers, type User } from "../features/site/index.ts";
import type { OperatorRole } from "../lib/operator-role.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command, CommandResult, Terminal } from "./command.ts";
import { presentRows } from "./present-rows.ts";
import { saveSecret } from "./save-secret.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const emailOption = { placeholder: "address", description: "The user's e-mail address.", isRequired: true } as const;

const listCommand: Command = {
  name: "user list",
  summary: "List the users who can sign in.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const users = await listUsers(database);
      const roles = await readRoles(database);
      const rows = users.map((user) => [
        user.email,
        user.accountId,
        roles.get(user.id) ?? "-",
        user.emailVerifiedAt === null ? "unverified" : "verified",
        user.passwordHash === null ? "-" : "password",
        user.totpSecret === null ? "-" : "TOTP",
      ]);
      return {
        json: users.map((user) => presentUserJson(user, roles)),
        text:
          users.length === 0
            ? "No users. Create one: npm run -s sluice -- user create --email <address>"
            : presentRows(["EMAIL", "ACCOUNT", "ROLE", "ADDRESS", "PASSWORD", "SECOND FACTOR"], rows),
      };
    }),
};

const createCommand: Command = {
  name: "user create",
  summary: "Create an account with a user, and a link to set the password.",
  options: {
    email: emailOption,
    operator: { placeholder: "yes", description: "Make the user an operator, like operator grant." },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const email = options.email ?? "";
      const isOperator = readYes(options.operator);
      const person = { passwordHash: null, isEmailVerified: false, isOperator };
      const account = await openAccount({ ...systemDependencies, database }, { email, person });
      const user = await getUser(database, email);
      const url = await createLink(database, settings, user);
      const json = { ...presentUserJson(user, await readRoles(database)), url };
      return presentLink(
        { message: `Created ${account.id} for ${email}.`, url, json, name: user.id },
        settings,
        terminal,
      );
    }),
};

const inviteCommand: Command = {
  name: "user invite",
  summary: "Create an invitation link for one sign-up within 7 days.",
  options: { email: emailOption },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const email = options.email ?? "";
      const parts = { ...systemDependencies, database, siteUrl: settings.site_url };
      const { url, expiresAt } = await inviteUser(parts, email);
      const json = { email, url, expires_at: expiresAt.toISOString() };
      const message =
        settings.sign_up === "closed"
          ? `Invited ${email}. Set sign_up to invite, or the link does not work.`
          : `Invited ${email}.`;
      return presentLink(
        { message, url, json, name: `invite-${systemDependencies.ids.next("code")}` },
        settings,
        terminal,
      );
    }),
};

const resetCommand: Command = {
  name: "user reset-password",
  summary: "Create a link to set a new password, valid once within 7 days.",
  options: { email: emailOption },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const user = await getUser(database, options.email ?? "");
      const url = await createLink(database, settings, user);
      const message = `Created a reset link for ${user.email}. The current password works until it is replaced.`;
      const json = { ...presentUserJson(user, await readRoles(database)), url };
      return presentLink({ message, url, json, name: user.id }, settings, terminal);
    }),
};

export const userCommands: readonly Command[] = [listCommand, createCommand, inviteCommand, resetCommand];

async function createLink(database: Database, settings: Settings, user: User): Promise<string> {
  return await createResetLink({ ...systemDependencies, database, siteUrl: settings.site_url }, user, "handed-over");
}

async function getUser(database: Database, email: string): Promise<User> {
  const user = await findUserByEmail(database, email);
  if (user === null)
    throw new AppError("not_found", `There is no user ${email}. List them: npm run -s sluice -- user list`);
  return user;
}

function readYes(text: string | undefined): boolean {
  if (text === undefined || text === "no") return false;
  if (text === "yes") return true;
  throw new AppError("invalid_parameter", "--operator must be yes or no.", { param: "operator" });
}

/** The link is a secret: print it only to a terminal. */
function presentLink(
  { message, url, json, name }: { message: string; url: string; json: unknown; name: string },
  settings: Settings,
  terminal: Terminal,
): CommandResult {
  if (terminal.isJson) return { json, text: "" };
  const place = terminal.isTerminal
    ? `${url}\nSend it now: it is not shown again.`
    : `Saved the link to ${saveSecret(settings.data_dir, name, url)} (standard output is not a terminal).`;
  return { json: null, text: `${message}\n\n${place}` };
}

type Roles = ReadonlyMap<string, OperatorRole>;

async function readRoles(database: Database): Promise<Roles> {
  return new Map((await listOperators(database)).map(({ userId, role }) => [userId, role]));
}

function presentUserJson(user: User, roles: Roles): Record<string, unknown> {
  return {
    id: user.id,
    account: user.accountId,
    email: user.email,
    is_operator: roles.get(user.id) === "operator",
    operator_role: roles.get(user.id) ?? null,
    is_email_verified: user.emailVerifiedAt !== null,
    has_password: user.passwordHash !== null,
    has_totp: user.totpSecret !== null,
    created_at: user.createdAt.toISOString(),
  };
}
