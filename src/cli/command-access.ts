import type { AdminAccess, AdminScope } from "../features/admin/index.ts";
import type { Command } from "./command.ts";

export type CommandAccess = {
  /** `host`: only where the gateway runs, because it reads or writes files, starts programs or hands out rights. */
  place: "anywhere" | "host";
  scope: AdminScope;
  access: AdminAccess;
  /** Arguments and options whose values are secrets: the audit log leaves them out. */
  secrets?: readonly string[];
};

const read = (scope: AdminScope): CommandAccess => ({ place: "anywhere", scope, access: "read" });
const write = (scope: AdminScope): CommandAccess => ({ place: "anywhere", scope, access: "write" });
const onHost = (scope: AdminScope): CommandAccess => ({ place: "host", scope, access: "write" });

/**
 * Which commands run remotely, and with which scope of an admin key. Commands that write are in the audit log, wherever they run.
 * `null`: of the host, without an entry; rights and keys write their own.
 */
const accessByCommand: Readonly<Record<string, CommandAccess | null>> = {
  serve: null,
  migrate: null,
  doctor: null,
  ...{ backup: null, "backup base": null, "backup list": null, "backup check": null },
  ...{ restore: null, "restore confirm": null },
  "account create": { ...write("accounts"), secrets: ["password"] },
  "account list": read("accounts"),
  "account show": read("accounts"),
  "account update": write("accounts"),
  "account suspend": write("accounts"),
  "account resume": write("accounts"),
  // They write their own entries, and the archive is a file.
  ...{ "account close": null, "account export": null, "account erase": null },
  ...{ "operator grant": null, "operator revoke": null, "operator list": read("operators") },
  ...{ "admin-key create": null, "admin-key revoke": null, "admin-key list": read("operators") },
  ...{ "audit list": read("audit"), "audit export": read("audit"), "audit verify": read("audit") },
  "user list": read("accounts"),
  "user create": onHost("accounts"),
  "user invite": onHost("accounts"),
  "user reset-password": onHost("accounts"),
  "key create": onHost("accounts"),
  "key list": read("accounts"),
  "key show": read("accounts"),
  "key update": write("accounts"),
  "key revoke": write("accounts"),
  ...{ "plan create": write("accounts"), "plan update": write("accounts"), "plan list": read("accounts") },
  "catalog check": null,
  "catalog diff": null,
  "catalog apply": onHost("catalog"),
  "catalog simulate": null,
  "catalog export": read("catalog"),
  "catalog import": null,
  "secret set": onHost("upstreams"),
  "secret rollback": onHost("upstreams"),
  "secret remove": onHost("upstreams"),
  "secret list": null,
  "upstream list": read("upstreams"),
  "upstream install": null,
  "upstream test": null,
  "upstream disable": write("upstreams"),
  "upstream drain": write("upstreams"),
  "upstream enable": write("upstreams"),
  ...{ "credit add": write("money"), "credit grant": write("money"), "credit adjust": write("money") },
  "credit refund": write("money"),
  "code create": onHost("money"),
  "code list": read("money"),
  "code void": write("money"),
  "code redeem": { ...write("money"), secrets: ["code"] },
  ...{ "payment list": read("money"), "payment show": read("money"), "payment waive": write("money") },
  ...{ "alarm list": read("alarms"), "alarm show": read("alarms"), "alarm rules": read("alarms") },
  ...{ "alarm acknowledge": write("alarms"), "alarm silence": write("alarms"), "alarm set": write("alarms") },
  ...{ "incident open": write("status"), "incident update": write("status"), "incident list": read("status") },
  ...{ "abuse block": write("accounts"), "abuse unblock": write("accounts"), "abuse blocks": read("accounts") },
  "abuse import-disposable": onHost("accounts"),
  ...{ "abuse sign-ups": read("accounts"), "abuse lift-cap": write("accounts") },
  ...{ "invoice list": read("money"), "invoice show": read("money"), "invoice pdf": null },
  ...{ "invoice terms apply": onHost("money"), "invoice terms show": read("money") },
  // Their output may be larger than memory.
  ...{ "books export": null, "books revenue": null },
  margin: read("money"),
  ...{ "ledger show": read("money"), "ledger verify": write("money"), "ledger unfreeze": write("money") },
  "request show": read("requests"),
  ...{
    "task list": read("work"),
    "task show": read("work"),
    "task cancel": write("work"),
    "task retry": write("work"),
  },
  "file list": read("work"),
  "file purge": onHost("work"),
  "webhook inbox": write("work"),
  "webhook create": onHost("work"),
  "webhook list": read("work"),
  "webhook deliveries": read("work"),
  "webhook resend": write("work"),
};

export const commandsWithAccess = Object.keys(accessByCommand);

export function findCommandAccess({ name }: Pick<Command, "name">): CommandAccess | null {
  return accessByCommand[name] ?? null;
}
