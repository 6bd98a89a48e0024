import { listUpstreams, type Upstream } from "../features/catalog/index.ts";
import { countProviderTasks, type ProviderTasks } from "../features/tasks/index.ts";
import { loadSettings } from "../platform/config/load-settings.ts";
import { installPackage } from "../providers/ai-sdk/install-package.ts";
import type { Command } from "./command.ts";
import { presentRows } from "./present-rows.ts";
import { runNpm } from "./run-npm.ts";
import { presentSwitchJson, switchCommands } from "./switch-commands.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { testCommand } from "./upstream-test-command.ts";
import { withDatabase } from "./with-database.ts";

const listCommand: Command = {
  name: "upstream list",
  summary: "List the upstreams of the catalog, their circuit states in the running gateways, and what is switched off.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const counted = new Map((await countProviderTasks(database)).map((tasks) => [tasks.providerId, tasks]));
      const upstreams = (await listUpstreams({ ...systemDependencies, database })).map(
        (upstream): BusyUpstream => ({
          ...upstream,
          tasks: counted.get(upstream.providerId) ?? { providerId: upstream.providerId, atWork: 0, waiting: 0 },
        }),
      );
      return {
        text: upstreams.length === 0 ? "The catalog has no routes." : presentRows(heading, upstreams.map(toRow)),
        json: upstreams.map(toJson),
      };
    }),
};

const installCommand: Command = {
  name: "upstream install",
  summary:
    "Install a compatible version of an AI SDK provider package to packages_dir, for providers of the kind ai-sdk.",
  positionals: ["package"],
  run: async ({ positionals: [spec = ""], terminal }) => {
    const { packages_dir: folder } = loadSettings(terminal.settingsPlace);
    const { packageName, version } = await installPackage({ spec, folder, runNpm });
    return {
      json: { package: packageName, version, folder },
      text: `Installed ${packageName} ${version} into ${folder}.\n\nAdd it to the catalog: kind: ai-sdk, package: "${packageName}". Install it on every node. Restart gateways that have loaded another version.`,
    };
  },
};

const heading = ["PROVIDER", "KIND", "UPSTREAM MODEL", "KEY", "MODELS", "TASKS", "CIRCUIT", "REASON", "UNTIL"];

/** With the tasks of its provider, over all models and keys. */
type BusyUpstream = Upstream & { tasks: ProviderTasks };

function toRow(upstream: BusyUpstream): string[] {
  const { reports, off } = upstream;
  return [
    upstream.providerId,
    upstream.kind,
    upstream.upstreamModel,
    upstream.apiKeyReference ?? "-",
    upstream.modelIds.join(", "),
    presentTasks(upstream),
    ...(off === null
      ? presentCircuit(reports)
      : [off.mode, `${off.reason} (${off.createdBy})`, off.endsAt?.toISOString() ?? ""]),
  ];
}

function presentTasks({ tasks, taskLimits: { tasks_max, tasks_per_minute, task_limits_per } }: BusyUpstream): string {
  const per = task_limits_per === "key" ? " per key" : "";
  const parts = [
    ...(tasks.atWork === 0 && tasks_max === undefined ? [] : [String(tasks.atWork)]),
    ...(tasks_max === undefined ? [] : [`at most ${tasks_max}${per}`]),
    ...(tasks_per_minute === undefined ? [] : [`${tasks_per_minute} a minute${per}`]),
    ...(tasks.waiting === 0 ? [] : [`${tasks.waiting} waiting`]),
  ];
  return parts.length === 0 ? "-" : parts.join(", ");
}

function presentCircuit(reports: Upstream["reports"]): string[] {
  const states = [...new Set(reports.map(({ state }) => state))];
  const [latest] = reports.toSorted((a, b) => b.openUntil.getTime() - a.openUntil.getTime());
  return [
    states.length === 0 ? "closed" : states.join(", "),
    latest?.lastFailure ?? "",
    latest === undefined || latest.state === "degraded" ? "" : latest.openUntil.toISOString(),
  ];
}

function toJson({ reports, off, tasks, taskLimits, ...upstream }: BusyUpstream) {
  return {
    provider: upstream.providerId,
    kind: upstream.kind,
    upstream_model: upstream.upstreamModel,
    key: upstream.apiKeyReference,
    key_number: upstream.keyNumber,
    models: upstream.modelIds,
    tasks: {
      at_work: tasks.atWork,
      waiting: tasks.waiting,
      max: taskLimits.tasks_max ?? null,
      per_minute: taskLimits.tasks_per_minute ?? null,
      limits_per: taskLimits.task_limits_per ?? "provider",
    },
    switch: off === null ? null : presentSwitchJson(off),
    reports: reports.map(({ nodeId, state, failures, lastFailure, openUntil, reportedAt }) => ({
      node: nodeId,
      state,
      failures,
      last_failure: lastFailure,
      open_until: openUntil.toISOString(),
      reported_at: reportedAt.toISOString(),
    })),
  };
}

export const upstreamCommands: readonly Command[] = [listCommand, testCommand, ...switchCommands, installCommand];
