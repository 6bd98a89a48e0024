import { parseArgs } from "node:util";
import {
  type ChatFigures,
  compareCpu,
  type GoalRow,
  hasFigures,
  judgeGoals,
  type Outcomes,
  sumUp,
} from "./chat-figures.ts";
import { type ChatLoadName, type ChatRounds, chatLoads, runRounds, warmTargetsUp } from "./chat-rounds.ts";
import { type ChatTargets, startChatTargets, type TargetName, targetNames } from "./chat-targets.ts";
import { judgeWires, measureWires, presentWires, type WireFigure } from "./measure-wires.ts";
import { portkeyVersion } from "./portkey-gateway.ts";
import { presentTable, writeResults } from "./write-results.ts";

const names: Record<TargetName, string> = {
  direct: "upstream itself",
  bare: "bare pass-through",
  recording: "pass-through that records",
  sluice: "Sluice",
  other: "Sluice of the other checkout",
  portkey: `Portkey ${portkeyVersion}`,
};

/**
 * Sluice with everything on, beside a bare pass-through, one that writes a row for each call, and Portkey, all in front
 * of the same upstream. With `--beside <folder>` also beside the Sluice of another checkout, which must be installed
 * there, to measure a change. With `--only-wires` only the wire formats.
 */
export async function measureChat(words: string[]): Promise<void> {
  const { values } = parseArgs({
    args: words,
    options: { beside: { type: "string" }, "only-wires": { type: "boolean", default: false } },
  });
  const started = await startChatTargets({ besideDir: values.beside });
  if (values["only-wires"]) return await showWires(started);
  const outcomes: Partial<Record<ChatLoadName, ChatRounds>> = {};
  let wireFigures: WireFigure[] = [];
  try {
    await warmTargetsUp(started.targets);
    wireFigures = await measureWires(started.targets);
    for (const name of Object.keys(chatLoads) as ChatLoadName[]) {
      console.error(`measuring: ${chatLoads[name].name}`);
      outcomes[name] = await runRounds(started.targets, chatLoads[name]);
    }
  } finally {
    await started.close();
  }
  const measured = outcomes as Outcomes;
  const goals = [...judgeGoals(measured), ...judgeWires(wireFigures)];
  const notes = [...(started.portkeyTrouble === null ? [] : [started.portkeyTrouble]), ...listFailures(measured)];
  writeResults(
    "chat",
    [presentGoals(goals), presentFigures(measured), presentWires(wireFigures), ...notes].join("\n\n"),
  );
  if (goals.some(({ isMet }) => !isMet)) process.exitCode = 1;
}

/** Prints the wire formats only; the results file keeps the full run. */
async function showWires({ targets, close }: ChatTargets): Promise<void> {
  try {
    const figures = await measureWires(targets);
    console.log([presentGoals(judgeWires(figures)), presentWires(figures)].join("\n\n"));
  } finally {
    await close();
  }
}

function presentGoals(goals: readonly GoalRow[]): string {
  const rows = goals.map(({ name, figure, goal, isMet }) => [name, figure, goal, isMet ? "met" : "MISSED"]);
  return presentTable(["what", "Sluice", "goal", "verdict"], rows);
}

const titles = [
  ...["load", "req/s", "p50 ms", "p99 ms", "first data p50 ms", "CPU µs/req", "PostgreSQL µs/req"],
  ...["beside bare", "beside recording", "beside other", "RSS MB"],
];

function presentFigures(outcomes: Outcomes): string {
  const rows = (Object.keys(chatLoads) as ChatLoadName[]).flatMap((load) =>
    targetNames.flatMap((target) => {
      const figures = sumUp(outcomes, load, target);
      if (figures === null) return [];
      const name = `${chatLoads[load].name}: ${names[target]}`;
      return [
        typeof figures === "string" ? [name, "failed"] : presentRow(name, figures, listRatios(outcomes, load, target)),
      ];
    }),
  );
  return presentTable(titles, rows);
}

function listRatios(outcomes: Outcomes, load: ChatLoadName, target: TargetName): string[] {
  const others = ["bare", "recording", "other"] as const;
  return others.map((other) =>
    target === "sluice" && hasFigures(outcomes, load, other) ? `${compareCpu(outcomes, load, other).toFixed(2)} ×` : "",
  );
}

function presentRow(name: string, figures: ChatFigures, ratios: readonly string[]): string[] {
  return [
    name,
    Math.round(figures.requestsPerSecond).toLocaleString("en"),
    figures.p50Ms.toFixed(2),
    figures.p99Ms.toFixed(2),
    figures.firstDataP50Ms.toFixed(2),
    figures.cpuUs.toFixed(0),
    figures.databaseCpuUs === null ? "" : figures.databaseCpuUs.toFixed(0),
    ...ratios,
    `${presentMegabytes(figures.residentBytesBefore)} → ${presentMegabytes(figures.residentBytesAfter)}`,
  ];
}

function presentMegabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0);
}

/** The loads under which Portkey failed, and how. */
function listFailures(outcomes: Outcomes): string[] {
  const failures = (Object.keys(chatLoads) as ChatLoadName[]).flatMap((load) => {
    const failure = sumUp(outcomes, load, "portkey");
    return typeof failure === "string" ? [`- ${chatLoads[load].name}: ${failure}`] : [];
  });
  return failures.length === 0
    ? []
    : [`${names.portkey} fails on this Node under some loads:\n\n${failures.join("\n")}`];
}
