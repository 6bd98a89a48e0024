import type { Command } from "./command.ts";

type LoadCommands = () => Promise<readonly Command[]>;

/**
 * All commands by their first word, in the order of the help text. Loaded on demand: loading all features takes longer than
 * most commands run.
 */
const commandsByWord: Readonly<Record<string, LoadCommands>> = {
  serve: async () => [(await import("./serve-command.ts")).serveCommand],
  migrate: async () => [(await import("./migrate-command.ts")).migrateCommand],
  doctor: async () => [(await import("./doctor-command.ts")).doctorCommand],
  backup: async () => (await import("./backup-commands.ts")).backupCommands,
  restore: async () => (await import("./restore-commands.ts")).restoreCommands,
  account: async () => [
    ...(await import("./account-commands.ts")).accountCommands,
    ...(await import("./person-commands.ts")).personCommands,
  ],
  operator: async () => (await import("./operator-commands.ts")).operatorCommands,
  "admin-key": async () => (await import("./admin-key-commands.ts")).adminKeyCommands,
  audit: async () => (await import("./audit-commands.ts")).auditCommands,
  user: async () => (await import("./user-commands.ts")).userCommands,
  key: async () => (await import("./key-commands.ts")).keyCommands,
  plan: async () => (await import("./plan-commands.ts")).planCommands,
  catalog: async () => (await import("./catalog-commands.ts")).catalogCommands,
  secret: async () => (await import("./secret-commands.ts")).secretCommands,
  upstream: async () => (await import("./upstream-commands.ts")).upstreamCommands,
  credit: async () => (await import("./credit-commands.ts")).creditCommands,
  code: async () => (await import("./code-commands.ts")).codeCommands,
  payment: async () => (await import("./payment-commands.ts")).paymentCommands,
  alarm: async () => (await import("./alarm-commands.ts")).alarmCommands,
  incident: async () => (await import("./incident-commands.ts")).incidentCommands,
  abuse: async () => (await import("./abuse-commands.ts")).abuseCommands,
  invoice: async () => (await import("./invoice-commands.ts")).invoiceCommands,
  books: async () => (await import("./books-commands.ts")).booksCommands,
  margin: async () => [(await import("./margin-command.ts")).marginCommand],
  ledger: async () => (await import("./ledger-commands.ts")).ledgerCommands,
  request: async () => (await import("./request-commands.ts")).requestCommands,
  task: async () => (await import("./task-commands.ts")).taskCommands,
  file: async () => (await import("./file-commands.ts")).fileCommands,
  webhook: async () => (await import("./webhook-commands.ts")).webhookCommands,
};

export async function loadAllCommands(): Promise<readonly Command[]> {
  const groups = await Promise.all(Object.values(commandsByWord).map((load) => load()));
  return groups.flat();
}

export const commandWords = Object.keys(commandsByWord);

/** All commands with this first word. */
export async function loadGroup(word: string): Promise<readonly Command[]> {
  const load = Object.hasOwn(commandsByWord, word) ? commandsByWord[word] : undefined;
  return (await load?.()) ?? [];
}

export async function findCommand(words: readonly string[]): Promise<Command | null> {
  const group = await loadGroup(words[0] ?? "");
  return group.find(({ name }) => `${words.join(" ")} `.startsWith(`${name} `)) ?? null;
}
