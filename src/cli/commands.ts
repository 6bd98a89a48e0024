import { accountCommands } from "./account-commands.ts";
import { catalogCommands } from "./catalog-commands.ts";
import { codeCommands } from "./code-commands.ts";
import type { Command } from "./command.ts";
import { creditCommands } from "./credit-commands.ts";
import { doctorCommand } from "./doctor-command.ts";
import { fileCommands } from "./file-commands.ts";
import { keyCommands } from "./key-commands.ts";
import { ledgerCommands } from "./ledger-commands.ts";
import { migrateCommand } from "./migrate-command.ts";
import { planCommands } from "./plan-commands.ts";
import { serveCommand } from "./serve-command.ts";
import { taskCommands } from "./task-commands.ts";
import { upstreamCommands } from "./upstream-commands.ts";
import { userCommands } from "./user-commands.ts";
import { webhookCommands } from "./webhook-commands.ts";

export const commands: readonly Command[] = [
  serveCommand,
  migrateCommand,
  doctorCommand,
  ...accountCommands,
  ...userCommands,
  ...keyCommands,
  ...planCommands,
  ...catalogCommands,
  ...upstreamCommands,
  ...creditCommands,
  ...codeCommands,
  ...ledgerCommands,
  ...taskCommands,
  ...fileCommands,
  ...webhookCommands,
];
