import type { Acting } from "../features/admin/index.ts";
import type { NewAuditEntry } from "../features/audit/index.ts";
import type { Command } from "./command.ts";
import type { CommandAccess } from "./command-access.ts";

type Input = { positionals: readonly string[]; options: Readonly<Record<string, string | undefined>> };

const factCharactersMax = 254;

/** A run of a command for the audit log, without the values of secrets. */
export function describeRun(
  command: Command,
  { positionals, options }: Input,
  { access, acting }: { access: CommandAccess; acting: Acting },
): NewAuditEntry {
  const names = command.positionals ?? [];
  const given = [...names.map((name, index) => [name, positionals[index]] as const), ...Object.entries(options)];
  const shown = given
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, access.secrets?.includes(name) ? "(secret)" : value]);
  const subject = positionals[0]?.slice(0, factCharactersMax);
  const accountId = [...positionals, options.account].find((word) => /^acct_[0-9a-z]+$/.test(word ?? ""));
  return {
    ...acting,
    action: `command.${command.name.replaceAll(/[^a-z]/g, "_")}`,
    subject: isId(subject) && access.secrets?.includes(names[0] ?? "") !== true ? subject : null,
    accountId: accountId ?? null,
    reason: options.reason?.slice(0, 500) || null,
    before: null,
    after: Object.fromEntries(shown),
  };
}

/** An erasure can blank a mail address in the facts, not in the subject. */
function isId(subject: string | undefined): subject is string {
  return subject !== undefined && subject !== "" && !subject.includes("@");
}
