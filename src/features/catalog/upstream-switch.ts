import { readReference } from "../../platform/config/secrets.ts";
import type { SetupFault } from "../../providers/provider-setup.ts";
import type { Catalog } from "./catalog.ts";
import type { RouteTarget } from "./route-target.ts";

const switchKinds = ["provider", "route", "key"] as const;
export type SwitchKind = (typeof switchKinds)[number];

/** `disabled`: nothing new goes there. `draining`: only tasks that were accepted before. */
export type SwitchMode = "disabled" | "draining";

/** An operator took a provider, a route or a key out of service. */
export type UpstreamSwitch = {
  kind: SwitchKind;
  /** A provider's id, `provider/upstream model`, or the name of a key. */
  subject: string;
  mode: SwitchMode;
  reason: string;
  createdAt: Date;
  createdBy: string;
  /** When it ends by itself; `null` if only an operator ends it. */
  endsAt: Date | null;
};

type Switchable = Pick<RouteTarget, "providerId" | "upstreamModel" | "apiKeyReference">;

const nameSubject: Record<SwitchKind, (target: Switchable) => string | null> = {
  provider: ({ providerId }) => providerId,
  route: ({ providerId, upstreamModel }) => `${providerId}/${upstreamModel}`,
  key: ({ apiKeyReference }) => (apiKeyReference === null ? null : readReference(apiKeyReference)),
};

export function isInForce({ endsAt }: UpstreamSwitch, now: Date): boolean {
  return endsAt === null || endsAt > now;
}

/** The switch that applies to a target, the stricter of several; `null` if it is in service. */
export function findSwitch(target: Switchable, switches: readonly UpstreamSwitch[]): UpstreamSwitch | null {
  const own = switches.filter(({ kind, subject }) => nameSubject[kind](target) === subject);
  return own.find(({ mode }) => mode === "disabled") ?? own[0] ?? null;
}

/** The kinds of subject that a word names in the catalog. */
export function listSubjectKinds(word: string, targets: readonly Switchable[]): SwitchKind[] {
  return switchKinds.filter((kind) => targets.some((target) => nameSubject[kind](target) === word));
}

/** Every word that `listSubjectKinds` knows. */
export function listSubjects(targets: readonly Switchable[]): string[] {
  const words = switchKinds.flatMap((kind) => targets.map(nameSubject[kind]));
  return [...new Set(words.filter((word) => word !== null))];
}

export function describeSwitch({ mode, subject, reason, createdBy, createdAt, endsAt }: UpstreamSwitch): SetupFault {
  const end = endsAt === null ? "" : ` until ${endsAt.toISOString()}`;
  return {
    ...{ code: mode, subject },
    message: `${createdBy} set ${subject} to ${mode}${end}: ${reason}`,
    remedy: `Put it back into service: npm run -s sluice -- upstream enable ${subject}`,
    ...(mode === "draining" ? { admitsBefore: createdAt } : {}),
  };
}

/** The models that have a route and none of it in service. */
export function listStrandedModels(
  catalog: Catalog,
  listTargets: (model: Catalog["models"][number]) => readonly Switchable[],
  switches: readonly UpstreamSwitch[],
): string[] {
  return catalog.models.flatMap((model) => {
    const targets = listTargets(model);
    const isStranded = targets.length > 0 && targets.every((target) => findSwitch(target, switches) !== null);
    return isStranded ? [model.id] : [];
  });
}
