import type { DemoCaller } from "./demo-caller.ts";
import type { TeamName } from "./demo-teams.ts";

const question = "Which of these herbs grows on a small balcony?";

/** Makes recent calls over every wire format, each with the key of its team. */
export async function callByEveryWire(caller: DemoCaller, keys: ReadonlyMap<TeamName, string>): Promise<void> {
  const post = (team: TeamName, path: string, body: object) => {
    const key = keys.get(team);
    return caller.post(path, body, key === undefined ? {} : { key });
  };
  const messages = [{ role: "user", content: question }];
  await Promise.all([
    post("Web shop", "/chat/completions", { model: "sandbox-chat", messages }),
    post("Web shop", "/chat/completions", { model: "sandbox-chat-pro", messages }),
    post("Support bot", "/responses", { model: "sandbox-chat-pro", input: question }),
    post("Coding agents", "/messages", { model: "sandbox-chat-max", max_tokens: 400, messages }),
    post("Product search", "/embeddings", { model: "sandbox-embedding", input: [question, "Basil, mint and thyme."] }),
  ]);
}
