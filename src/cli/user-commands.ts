import { openAccount } from "../app/change-account.ts";
import { createResetLink, findUserByEmail, inviteUser, listUsers, type User } from "../features/site/index.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command, CommandResult, Terminal } from "./command.ts";
import { keepSecret } from "./keep-secret.ts";
import { presentRows } from "./present-rows.ts";
import { systemParts } from "./system-parts.ts";
import { withDatabase } from "./with-database.ts";

const emailOption = { placeholder: "address", explains: "The person's e-mail address.", isRequired: true } as const;

const listCommand: Command = {
  name: "user list",
  summary: "Lists the people who can sign in.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const users = await listUsers(database);
      const rows = users.map((user) => [
        user.email,
        user.accountId,
        user.isOperator ? "operator" : "-",
        user.emailVerifiedAt === null ? "not proven" : "proven",
        user.passwordHash === null ? "-" : "password",
        user.totpSecret === null ? "-" : "two steps",
      ]);
      return {
        json: users.map(presentUserJson),
        text:
          users.length === 0
            ? "Nobody can sign in yet. Create somebody: npm run -s sluice -- user create --email <address>"
            : presentRows(["EMAIL", "ACCOUNT", "ROLE", "ADDRESS", "PASSWORD", "SECOND STEP"], rows),
      };
    }),
};

const createCommand: Command = {
  name: "user create",
  summary: "Creates an account with a person, and a link by which they choose a password.",
  options: {
    email: emailOption,
    operator: { placeholder: "yes", explains: "Makes the person one of those who run the service." },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const email = options.email ?? "";
      const isOperator = readYes(options.operator);
      const person = { passwordHash: null, isEmailVerified: false, isOperator };
      const account = await openAccount({ ...systemParts, database }, { email, person });
      const user = await getUser(database, email);
      const url = await createLink(database, settings, user);
      const json = { ...presentUserJson(user), url };
      return presentLink({ said: `Created ${account.id} for ${email}.`, url, json, name: user.id }, settings, terminal);
    }),
};

const inviteCommand: Command = {
  name: "user invite",
  summary: "Creates an invitation link to sign up with, once and within 7 days.",
  options: { email: emailOption },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const email = options.email ?? "";
      const parts = { ...systemParts, database, siteUrl: settings.site_url };
      const { url, expiresAt } = await inviteUser(parts, email);
      const json = { email, url, expires_at: expiresAt.toISOString() };
      const said =
        settings.sign_up === "closed"
          ? `Invited ${email}. Set sign_up to invite, or the link leads nowhere.`
          : `Invited ${email}.`;
      return presentLink({ said, url, json, name: `invite-${systemParts.ids.next("code")}` }, settings, terminal);
    }),
};

const resetCommand: Command = {
  name: "user reset-password",
  summary: "Creates a link by which a person chooses a new password, once and within 7 days.",
  options: { email: emailOption },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const user = await getUser(database, options.email ?? "");
      const url = await createLink(database, settings, user);
      const said = `A new password for ${user.email}. The one they have works until they choose it.`;
      const json = { ...presentUserJson(user), url };
      return presentLink({ said, url, json, name: user.id }, settings, terminal);
    }),
};

export const userCommands: readonly Command[] = [listCommand, createCommand, inviteCommand, resetCommand];

async function createLink(database: Database, settings: Settings, user: User): Promise<string> {
  return await createResetLink({ ...systemParts, database, siteUrl: settings.site_url }, user, "handed-over");
}

async function getUser(database: Database, email: string): Promise<User> {
  const user = await findUserByEmail(database, email);
  if (user === null) throw new AppError("not_found", `Nobody signs in as ${email}.`);
  return user;
}

function readYes(text: string | undefined): boolean {
  if (text === undefined || text === "no") return false;
  if (text === "yes") return true;
  throw new AppError("invalid_parameter", "Write yes or no.", { param: "operator" });
}

/** A link is as good as a password, so it is shown to a person only. */
function presentLink(
  { said, url, json, name }: { said: string; url: string; json: unknown; name: string },
  settings: Settings,
  terminal: Terminal,
): CommandResult {
  if (terminal.isJson) return { json, text: "" };
  const place = terminal.isTerminal
    ? `${url}\nSend it now: it is not shown again.`
    : `The link is in ${keepSecret(settings.data_dir, name, url)}, because this is not a terminal.`;
  return { json: null, text: `${said}\n\n${place}` };
}

function presentUserJson(user: User): Record<string, unknown> {
  return {
    id: user.id,
    account: user.accountId,
    email: user.email,
    is_operator: user.isOperator,
    is_email_verified: user.emailVerifiedAt !== null,
    has_password: user.passwordHash !== null,
    has_totp: user.totpSecret !== null,
    created_at: user.createdAt.toISOString(),
  };
}
