import type { Chance } from "./seeded-chance.ts";

/** A past call, as booked in the ledger. */
export type PastCall = {
  team: TeamName;
  wire: "chat" | "responses" | "messages" | "embeddings";
  model: string;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
};

type Range = readonly [least: number, most: number];

/** A team with its own key: its models and token counts. */
type Team = {
  /** Its share of all calls, in percent. */
  share: number;
  wire: PastCall["wire"];
  /** The `User-Agent` of its calls. */
  userAgent: string;
  models: readonly [string, ...string[]];
  inputTokens: Range;
  outputTokens: Range;
  /** The maximum share of cached input tokens. */
  cachedMax: number;
};

export const demoTeams = {
  "Web shop": {
    ...{ share: 28, wire: "chat", models: ["sandbox-chat", "sandbox-chat", "sandbox-chat-pro"], cachedMax: 0.5 },
    ...{ inputTokens: [250, 2_400], outputTokens: [60, 600], userAgent: "OpenAI/JS 7.53.0" },
  },
  "Support bot": {
    ...{ share: 26, wire: "responses", models: ["sandbox-chat-pro", "sandbox-chat"], cachedMax: 0.7 },
    ...{ inputTokens: [900, 6_500], outputTokens: [80, 500], userAgent: "OpenAI/Python 2.8.1" },
  },
  "Coding agents": {
    ...{ share: 28, wire: "messages", models: ["sandbox-chat-max", "sandbox-chat-pro"], cachedMax: 0.9 },
    ...{ inputTokens: [9_000, 60_000], outputTokens: [200, 2_400], userAgent: "claude-cli/2.0.37 (external, cli)" },
  },
  "Product search": {
    ...{ share: 18, wire: "embeddings", models: ["sandbox-embedding"], cachedMax: 0 },
    ...{ inputTokens: [2_000, 90_000], outputTokens: [0, 0], userAgent: "OpenAI/Python 2.8.1" },
  },
} as const satisfies Record<string, Team>;

export type TeamName = keyof typeof demoTeams;

/** The teams' names. */
const teamNames = Object.keys(demoTeams) as TeamName[];

export function planCall(chance: Chance): PastCall {
  const name = chooseTeam(chance.between(1, 100));
  const team: Team = demoTeams[name];
  const inputTokens = chance.between(...team.inputTokens);
  return {
    team: name,
    wire: team.wire,
    model: chance.pick(team.models),
    inputTokens,
    cachedInputTokens: Math.floor(inputTokens * team.cachedMax * chance.next()),
    outputTokens: chance.between(...team.outputTokens),
  };
}

function chooseTeam(percent: number): TeamName {
  let sum = 0;
  for (const name of teamNames) {
    sum += demoTeams[name].share;
    if (percent <= sum) return name;
  }
  return "Web shop";
}
