import { loadSettings } from "../platform/config/load-settings.ts";
import { migrate } from "../platform/database/migrate.ts";
import type { Command } from "./command.ts";
import { openForCommand } from "./with-database.ts";

export const migrateCommand: Command = {
  name: "migrate",
  summary: "Apply pending migrations. The gateway does the same at startup.",
  run: async ({ terminal }) => {
    const { address, close } = await openForCommand(loadSettings(terminal.settingsPlace), terminal);
    try {
      const applied = await migrate(address, { onProgress: terminal.isJson ? () => {} : terminal.printNote });
      return {
        json: { applied },
        text: applied.length === 0 ? "The database is up to date." : `Applied ${applied.join(", ")}.`,
      };
    } finally {
      await close();
    }
  },
};
