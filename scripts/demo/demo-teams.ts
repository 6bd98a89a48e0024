import type { Chance } from "./seeded-chance.ts";

/** A call of the past, as the books know it. */
export type PastCall = {
  team: TeamName;
  wire: "chat" | "responses" | "messages" | "embeddings";
  model: string;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
};

type Range = readonly [least: number, most: number];

/** A part of the company that has a key of its own: what it calls, and how much it sends and gets. */
type Team = {
  /** How many of a hundred calls are its. */
  share: number;
  wire: PastCall["wire"];
  /** The client that it calls with. */
  userAgent: string;
  models: readonly [string, ...string[]];
  inputTokens: Range;
  outputTokens: Range;
  /** Which part of the input the model has seen before, at the most. */
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

/** Its names, as they were written. */
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
