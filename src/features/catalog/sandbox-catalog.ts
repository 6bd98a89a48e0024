import type { Database } from "../../platform/database/database.ts";
import { insertModels } from "./model-store.ts";

/** Gives a fresh sandbox its first model. */
export async function seedSandboxCatalog(database: Database, now: Date): Promise<void> {
  await insertModels(database, [
    {
      id: "sandbox-chat",
      name: "Sandbox Chat",
      type: "chat",
      // Nothing can serve it before there are routes.
      status: "unavailable",
      logo: "",
      description: "Answers without any upstream, so that a client can be tried offline and for free.",
      advantages: ["Needs no account elsewhere", "Gives the same answer to the same question"],
      scenarios: ["Trying a client", "Automated tests"],
      capabilities: ["chat", "streaming"],
      createdAt: now,
    },
  ]);
}
