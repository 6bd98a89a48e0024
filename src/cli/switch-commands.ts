import { type SwitchMode, switchOff, switchOn, type UpstreamSwitch } from "../features/catalog/index.ts";
import type { Command } from "./command.ts";
import { getActor } from "./get-acting.ts";
import { readEnd } from "./option-values.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const subject = "provider, provider/upstream model, or key";

function createOffCommand(verb: string, mode: SwitchMode, summary: string): Command {
  return {
    name: `upstream ${verb}`,
    summary,
    positionals: [subject],
    options: {
      reason: { placeholder: "text", description: "Why, for other operators.", isRequired: true },
      until: {
        placeholder: "time",
        description: "When it ends by itself: 30m, 2h, 7d, or a time such as 2027-01-01T00:00:00Z. Default: never.",
      },
    },
    run: ({ positionals: [word = ""], options, terminal }) =>
      withDatabase(terminal, async (database) => {
        const endsAt = options.until === undefined ? null : readEnd("until", options.until);
        const request = { subject: word, mode, reason: options.reason ?? "", actor: getActor(), endsAt };
        const { made, strandedModels } = await switchOff({ ...systemDependencies, database }, request);
        const stranded =
          strandedModels.length === 0
            ? "Every model has another route."
            : `Without any route now: ${strandedModels.join(", ")}.`;
        return {
          json: { ...presentSwitchJson(made), models_without_route: strandedModels },
          text: `${presentSwitch(made)}\nGateways follow within a second. ${stranded}`,
        };
      }),
  };
}

const enableCommand: Command = {
  name: "upstream enable",
  summary: "Put a disabled or draining provider, route or key back into service.",
  positionals: [subject],
  run: ({ positionals: [word = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      await switchOn({ ...systemDependencies, database }, { subject: word, actor: getActor() });
      return {
        json: { subject: word, enabled: true },
        text: `${word} is back in service. Gateways follow within a second.`,
      };
    }),
};

export const switchCommands: readonly Command[] = [
  createOffCommand(
    "disable",
    "disabled",
    "Send nothing new to a provider, route or key. What runs there ends normally.",
  ),
  createOffCommand("drain", "draining", "Like disable, but tasks that were accepted before may still start there."),
  enableCommand,
];

export function presentSwitch({ subject: word, mode, reason, createdBy, createdAt, endsAt }: UpstreamSwitch): string {
  const end = endsAt === null ? "" : ` until ${endsAt.toISOString()}`;
  return `${word} is ${mode} since ${createdAt.toISOString()}${end}, by ${createdBy}: ${reason}`;
}

export function presentSwitchJson(one: UpstreamSwitch): Record<string, unknown> {
  return {
    ...{ subject: one.subject, kind: one.kind, mode: one.mode, reason: one.reason, by: one.createdBy },
    since: one.createdAt.toISOString(),
    until: one.endsAt?.toISOString() ?? null,
  };
}
